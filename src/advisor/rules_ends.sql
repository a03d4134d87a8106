/* src/advisor/rules_ends.sql */

--
-- Advisor: what runs out
--

-- The findings of these rules.
CREATE FUNCTION spanner_internal.rules_ends(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL UNSAFE
BEGIN ATOMIC
  -- The largest tables first, as looking at a sequence takes a lock on it.  What ends
  -- first decides: the type of the column, or the MAXVALUE of the sequence; statistics, where
  -- applications give the keys.  Of a sequence that no default uses, the catalogs do not know what
  -- its values are for.
 (WITH drawn AS (
    SELECT c.relid, c.attnum, c.name::text AS object, c.seqid, c.ident, c.quoted, c.type, c.label,
           c.owned, c.identity, q.seqmax::numeric AS ends, u.widest
      FROM unnest((facts).columns) c
      JOIN unnest((facts).tables) t ON t.relid = c.relid
      JOIN pg_class k ON k.oid = c.seqid
      JOIN pg_sequence q ON q.seqrelid = c.seqid AND q.seqincrement > 0 AND NOT q.seqcycle
     CROSS JOIN LATERAL (
       SELECT spanner_internal.largest_integer(
                spanner_internal.integer_bits(c.type))::numeric AS widest) u
     WHERE c.source = ANY ('{sequence,mapped}')
       AND (c.type = ANY ('{int2,int4}'::regtype[])
            OR c.type = 'int8'::regtype AND q.seqmax < 9223372036854775807
            OR c.label IS NOT NULL)
       AND (k.relpersistence = 'p' OR NOT pg_is_in_recovery())
     ORDER BY t.rows DESC, c.relid, c.attnum LIMIT 1000),
  asked AS (
    SELECT d.* FROM drawn d
    UNION ALL
    SELECT q.seqid, 0::int2, q.ident, q.seqid, NULL, NULL, 0::oid, q.label, false,
           false, q.ends, q.ends
      FROM unnest((facts).free_sequences) q),
  ending AS (
    SELECT a.*,
           floor(100 * CASE
             WHEN a.label IS NULL
             THEN spanner_internal.last_counter(a.seqid)::float8 / least(a.ends, a.widest)
             WHEN spanner_internal.is_free(a.seqid)
             THEN (spanner_internal.describe_sequence(a.seqid)).used / 100 END) AS percent
      FROM asked a OFFSET 0)
  SELECT 'sequence_near_end', e.relid, 0::oid, e.attnum, e.object,
         CASE WHEN e.attnum = 0
              THEN format('sequence %s has given %s %% of its values, and no column uses it; ',
                          e.object, e.percent)
                || CASE WHEN e.label IS NOT NULL
                        THEN 'give it more bits with spanner.alter_sequence(), and widen '
                        ELSE 'widen ' END || 'the columns that its values are for as well'
              ELSE format('column %s has used %s %% of the values of %s', e.quoted, e.percent,
                          CASE WHEN e.ends < e.widest OR e.label IS NOT NULL
                               THEN e.seqid::regclass::text ELSE e.type::regtype::text END)
                || CASE WHEN e.label IS NOT NULL
                        THEN '; give it more bits with spanner.alter_sequence(), in a wider column'
                        WHEN e.ends < e.widest THEN ', which has a MAXVALUE'
                        ELSE '; columns that refer to it have to be widened too' END
                || CASE WHEN f.fix IS NULL AND e.label IS NULL
                        THEN '; decide on a new bigint column' ELSE '' END END,
         f.fix
    FROM ending e
   CROSS JOIN LATERAL (SELECT CASE
             WHEN e.label IS NOT NULL THEN NULL
             WHEN e.attnum = 0 THEN format('ALTER SEQUENCE %s AS bigint NO MAXVALUE', e.object)
             WHEN NOT e.owned THEN NULL
             WHEN e.ends < e.widest AND e.identity THEN
               format('ALTER TABLE %s ALTER COLUMN %s SET NO MAXVALUE', e.ident, e.quoted)
             WHEN e.ends < e.widest
               THEN format('ALTER SEQUENCE %s NO MAXVALUE', e.seqid::regclass)
             WHEN NOT spanner_internal.is_type_used(e.relid, e.attnum) THEN
               format('ALTER TABLE %s ALTER COLUMN %s TYPE bigint', e.ident, e.quoted)
               || CASE WHEN e.identity
                       THEN '' ELSE format('; ALTER SEQUENCE %s AS bigint', e.seqid::regclass) END
             END AS fix) f
   WHERE e.percent >= 75
   UNION ALL
  SELECT 'sequence_near_end', c.relid, t.pkey, c.attnum, c.name::text,
         format('column %s comes first in the primary key and holds values up to %s, %s %% of the '
                'values of %s; columns that refer to it have to be widened too',
                c.quoted, m.largest::numeric, floor(m.largest / u.widest * 100), c.type::regtype)
         || CASE WHEN f.fix IS NULL THEN '; decide on a new bigint column' ELSE '' END,
         f.fix
    FROM unnest((facts).columns) c
    JOIN unnest((facts).tables) t ON t.relid = c.relid AND t.pkey_attnum = c.attnum
    JOIN unnest((facts).measures) m ON m.relid = c.relid AND m.attnum = c.attnum
   CROSS JOIN LATERAL (
     SELECT spanner_internal.largest_integer(spanner_internal.integer_bits(c.type)) AS widest) u
   CROSS JOIN LATERAL (SELECT CASE WHEN NOT spanner_internal.is_type_used(c.relid, c.attnum) THEN
           format('ALTER TABLE %s ALTER COLUMN %s TYPE bigint', c.ident, c.quoted) END AS fix) f
   WHERE c.source IS NULL AND NOT c.is_reference AND c.type = ANY ('{int2,int4}'::regtype[])
     AND m.largest >= 0.75 * u.widest);
END;
