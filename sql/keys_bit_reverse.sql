--
-- Reversal of the bits of a bigint
--
\pset null NULL

-- answers published by Spanner, then the edges
SELECT value, preserve_sign, spanner.bit_reverse(value, preserve_sign)
FROM (VALUES (1, 100::bigint, true),
			 (2, 100, false),
			 (3, -100, true),
			 (4, -100, false),
			 (5, 1, true),
			 (6, 10, false),
			 (7, 2, false),
			 (8, 4611686018427387904, true),
			 (9, 0, true),
			 (10, 0, false),
			 (11, 1, false),
			 (12, -1, true),
			 (13, -1, false),
			 (14, 9223372036854775807, true),
			 (15, 9223372036854775807, false),
			 (16, -9223372036854775808, true),
			 (17, -9223372036854775808, false)) AS v (n, value, preserve_sign)
ORDER BY n;

-- the counters of a fresh sequence
SELECT c, spanner.bit_reverse(c, true) FROM generate_series(1, 6) AS c ORDER BY c;

-- NULL in either argument
SELECT spanner.bit_reverse(NULL, true), spanner.bit_reverse(1, NULL),
	spanner.bit_reverse(NULL, NULL);

-- named arguments, and smaller integers
SELECT spanner.bit_reverse(preserve_sign => false, value => 2::smallint);

-- reversing twice gives the value back, for each bit and for mixed ones
SELECT count(*) AS wrong
FROM generate_series(0, 63) AS bit,
	 unnest('{true, false}'::boolean[]) AS preserve_sign,
	 LATERAL (VALUES (1::bigint << bit),
					 (~(1::bigint << bit)),
					 ((1::bigint << bit) # 81985529216486895)) AS v (value)
WHERE spanner.bit_reverse(spanner.bit_reverse(value, preserve_sign), preserve_sign)
	<> value;

-- one bit moves to the mirrored place
SELECT count(*) AS wrong
FROM generate_series(0, 62) AS bit
WHERE spanner.bit_reverse(1::bigint << bit, true) <> 1::bigint << (62 - bit)
   OR spanner.bit_reverse(1::bigint << bit, false) <> 1::bigint << (63 - bit);

-- the sign stays, or changes with the lowest bit
SELECT count(*) AS wrong
FROM generate_series(-1000, 1000) AS value
WHERE sign(spanner.bit_reverse(value, true)) <> sign(value)
   OR (spanner.bit_reverse(value, false) < 0) <> (value % 2 <> 0);

-- a generated column, a CHECK and an index
CREATE TABLE reversed (
	counter bigint CHECK (spanner.bit_reverse(spanner.bit_reverse(counter, true), true) = counter),
	id bigint GENERATED ALWAYS AS (spanner.bit_reverse(counter, true)) STORED PRIMARY KEY
);
CREATE INDEX ON reversed (spanner.bit_reverse(id, true));
INSERT INTO reversed (counter) SELECT generate_series(1, 5);
SELECT * FROM reversed ORDER BY id;
DROP TABLE reversed;

SELECT provolatile, proisstrict, proparallel
FROM pg_proc WHERE oid = 'spanner.bit_reverse(bigint, boolean)'::regprocedure;
