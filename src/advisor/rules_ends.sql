/* src/advisor/rules_ends.sql */

--
-- Advisor: what runs out
--

-- The largest tables first, as looking at a sequence takes a lock on it.  What ends
-- first decides: the type of the column, or the MAXVALUE of the sequence.
CREATE FUNCTION spanner_internal.rule_sequence_near_end(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL UNSAFE
BEGIN ATOMIC
  SELECT s.relid, 0::oid, s.attnum, s.name::text,
         format('column %s has used %s %% of the values of %s', s.quoted, floor(s.used * 100),
                CASE WHEN s.ends_early OR s.label IS NOT NULL THEN s.seqid::regclass::text
                     ELSE s.type::regtype::text END)
         || CASE WHEN s.label IS NOT NULL
                 THEN '; give it more bits with spanner.alter_sequence(), in a wider column'
                 WHEN s.ends_early THEN ', which has a MAXVALUE'
                 ELSE '; columns that refer to it have to be widened too' END
         || CASE WHEN f.fix IS NULL AND s.label IS NULL THEN '; decide on a new bigint column'
                 ELSE '' END,
         f.fix
    FROM (SELECT b.*,
                 CASE WHEN b.label IS NULL
                      THEN spanner_internal.last_counter(b.seqid)::float8 / least(b.ends, b.widest)
                      WHEN spanner_internal.is_free(b.seqid)
                      THEN (spanner_internal.describe_sequence(b.seqid)).used / 100 END AS used,
                 b.ends < b.widest AS ends_early,
                 spanner_internal.is_type_used(b.relid, b.attnum) AS used_elsewhere
            FROM (SELECT c.*, q.seqmax::numeric AS ends,
                         spanner_internal.largest_integer(
                           spanner_internal.integer_bits(c.type))::numeric AS widest
                    FROM unnest((facts).columns) c
                    JOIN unnest((facts).tables) t ON t.relid = c.relid
                    JOIN pg_class k ON k.oid = c.seqid
                    JOIN pg_sequence q ON q.seqrelid = c.seqid AND q.seqincrement > 0
                     AND NOT q.seqcycle
                   WHERE c.source = ANY ('{sequence,mapped}')
                     AND (c.type = ANY ('{int2,int4}'::regtype[])
                          OR c.type = 'int8'::regtype AND q.seqmax < 9223372036854775807
                          OR c.label IS NOT NULL)
                     AND (k.relpersistence = 'p' OR NOT pg_is_in_recovery())
                   ORDER BY t.rows DESC, c.relid, c.attnum LIMIT 1000) b OFFSET 0) s
   CROSS JOIN LATERAL (SELECT CASE
             WHEN s.label IS NOT NULL OR NOT s.owned THEN NULL
             WHEN s.ends_early AND s.identity THEN
               format('ALTER TABLE %s ALTER COLUMN %s SET NO MAXVALUE', s.ident, s.quoted)
             WHEN s.ends_early THEN format('ALTER SEQUENCE %s NO MAXVALUE', s.seqid::regclass)
             WHEN NOT s.used_elsewhere THEN
               format('ALTER TABLE %s ALTER COLUMN %s TYPE bigint', s.ident, s.quoted)
               || CASE WHEN s.identity
                       THEN '' ELSE format('; ALTER SEQUENCE %s AS bigint', s.seqid::regclass) END
             END AS fix) f
   WHERE s.used >= 0.75;
END;

-- Keys that the application gives, by statistics.
CREATE FUNCTION spanner_internal.rule_key_near_end(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT c.relid, t.pkey, c.attnum, c.name::text,
         format('column %s comes first in the primary key and holds values up to %s, %s %% of the '
                'values of %s; columns that refer to it have to be widened too',
                c.quoted, m.largest::numeric, floor(m.largest / u.widest * 100), c.type::regtype)
         || CASE WHEN f.fix IS NULL THEN '; decide on a new bigint column' ELSE '' END,
         f.fix
    FROM unnest((facts).tables) t
    JOIN unnest((facts).columns) c ON c.relid = t.relid AND c.attnum = t.pkey_attnum
     AND c.source IS NULL
     AND NOT c.is_reference AND c.type = ANY ('{int2,int4}'::regtype[])
    JOIN unnest((facts).measures) m ON m.relid = c.relid AND m.attnum = c.attnum
   CROSS JOIN LATERAL (
     SELECT spanner_internal.largest_integer(spanner_internal.integer_bits(c.type)) AS widest) u
   CROSS JOIN LATERAL (SELECT CASE WHEN NOT spanner_internal.is_type_used(c.relid, c.attnum) THEN
           format('ALTER TABLE %s ALTER COLUMN %s TYPE bigint', c.ident, c.quoted) END AS fix) f
   WHERE m.largest >= 0.75 * u.widest;
END;

-- A sequence of which the catalogs do not know what its values are for.
CREATE FUNCTION spanner_internal.rule_free_sequence_near_end(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL UNSAFE
BEGIN ATOMIC
  SELECT q.seqid, 0::oid, 0::int2, q.ident,
         format('sequence %s has given %s %% of its values, and no column uses it; widen '
                'the columns that its values are for as well', q.ident, floor(q.used * 100)),
         format('ALTER SEQUENCE %s AS bigint NO MAXVALUE', q.ident)
    FROM (SELECT s.*,
                 spanner_internal.last_counter(s.seqid)::float8 / s.ends AS used
            FROM unnest((facts).free_sequences) s WHERE NOT s.has_kind OFFSET 0) q
   WHERE q.used >= 0.75;
END;

INSERT INTO spanner_internal.advisor_rule VALUES
  ('key_near_end', 12, 'warning', '{one_server,splits,spanner,citus,cassandra}', NULL,
   'The application gives keys of an integer or smallint column, and has come to three quarters of '
   'the values that fit.'),
  ('sequence_near_end', 10, 'warning', '{one_server,splits,spanner,citus,cassandra}', NULL,
   'A sequence has given three quarters of the values that fit into its column, or that its '
   'MAXVALUE allows.'),
  ('free_sequence_near_end', 11, 'warning', '{one_server,splits,spanner,citus,cassandra}', NULL,
   'A sequence that no default uses has given three quarters of its values.');
