--
-- FARM_FINGERPRINT, and random UUIDs
--
\pset null NULL

-- published answers
SELECT value, spanner.farm_fingerprint(value)
FROM (VALUES (1, ''),
			 (2, 'abc'),
			 (3, 'test'),
			 (4, 'a b c d'),
			 (5, '1footrue'),
			 (6, '2applefalse'),
			 (7, '3true')) AS v (n, value)
ORDER BY n;

SELECT value, count, spanner.farm_fingerprint(repeat(value, count))
FROM (VALUES (1, 'test', 8),
			 (2, 'test', 64),
			 (3, 'a', 126),
			 (4, 'a', 127),
			 (5, 'a', 128),
			 (6, 'a', 129),
			 (7, 'a', 130)) AS v (n, value, count)
ORDER BY n;

-- published answers for bytes
SELECT spanner.farm_fingerprint(''::bytea),
	spanner.farm_fingerprint('\x00'::bytea),
	spanner.farm_fingerprint('abc'::bytea),
	spanner.farm_fingerprint('a b\000c d'::bytea);

-- abcABC and six Cyrillic letters, in UTF-8
SELECT spanner.farm_fingerprint('\x616263414243d0b6d189d184d096d0a9d0a4'::bytea);
SELECT spanner.farm_fingerprint(U&'abcABC\0436\0449\0444\0416\0429\0424');

-- one fingerprint of those of every length up to 300, which covers each class
SELECT spanner.farm_fingerprint(string_agg(spanner.farm_fingerprint(repeat('x', n) || n)::text, ',' ORDER BY n))
FROM generate_series(0, 300) AS n;

-- every byte of the input counts, at each length
SELECT count(*) AS pairs, count(DISTINCT fingerprint) AS fingerprints
FROM generate_series(1, 130) AS length,
	 generate_series(0, length - 1) AS place,
	 spanner.farm_fingerprint(set_byte(decode(repeat('00', length), 'hex'), place, 1)) AS fingerprint;

-- text, varchar and bytes agree; a long value is the same in and out of line
CREATE TABLE document (id integer, body text);
ALTER TABLE document ALTER body SET STORAGE EXTERNAL;
INSERT INTO document VALUES (1, repeat('0123456789', 1000)), (2, repeat('x', 100));
SELECT id, spanner.farm_fingerprint(body) = spanner.farm_fingerprint(body || '') AS inline,
	spanner.farm_fingerprint(body) = spanner.farm_fingerprint(body::varchar) AS varchar,
	spanner.farm_fingerprint(body) = spanner.farm_fingerprint(body::bytea) AS bytes
FROM document ORDER BY id;
ALTER TABLE document ALTER body SET STORAGE EXTENDED;
UPDATE document SET body = body || '';
SELECT id, spanner.farm_fingerprint(body) FROM document ORDER BY id;
DROP TABLE document;

-- NULL
SELECT spanner.farm_fingerprint(NULL::text), spanner.farm_fingerprint(NULL::bytea);

-- the schema guide's hashed key, and shards that are never negative
CREATE TABLE student (
	id bigint,
	id_hash bigint GENERATED ALWAYS AS (spanner.farm_fingerprint(id::text)) STORED,
	shard bigint GENERATED ALWAYS AS (abs(mod(spanner.farm_fingerprint(id::text), 16))) STORED,
	PRIMARY KEY (id_hash, id)
);
INSERT INTO student SELECT generate_series(1, 1000);
SELECT id, id_hash, shard FROM student WHERE id < 4 ORDER BY id;
SELECT min(shard), max(shard), count(DISTINCT shard) FROM student;
DROP TABLE student;

SELECT oid::regprocedure, provolatile, proisstrict, proparallel, proleakproof
FROM pg_proc
WHERE oid IN ('spanner.farm_fingerprint(text)'::regprocedure,
			  'spanner.farm_fingerprint(bytea)'::regprocedure,
			  'spanner.generate_uuid()'::regprocedure)
ORDER BY proname, oid::regprocedure::text;

-- UUIDs: version 4, RFC variant, lower case, all different
SELECT count(DISTINCT uuid) AS different,
	count(*) FILTER (WHERE uuid ~ '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$') AS valid,
	count(*) FILTER (WHERE uuid::uuid::text = uuid) AS canonical
FROM (SELECT spanner.generate_uuid() AS uuid FROM generate_series(1, 1000)) AS u;

-- each of the random bits takes both values
SELECT count(*) FILTER (WHERE ones BETWEEN 1 AND 999) AS random_bits
FROM (SELECT sum(get_bit(uuid, bit)) AS ones
	  FROM (SELECT decode(replace(spanner.generate_uuid(), '-', ''), 'hex') AS uuid
			FROM generate_series(1, 1000)) AS u,
		   generate_series(0, 127) AS bit
	  GROUP BY bit) AS b;
