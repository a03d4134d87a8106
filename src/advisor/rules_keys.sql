/* src/advisor/rules_keys.sql */

-- Advisor: sequences, keys, parents and references

-- The argument that keeps the values of a sequence, which are "maximum" or less without it, within
-- so many bits.
CREATE FUNCTION spanner_internal.bits_argument(bits integer, maximum bigint)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN maximum >> bits > 0 THEN format(', bits => %s', bits) ELSE '' END;

-- What keeps ids of so many bits, from "first" on, from spreading over partitions by ranges of
-- them; NULL if nothing does.
CREATE FUNCTION spanner_internal.partition_obstacle(
  relation oid, column_number smallint, bits integer, first bigint)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT CASE
           WHEN f.gap_first IS NOT NULL THEN
             format('no partition takes ids from %s to %s: create partitions up to MAXVALUE, with '
                    'bounds such as %s, %s and %s', f.gap_first, f.gap_last, q, 2 * q, 3 * q)
           WHEN f.partition IS NOT NULL THEN
             format('partition %1$s takes nearly all of them: cut it at %2$s, %3$s and %4$s, or '
                    'once at %3$s', f.partition, q, 2 * q, 3 * q) END
    FROM pg_class c
   CROSS JOIN LATERAL spanner_internal.partition_faults(
           c.oid, column_number, greatest(first, 1),
           spanner_internal.largest_integer(bits) - 1) f
   CROSS JOIN LATERAL (SELECT 1::bigint << bits - 2) p (q)
   WHERE c.oid = relation AND c.relkind = 'p' AND spanner_internal.is_free(c.oid)
     AND NOT EXISTS (SELECT FROM pg_inherits h
                       JOIN pg_class k ON k.oid = h.inhrelid AND k.relkind = 'p'
                      WHERE h.inhparent = c.oid AND NOT spanner_internal.is_free(k.oid));
END;

-- Columns that come from sequences, and the statements that have them bit-reversed.  There is none
-- if the sequence cannot be, or is converted with the column that owns it, or if partitions have to
-- be made first.  What refers to the column is widened first; what cannot be widened limits the
-- bits.  A column of a domain stays as it is, and its sequence changes.
CREATE FUNCTION spanner_internal.advisor_conversions(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_conversion
LANGUAGE sql STABLE PARALLEL UNSAFE ROWS 1000
BEGIN ATOMIC
  SELECT q.relid, q.attnum, q.seqid,
         CASE WHEN q.possible THEN '; before it is converted: ' || p.obstacle
              WHEN q.owner IS NULL
              THEN '; the sequence counts down, cycles or is no integer, so decide on another one'
              ELSE format('; the sequence belongs to %s, and is converted there',
                          q.owner::regclass) END,
         CASE WHEN NOT q.possible OR p.obstacle IS NOT NULL THEN NULL
              WHEN q.is_own THEN concat(q.widen, format(
                'SELECT spanner.convert_column(%L, %L%s)', q.ident, q.name,
                spanner_internal.bits_argument(
                  q.bits, least(q.seqmax, spanner_internal.largest_integer(q.own_bits)))))
              ELSE concat(q.widen, format(
                'SELECT spanner.alter_sequence(%L, kind => ''bit_reversed_positive''%s)',
                q.seqid::regclass, spanner_internal.bits_argument(q.bits, q.seqmax))) END
    FROM (
      SELECT s.relid, s.attnum, s.name, s.ident, s.seqid, o.seqmax,
             s.owned AND a.atttypid = s.type AS is_own,
             w.refobjid AS owner, n.widen, b.own_bits, t.relid IS NOT NULL AS is_partitioned,
             least(b.own_bits, n.bits, d.bits) AS bits,
             o.seqincrement >= 1 AND NOT o.seqcycle AND o.seqmin >= 1
             AND s.type = ANY ('{int2,int4,int8}'::regtype[])
             AND (s.owned OR w.refobjid IS NULL) AS possible
        FROM unnest((facts).columns) s
       CROSS JOIN LATERAL (SELECT spanner_internal.integer_bits(s.type) AS own_bits) b
        JOIN pg_sequence o ON o.seqrelid = s.seqid
        JOIN pg_attribute a ON a.attrelid = s.relid AND a.attnum = s.attnum
        LEFT JOIN unnest((facts).tables) t ON t.relid = s.relid AND t.relkind = 'p'
        LEFT JOIN pg_depend w ON NOT s.owned AND w.classid = 'pg_class'::regclass
         AND w.objid = s.seqid
         AND w.refclassid = 'pg_class'::regclass AND w.deptype = ANY ('{a,i}')
        -- the bits that all columns can hold whose defaults draw from the sequence
        LEFT JOIN (
          SELECT x.refobjid AS seqid,
                 min(spanner_internal.integer_bits(
                       CASE WHEN c.atttypid = ANY ('{int2,int4,int8}'::regtype[]) THEN c.atttypid
                            ELSE spanner_internal.base_type(c.atttypid) END)) AS bits
            FROM pg_depend x
            JOIN pg_attrdef e ON e.oid = x.objid
            JOIN pg_attribute c ON c.attrelid = e.adrelid AND c.attnum = e.adnum
           WHERE x.classid = 'pg_attrdef'::regclass AND x.refclassid = 'pg_class'::regclass
           GROUP BY 1) d ON d.seqid = s.seqid
        LEFT JOIN (
          SELECT r.referenced, r.referenced_attnum,
                 string_agg(r.widen || '; ', '' ORDER BY r.widen COLLATE "C") AS widen,
                 min(spanner_internal.integer_bits(r.type)) FILTER (WHERE r.widen IS NULL) AS bits
            FROM unnest((facts).narrow) r
           GROUP BY 1, 2) n ON n.referenced = s.relid AND n.referenced_attnum = s.attnum
       WHERE s.why = 'sequence' OFFSET 0) q
   CROSS JOIN LATERAL (
     SELECT CASE WHEN q.possible AND q.is_partitioned THEN
              spanner_internal.partition_obstacle(
                q.relid, q.attnum, q.bits, spanner_internal.last_counter(q.seqid)) END AS obstacle
     OFFSET 0) p;
END;

-- The unique index that could become the key of a table without one.  It is none that another one
-- makes superfluous.
CREATE FUNCTION spanner_internal.list_possible_keys(facts spanner_internal.advisor_facts)
RETURNS TABLE (relid oid, indexid oid, name name, constraint_id oid, key smallint[])
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
  SELECT DISTINCT ON (i.relid) i.relid, i.indexid, i.name, i.constraint_id, i.indkey[1:i.keys]
    FROM unnest((facts).indexes) i
    JOIN unnest((facts).tables) t ON t.relid = i.relid AND t.pkey IS NULL
   WHERE i.could_be_key IS NOT NULL AND i.is_immediate AND i.is_btree AND i.other IS NULL
   ORDER BY i.relid, i.constraint_id IS NOT NULL, i.keys, i.indexid;
END;

-- The foreign key to the parent that rows are deleted with, or whose columns their own key
-- contains, if it is the only one and no row is without it.  A parent of few rows, or whose name
-- says that it holds types, is none: the rows would lie in as many places.
CREATE FUNCTION spanner_internal.list_parents(facts spanner_internal.advisor_facts)
RETURNS TABLE (relid oid, conname name, parent oid, conkey smallint[], widened boolean,
  key smallint[])
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
  SELECT q.relid, q.conname, q.confrelid, q.conkey, NOT q.conkey <@ q.indkey,
         q.conkey || ARRAY(SELECT v.attnum
                             FROM unnest(q.indkey) WITH ORDINALITY v (attnum, n)
                            WHERE v.attnum <> ALL (q.conkey) ORDER BY v.n)
    FROM (
      SELECT t.relid, k.conname, k.confrelid, k.conkey, o.indkey, x.indisprimary,
             count(*) OVER (PARTITION BY t.relid) AS parents
        FROM pg_constraint k
        JOIN pg_class c ON c.oid = k.confrelid
        JOIN pg_index x ON x.indexrelid = k.conindid
        JOIN unnest((facts).tables) t ON t.relid = k.conrelid
        LEFT JOIN unnest((facts).indexes) p ON p.indexid = t.pkey AND p.is_btree AND NOT p.storing
         AND NOT p.is_needed
        LEFT JOIN spanner_internal.list_possible_keys(facts) u ON u.relid = t.relid
       CROSS JOIN LATERAL (SELECT coalesce(p.indkey, u.key, '{}') AS indkey) o
       WHERE (t.pkey IS NULL OR p.indexid IS NOT NULL)
         AND k.contype = 'f' AND k.confrelid <> k.conrelid AND k.conparentid = 0
         AND (k.confdeltype = 'c' OR k.conkey <@ o.indkey)
         AND (c.reltuples BETWEEN 0 AND 99 AND t.rows >= 1000) IS NOT TRUE
         AND c.relname !~* ('(^|_)(type|status|state|category|categorie|kind|role|level|country|'
                            'countrie|currency|currencie|language|locale|priority|unit)s?(_|$)')) q
   WHERE q.indisprimary AND q.parents = 1
     AND NOT EXISTS (SELECT FROM pg_attribute a
                      WHERE a.attrelid = q.relid AND a.attnum = ANY (q.conkey)
                        AND NOT a.attnotnull);
END;

-- Is an index ordered as that of a key is?  The server asks the same of one that becomes a key's.
CREATE FUNCTION spanner_internal.is_like_key(index oid)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET enable_nestloop = on
BEGIN ATOMIC
  SELECT NOT x.indnullsnotdistinct
         AND NOT EXISTS (
           SELECT FROM ROWS FROM (
                  unnest(x.indkey::int2[]), unnest(x.indclass::oid[]),
                  unnest(x.indcollation::oid[]), unnest(x.indoption::int2[]))
                    k (attnum, opclass, collid, option)
             LEFT JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.attnum
             LEFT JOIN pg_opclass o ON o.oid = k.opclass
            WHERE k.opclass <> 0
              AND (k.option <> 0 OR NOT o.opcdefault OR k.collid <> a.attcollation))
    FROM pg_index x
   WHERE x.indexrelid = index;
END;

-- Statements that drop the plain indexes of some columns, or of the first ones of them: a new key
-- does what they do.
CREATE FUNCTION spanner_internal.drop_covered(
  facts spanner_internal.advisor_facts, relation oid, key smallint[], first integer)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET enable_nestloop = on
BEGIN ATOMIC
  SELECT string_agg('; DROP INDEX ' || x.indexrelid::regclass, '' ORDER BY c.relname)
    FROM pg_index x
    JOIN pg_class c ON c.oid = x.indexrelid AND c.relam = 403 AND NOT c.relispartition
   WHERE x.indrelid = relation AND x.indpred IS NULL AND x.indisvalid
     AND NOT x.indisunique AND NOT x.indisreplident AND NOT x.indisclustered
     AND string_to_array(x.indkey::text, ' ')::int2[] IN (key, key[1:first])
     AND spanner_internal.is_like_key(x.indexrelid)
     AND NOT EXISTS (SELECT FROM unnest((facts).indexes) i
                      WHERE i.indexid = x.indexrelid AND i.other IS NOT NULL);
END;

-- Join tables: two columns that refer to others, and times at most.  The pair may be the key unless
-- the first rows have it twice or without a value.
CREATE FUNCTION spanner_internal.list_pairs(facts spanner_internal.advisor_facts)
RETURNS TABLE (relid oid, names text[], attnums smallint[], may_be_key boolean)
LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 100
BEGIN ATOMIC
  SELECT q.relid, q.names, q.attnums,
         NOT EXISTS (
           SELECT FROM spanner_internal.first_values(q.relid, q.attnums[1]) WITH ORDINALITY x (v, n)
             FULL JOIN spanner_internal.first_values(q.relid, q.attnums[2]) WITH ORDINALITY y (v, n)
               ON y.n = x.n
            GROUP BY x.v, y.v
           HAVING count(*) > 1 OR x.v IS NULL OR y.v IS NULL)
    FROM (
      SELECT t.relid,
             array_agg(quote_ident(a.attname) ORDER BY a.attnum) FILTER (WHERE i.is_id) AS names,
             array_agg(a.attnum ORDER BY a.attnum) FILTER (WHERE i.is_id) AS attnums
        FROM unnest((facts).tables) t
        JOIN pg_attribute a ON a.attrelid = t.relid AND a.attnum > 0 AND NOT a.attisdropped
       CROSS JOIN LATERAL (
         SELECT a.attname ~ '(_(id|uuid)|I[dD])$'
                OR EXISTS (SELECT FROM pg_constraint k
                            WHERE k.conrelid = t.relid AND k.contype = 'f'
                              AND k.conkey = ARRAY[a.attnum]) AS is_id OFFSET 0) i
       WHERE t.pkey IS NULL AND t.relkind = 'r'
       GROUP BY t.relid
      HAVING count(*) FILTER (WHERE i.is_id) = 2
         AND bool_and(i.is_id OR a.atttypid = ANY ('{date,timestamp,timestamptz}'::regtype[]))) q;
END;

-- Statements that put the columns of a parent in front of the key.  NULL if others rely on the key.
CREATE FUNCTION spanner_internal.interleaved_key(
  t spanner_internal.advisor_table, conkey smallint[], key smallint[], old_key smallint[],
  drops text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_nestloop = on
AS $$
DECLARE
  o spanner_internal.shard_table;
  widened boolean := NOT conkey <@ old_key;
BEGIN
  IF t.has_children OR cardinality(key) > 32
     OR widened AND t.parted_by IS NOT NULL
     OR EXISTS (SELECT FROM spanner_internal.list_publications(t.relid) p WHERE p.lists_key)
     OR EXISTS (SELECT FROM spanner_internal.list_key_users(t.pkey)) THEN
    RETURN NULL;
  END IF;
  o := spanner_internal.read_shard_table(t.relid, '');
  RETURN format('ALTER TABLE %1$s DROP CONSTRAINT %2$s, ADD CONSTRAINT %2$s PRIMARY KEY (%3$s)%4$s',
                t.ident, o.key_name, spanner_internal.column_list(t.relid, key), o.constraint_tail)
      || CASE WHEN widened
              THEN format(', ADD UNIQUE (%s)', spanner_internal.column_list(t.relid, old_key))
              ELSE '' END
      || coalesce(drops, '')
      || array_to_string(ARRAY(SELECT '; ' || k
                                 FROM unnest(spanner_internal.keep_properties(o, NULL)) k), '');
END
$$;

-- The findings of these rules.
CREATE FUNCTION spanner_internal.rules_keys(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL UNSAFE
BEGIN ATOMIC
  -- A sequence without a kind has given no values far above its last one.  If a column has such
  -- values, the sequence had a kind when they were drawn.
  SELECT 'label_lost', q.relid, 0::oid, q.attnum, q.name::text,
         format('column %s holds values up to %s, and its sequence %s, which has no kind, has come '
                'to %s only: its kind was lost, as in a restore without the extension, or removed; '
                'set it again with SECURITY LABEL FOR spanner_keys ON SEQUENCE, or silence this '
                'rule with spanner.silence_rule()',
                q.quoted, q.largest::numeric, q.seqid::regclass, q.last),
         NULL
    FROM (SELECT c.*, spanner_internal.last_counter(c.seqid) AS last
            FROM unnest((facts).columns) c
           WHERE c.source = 'sequence' AND c.largest >= 1e6
           ORDER BY c.relid, c.attnum LIMIT 1000 OFFSET 0) q
   WHERE q.largest > q.last::float8 * 1000
   UNION ALL
  -- A unique index of columns that are not null can become the key, or a column that has a sequence
  -- of its own, whose values are spread then, or the pair of ids of a join table.  Else a new
  -- column can, if one can still be added: a number on one server, where random keys are dear, and
  -- a random UUID elsewhere.  A table that is partitioned by an expression or has foreign
  -- partitions cannot have a key.  Citus would give each copy of a reference table other UUIDs.
  -- Lists of migrations and tables of one row are left out.
 (WITH own_sequence AS MATERIALIZED (
    SELECT DISTINCT ON (c.relid) c.relid, c.quoted,
           CASE WHEN NOT EXISTS (SELECT FROM unnest((facts).indexes) i
                                  WHERE i.relid = c.relid AND i.lead = c.attnum AND i.is_btree)
                THEN v.statement END AS conversion
      FROM unnest((facts).columns) c
      LEFT JOIN unnest((facts).conversions) v ON v.relid = c.relid AND v.attnum = c.attnum
     WHERE c.owned AND c.is_notnull AND c.source = ANY ('{sequence,mapped}')
     ORDER BY c.relid, c.identity DESC, c.attnum),
  -- what a key begins with: the column by which Citus distributes, or the key of the parent
  beginning (relid, is_reference, columns, key, attnums, first) AS (
    SELECT l.relid, l.method = 'n', quote_ident(a.attname), NULL, NULL, NULL
      FROM spanner_internal.list_distributions() l
      LEFT JOIN pg_attribute a ON a.attrelid = l.relid AND a.attnum = l.attnum
    UNION ALL
    SELECT f.relid, false, spanner_internal.column_list(f.relid, f.conkey),
           spanner_internal.column_list(f.relid, f.key), f.key, cardinality(f.conkey)
      FROM spanner_internal.list_parents(facts) f
      JOIN unnest((facts).tables) t ON t.relid = f.relid AND t.pkey IS NULL
       AND t.target = ANY ('{splits,spanner}')
      LEFT JOIN spanner_internal.list_possible_keys(facts) u ON u.relid = f.relid
     WHERE (u.key[1:cardinality(f.conkey)] @> f.conkey) IS NOT TRUE)
  SELECT 'key_missing', t.relid, 0::oid, 0::int2, t.relname::text,
         'the table has no primary key' || CASE
           WHEN n.quoted IS NOT NULL AND f.fix IS NOT NULL
             THEN format('; %s has a sequence of its own', n.quoted)
           WHEN p.key IS NOT NULL THEN
             format('; (%s) tells rows apart by its names: see first that no pair is there twice, '
                    'and none has a NULL', p.key)
           WHEN f.fix IS NOT NULL AND u.name IS NULL THEN
             format('; attributes that identify a row and never change are better than the '
                    'suggested column, with which the table (%s) is written anew',
                    pg_size_pretty(t.bytes::bigint))
           WHEN f.fix IS NOT NULL THEN ''
           WHEN u.name IS NOT NULL
             THEN format('; decide whether the columns of %I become it', u.name)
           ELSE '; decide which columns identify a row' END,
         f.fix
    FROM unnest((facts).tables) t
    LEFT JOIN spanner_internal.list_possible_keys(facts) u ON u.relid = t.relid
    LEFT JOIN own_sequence n ON n.relid = t.relid AND u.name IS NULL
    LEFT JOIN beginning d ON d.relid = t.relid
    LEFT JOIN (SELECT l.*, g.i
                 FROM spanner_internal.list_pairs(facts) l, unnest('{1,2}'::integer[]) g (i)
                WHERE l.may_be_key) l
      ON l.relid = t.relid AND u.name IS NULL AND n.quoted IS NULL AND NOT t.has_children
     AND CASE WHEN d.columns IS NULL THEN l.i = 1 ELSE l.names[l.i] = d.columns END
   CROSS JOIN LATERAL (
     SELECT l.names[l.i] || ', ' || l.names[3 - l.i] AS key,
            ARRAY[l.attnums[l.i], l.attnums[3 - l.i]] AS attnums) p
   CROSS JOIN LATERAL (SELECT CASE
           WHEN t.relkind = 'p' THEN NULL
           WHEN p.key IS NOT NULL THEN
             concat(format('ALTER TABLE %s ADD PRIMARY KEY (%s)', t.ident, p.key),
                    spanner_internal.drop_covered(facts, t.relid, p.attnums, 1))
           WHEN u.name IS NOT NULL AND u.constraint_id IS NULL AND d.key IS NOT NULL
             THEN concat(format('ALTER TABLE %s ADD PRIMARY KEY (%s)', t.ident, d.key),
                         spanner_internal.drop_covered(facts, t.relid, d.attnums, d.first))
           WHEN u.name IS NOT NULL AND u.constraint_id IS NULL
            AND spanner_internal.is_like_key(u.indexid)
             THEN format('ALTER TABLE %s ADD PRIMARY KEY USING INDEX %I', t.ident, u.name)
           WHEN n.quoted IS NOT NULL AND NOT t.has_children THEN
             format('ALTER TABLE %s ADD PRIMARY KEY (%s)', t.ident,
                    concat_ws(', ', nullif(d.columns, n.quoted), n.quoted))
             || CASE WHEN d.key IS NOT NULL THEN format(', ADD UNIQUE (%s)', n.quoted) ELSE '' END
             || CASE WHEN t.target = ANY ('{splits,spanner}')
                     THEN coalesce('; ' || n.conversion, '') ELSE '' END
           WHEN u.name IS NULL AND t.can_widen AND NOT t.has_children
            AND d.is_reference IS NOT TRUE
            AND NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = t.relid)
            AND NOT EXISTS (SELECT FROM spanner_internal.list_row_type_users(t.relid))
            AND NOT EXISTS (SELECT FROM pg_attribute a
                             WHERE a.attrelid = t.relid AND a.attname = 'row_id') THEN
             format('ALTER TABLE %1$s ADD COLUMN row_id %2$s'
                    || CASE WHEN d.columns IS NULL THEN ' PRIMARY KEY'
                            ELSE '; ALTER TABLE %1$s ADD PRIMARY KEY (%3$s, row_id)' END,
                    t.ident,
                    CASE t.target WHEN 'one_server' THEN 'bigint GENERATED ALWAYS AS IDENTITY'
                                  ELSE 'uuid DEFAULT gen_random_uuid()' END,
                    d.columns) END AS fix) f
   WHERE t.pkey IS NULL AND t.can_have_key
     AND NOT spanner_internal.is_migration_table(t.relname)
     -- splits have a key each
     AND (t.target = ANY ('{one_server,splits}') AND t.relkind = 'p'
          AND (SELECT bool_and(EXISTS (SELECT FROM pg_index x
                                        WHERE x.indrelid = h.inhrelid AND x.indisprimary))
                 FROM pg_inherits h WHERE h.inhparent = t.relid)) IS NOT TRUE
     -- a table of one row: a constant or a column that is checked to be one is unique
     AND NOT EXISTS (
       SELECT FROM pg_index x
         LEFT JOIN pg_constraint k ON k.conrelid = x.indrelid AND k.contype = 'c'
          AND k.conkey = ARRAY[x.indkey[0]]
        WHERE x.indrelid = t.relid AND x.indisunique AND x.indpred IS NULL AND x.indnkeyatts = 1
          AND CASE WHEN x.indkey[0] = 0
                   THEN coalesce((spanner_internal.called_functions(x.indexprs))[1],
                                 'is not null') = 'is not null'
                   ELSE spanner_internal.called_functions(k.conbin)
                        IN (ARRAY['.' || x.indkey[0]], ARRAY['=', '.' || x.indkey[0]]) END))
   UNION ALL
  -- Expressions that take the remainder of a bit-reversed id by an even number, or its low bits.
 (WITH reversed AS MATERIALIZED (
    SELECT c.relid, c.attnum, c.quoted
      FROM unnest((facts).columns) c
     WHERE c.source = 'mapped' AND c.label ~ '^ *bit_reversed')
  SELECT 'key_modulo', c.relid, e.indexid, c.attnum, e.object,
         format('%s takes low bits or an even remainder of %s, which is bit-reversed: these bits '
                'are 0 until the end of the sequence; decide on spanner.shard_id() or an odd '
                'divisor instead', e.kind, c.quoted),
         NULL
    FROM reversed c
   CROSS JOIN LATERAL (
     SELECT 0::oid AS indexid, k.conname::text AS object, 'a CHECK constraint' AS kind,
            spanner_internal.called_functions(k.conbin) AS calls
       FROM pg_constraint k
      WHERE k.conrelid = c.relid AND k.contype = 'c'
      UNION ALL
     SELECT i.indexrelid, r.relname, 'an index',
            spanner_internal.called_functions(i.indexprs)
            || spanner_internal.called_functions(i.indpred)
       FROM pg_index i JOIN pg_class r ON r.oid = i.indexrelid
      WHERE i.indrelid = c.relid
      UNION ALL
     SELECT 0, r.relname, 'the partition key', spanner_internal.called_functions(h.partexprs)
       FROM pg_partitioned_table h JOIN pg_class r ON r.oid = h.partrelid
      WHERE h.partrelid = c.relid
      UNION ALL
     SELECT 0, a.attname, 'a generated column', spanner_internal.called_functions(d.adbin)
       FROM pg_attrdef d
       JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
      WHERE d.adrelid = c.relid AND a.attgenerated <> '') e
   WHERE array_to_string(e.calls, '/') ~ format('(^|/)(%% -?\d*[02468]|&)/\.%s(/|$)', c.attnum))
   UNION ALL
  -- Hibernate and JPA draw keys from a sequence that no column refers to, but whose name tells what
  -- it is for.
  SELECT 'key_application_sequence', t.relid, p.indexid, a.attnum, a.attname::text,
         format('by its name, %s gives the values of %I, which comes first in the primary key, and '
                'it ascends',
                c.oid::regclass, a.attname),
         format('SELECT spanner.alter_sequence(%L, kind => ''bit_reversed_positive''%s)',
                c.oid::regclass,
                spanner_internal.bits_argument(spanner_internal.integer_bits(a.atttypid),
                                               q.seqmax))
    FROM unnest((facts).tables) t
    JOIN unnest((facts).indexes) p ON p.indexid = t.pkey AND p.keys = 1
    JOIN pg_attribute a ON a.attrelid = t.relid AND a.attnum = p.attnum
     AND a.atttypid = ANY ('{int4,int8}'::regtype[])
     AND a.attidentity = '' AND NOT a.atthasdef
    JOIN pg_namespace n ON n.nspname = t.nspname
   CROSS JOIN LATERAL (VALUES (t.relname || '_seq'),
                       (t.relname || '_' || a.attname || '_seq')) s (name)
   -- never all sequences of a schema with all its tables
   CROSS JOIN LATERAL (SELECT c.oid FROM pg_class c
                        WHERE c.relnamespace = n.oid AND c.relkind = 'S'
                          AND c.relname = s.name::name OFFSET 0) c
    JOIN pg_sequence q ON q.seqrelid = c.oid AND q.seqincrement > 0 AND NOT q.seqcycle
     AND q.seqmin > 0
   WHERE NOT EXISTS (SELECT FROM pg_depend d
                      WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                        AND d.deptype = ANY ('{a,i,e}'))
     AND NOT EXISTS (SELECT FROM pg_depend d
                      WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid
                        AND d.classid = 'pg_attrdef'::regclass)
     AND NOT EXISTS (SELECT FROM pg_seclabel l
                      WHERE l.objoid = c.oid AND l.classoid = 'pg_class'::regclass
                        AND l.provider = 'spanner_keys')
   UNION ALL
  -- If the key begins with the columns of one parent, it is stored with that one.  If there are
  -- several such parents, a person has to decide.  A row without parent cannot be stored with it.
  -- The new key stands in for an index of the same columns, or of the foreign key.
 (WITH children AS MATERIALIZED (
    SELECT f.*, t, p.indkey
      FROM spanner_internal.list_parents(facts) f
      JOIN unnest((facts).tables) t ON t.relid = f.relid
      JOIN unnest((facts).indexes) p ON p.indexid = t.pkey
     WHERE NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = f.relid AND k.contype = 'f'
                          AND p.indkey[1:cardinality(k.conkey)] @> k.conkey)
       AND NOT EXISTS (SELECT FROM unnest((facts).columns) c
                        WHERE c.relid = f.relid AND c.attnum = p.attnum AND c.source = 'shard')
  )
  SELECT 'child_not_interleaved', f.relid, 0::oid, 0::int2, f.conname::text,
         format('rows belong to %s, but the primary key does not begin with %s, so they are stored '
                'apart from their parent',
                f.parent::regclass, spanner_internal.column_list(f.relid, f.conkey))
         || CASE WHEN x.fix IS NULL
                 THEN '; decide whether the key, which others rely on, can be changed'
                 WHEN f.widened THEN '; the old key stays unique' ELSE '' END,
         x.fix
    FROM children f
   CROSS JOIN LATERAL (
     SELECT spanner_internal.interleaved_key(
              f.t, f.conkey, f.key, f.indkey,
              spanner_internal.drop_covered(facts, f.relid, f.key, cardinality(f.conkey))) AS fix
     OFFSET 0) x)
   UNION ALL
  -- Tables that are partitioned by ranges of ids that spread.
  SELECT 'partition_bounds', c.relid, 0::oid, c.attnum, c.name::text,
         format('ids of column %s are spread, and %s', c.quoted, p.obstacle), NULL
    FROM unnest((facts).tables) t
    JOIN unnest((facts).columns) c ON c.relid = t.relid AND c.source = 'mapped'
   CROSS JOIN LATERAL spanner_internal.describe_sequence(
           CASE WHEN spanner_internal.is_free(c.seqid) THEN c.seqid END) d
   CROSS JOIN LATERAL (
     SELECT spanner_internal.partition_obstacle(
              c.relid, c.attnum, d.bits, substring(d.given from '^1\.\.(\d+)$')::bigint) AS obstacle
     OFFSET 0) p
   WHERE t.relkind = 'p' AND p.obstacle IS NOT NULL
   UNION ALL
  -- A table over servers has no primary key that could tell.
  SELECT 'key_sequence', c.relid, 0::oid, c.attnum, c.name::text,
         format('the table is partitioned by ranges of %s, which takes its values from %s, one '
                'after the other: all inserts go to the last of them%s', c.quoted,
                c.seqid::regclass, v.why_not),
         v.statement
    FROM unnest((facts).tables) t
    JOIN unnest((facts).columns) c ON c.relid = t.relid AND c.attnum = t.parted_by
     AND c.why = 'sequence'
    JOIN pg_partitioned_table h ON h.partrelid = t.relid AND h.partstrat = 'r'
    JOIN unnest((facts).conversions) v ON v.relid = c.relid AND v.attnum = c.attnum
   WHERE NOT EXISTS (SELECT FROM unnest((facts).indexes) i
                      WHERE i.relid = c.relid AND i.lead = c.attnum AND i.is_btree)
   UNION ALL
  -- What computes with the values of a sequence with a kind, in a default or a function.
 (WITH bound AS MATERIALIZED (
    SELECT c.relid, c.attnum, c.name::text AS object, k.relname, k.oid AS seqid, c.calls
      FROM unnest((facts).columns) c
      JOIN pg_class k ON k.oid = c.seqid
     WHERE c.label IS NOT NULL
    UNION ALL
    SELECT q.seqid, 0::int2, q.ident, k.relname, q.seqid, NULL
      FROM unnest((facts).free_sequences) q
      JOIN pg_class k ON k.oid = q.seqid
     WHERE q.label IS NOT NULL),
  found AS (
    SELECT b.*, 'the default' AS place
      FROM bound b
     WHERE EXISTS (SELECT FROM unnest(b.calls) n (name)
                    WHERE n.name ~ '^([-+*/%&#<>]|([lr]pad|left|right|mod|substr|substring|to_char|'
                                   'to_hex|chr)$)')
    UNION ALL
    (SELECT DISTINCT ON (b.seqid, f.oid) b.*, 'function ' || f.oid::regprocedure
      FROM (SELECT * FROM spanner_internal.list_function_bodies()
             WHERE EXISTS (SELECT FROM bound) OFFSET 0) f
     -- an operator comes before or after the call, or a function takes a part of it
     CROSS JOIN LATERAL regexp_matches(f.body,
       '([-+*/%&#<>]\s*\(*|\m(?:[lr]pad|left|right|mod|substr|substring|to_char|to_hex|chr)'
       '\s*\(+)?(?:spanner\.)?nextval\s*\(+''(?:[^'']*\.)?"?([^''".]+)"?''(?:::[a-z]+|\))*\s*'
       '((?!--)[-+*/%&#<>])?', 'gi') m (part)
      JOIN bound b ON b.relname = m.part[2]
     WHERE num_nonnulls(m.part[1], m.part[3]) > 0
     ORDER BY b.seqid, f.oid, b.relid, b.attnum))
  SELECT 'sequence_computed', f.relid, 0::oid, f.attnum, f.object,
         format('%s computes with a value of sequence %s, which is no small number, and whose low '
                'bits stay the same; decide on a plain counter for it: SELECT '
                'spanner.alter_sequence(%L, kind => ''local'')',
                f.place, f.seqid::regclass, f.seqid::regclass::text),
         NULL
    FROM found f)
   UNION ALL
  -- A row for each sequence, and a number that every transaction updates: by the names of the
  -- columns, or by a function that counts it up.
 (WITH bodies AS MATERIALIZED (
    SELECT b.oid, b.body, b.is_trigger FROM spanner_internal.list_function_bodies() b),
  counting AS MATERIALIZED (
    -- what a trigger keeps is a count of rows
    SELECT DISTINCT ON (m.names[1], m.names[2]) lower(m.names[1]) AS table_name,
           lower(m.names[2]) AS column_name, f.oid::regprocedure::text AS proc,
           m.names[2] !~* '^next'
           OR f.body ~* ('\mreturning\s+([a-z_0-9]+\.)?"?' || m.names[2] || '"?(?!\s*-)\M')
             AS is_last
      FROM bodies f
     CROSS JOIN LATERAL regexp_matches(f.body,
       '\mupdate\s+(?:only\s+)?(?:[a-z_0-9"]+\.)?"?([a-z_0-9]+)"?'
       '(?:\s+(?:as\s+)?[a-z_0-9]+)?\s+'
       'set\s+"?([a-z_0-9]+)"?\s*=\s*\(*(?:[a-z_0-9]+\.)?"?\2"?\s*\+', 'gi') m (names)
     WHERE m.names[2] !~* '(^|_)(count|cnt|total)$|^(count|cnt)_' AND NOT f.is_trigger
     ORDER BY m.names[1], m.names[2], f.oid)
  SELECT DISTINCT ON (t.relid, a.attnum) 'counter_table', t.relid, 0::oid, a.attnum,
         a.attname::text,
         CASE WHEN b.proc IS NOT NULL
              THEN format('function %s counts up %I in a row for each name', b.proc, a.attname)
              ELSE 'by its columns, the table holds a counter for each name' END
         || format(', whose row every transaction updates; an allocator takes its place: SELECT '
                   'spanner.create_allocator(%s, %sstart_value => %I::bigint%s) FROM %s, %sor '
                   'decide on a sequence',
                   CASE WHEN n.atttypid = 'text'::regtype THEN quote_ident(n.attname)
                        ELSE quote_ident(n.attname) || '::text' END,
                   CASE WHEN b.proc IS NOT NULL THEN 'mode => ''sync'', ' ELSE '' END, a.attname,
                   CASE WHEN coalesce(b.is_last, a.attname !~* '^next') THEN ' + 1' END,
                   t.ident,
                   CASE WHEN b.proc IS NULL
                        THEN 'with mode => ''sync'' if there must be no gaps, ' END),
         NULL
    FROM unnest((facts).tables) t
    JOIN (SELECT c.attrelid, c.attnum, c.attname,
                 c.attname ~* ('^(next|last|current)_?(val|value|id|hi|hi_value|number|no)$|'
                               '^(sequence|seq|gen|counter)_?(val|value|count|next)$|'
                               '^next_not_cached_value$')
                 OR c.attname ~* '^(value|number|counter|current|last|next)$'
                    AND r.relname ~* '(^|_)(counters?|sequences?|generators?|numbering)$'
                   AS is_named
            FROM pg_attribute c
            JOIN pg_class r ON r.oid = c.attrelid AND r.relkind = ANY ('{r,p}')
           WHERE c.attnum > 0 AND c.atttypid = ANY ('{int4,int8,numeric}'::regtype[])
          OFFSET 0) a ON a.attrelid = t.relid
    LEFT JOIN counting b ON b.table_name = t.relname AND b.column_name = a.attname
    JOIN pg_attribute n ON n.attrelid = t.relid AND n.attnum > 0
     AND n.atttypid = ANY ('{text,varchar,bpchar}'::regtype[])
   WHERE (b.proc IS NOT NULL AND EXISTS (SELECT FROM unnest((facts).indexes) i
                                          WHERE i.relid = t.relid AND i.is_unique
                                            AND i.attnum = n.attnum AND i.keys = 1)
          -- so is what one counts down as well; all bodies are searched, so this comes last
          AND NOT EXISTS (SELECT FROM bodies d
                           WHERE d.body ~* ('\mupdate\s[^;]*\m' || b.table_name || '\M[^;]*\m'
                                            || b.column_name || '"?\s*=[^;,+]*\m'
                                            || b.column_name || '"?\s*-'))
          OR a.is_named AND n.attname ~* 'name|key|entity|table|seq|gen')
     AND (SELECT count(*) FROM pg_attribute o
           WHERE o.attrelid = t.relid AND o.attnum > 0 AND NOT o.attisdropped) <= 4
   ORDER BY t.relid, a.attnum, n.attnum)
   UNION ALL
  -- Spanner takes 16 columns in a key.
  SELECT 'key_columns', i.relid, i.indexid, i.attnum, i.name::text,
         format('the %s has %s columns, and Spanner takes 16; decide which of them identify a row',
                CASE WHEN i.is_primary THEN 'primary key' ELSE 'index' END, i.keys),
         NULL
    FROM unnest((facts).indexes) i
   WHERE i.keys > 16
   UNION ALL
  -- Cassandra sorts a timeuuid by its time.  PostgreSQL compares the bytes as they stand, and the
  -- low bits of the time come first in version 1.
  SELECT 'key_timeuuid', c.relid, i.indexid, c.attnum, c.name::text,
         format('column %s comes second in %I and has UUIDs of version 1, as timeuuid: PostgreSQL '
                'does not sort them by their time; decide on a timestamp in front of the column, '
                'or on UUIDs of version 7', c.quoted, i.name),
         NULL
    FROM unnest((facts).columns) c
    JOIN unnest((facts).indexes) i ON i.relid = c.relid AND i.second = c.attnum AND i.is_btree
   WHERE c.type = 'uuid'::regtype
     AND (c.timeuuid OR c.calls::text ~* '[{,](uuid_generate_v1|uuid_?v?1)(mc)?[,}]')
   UNION ALL
  -- Columns that refer to wider ones.
  SELECT 'reference_narrow', t.relid, 0::oid, r.attnum, r.name::text,
         format('column %I is %s, and %s, to which it refers, is wider: a row with a larger value '
                'there cannot be referred to',
                r.name, r.type::regtype, r.other)
         || CASE WHEN r.widen IS NULL THEN '; decide how to widen it' ELSE '' END,
         r.widen
    FROM unnest((facts).narrow) r
    JOIN unnest((facts).tables) t ON t.relid = r.relid
   UNION ALL
  -- Without an index on the child, a row that is deleted from the parent has the child read.  Of
  -- several columns one at the head of an index is enough.  If nothing is known of the rows, a
  -- child whose rows go with their parents counts.
  SELECT 'reference_unindexed', t.relid, 0::oid, k.conkey[1], k.conname::text,
         format('no index begins with %s, so each row that is deleted from %s reads this table',
                n.columns,
                k.confrelid::regclass),
         format('CREATE INDEX%s ON %s (%s)',
                CASE WHEN t.relkind = 'r' THEN ' /* CONCURRENTLY */' END,
                t.ident, n.columns)
         || CASE WHEN n.sparse THEN format(' WHERE %s IS NOT NULL', n.columns) ELSE '' END
    FROM unnest((facts).tables) t
    JOIN pg_constraint k ON k.conrelid = t.relid AND k.contype = 'f' AND k.conparentid = 0
    JOIN unnest((facts).columns) c ON c.relid = t.relid AND c.attnum = k.conkey[1]
   CROSS JOIN LATERAL (
     SELECT spanner_internal.column_list(t.relid, k.conkey) AS columns,
            cardinality(k.conkey) = 1 AND c.null_share >= 0.5 AS sparse
     OFFSET 0) n
   WHERE (t.rows >= 10000
          OR k.confdeltype = ANY ('{c,n,d}') AND (t.rows >= 1000 OR t.rows < 0))
     -- partitions may have indexes of their own
     AND (t.relkind = 'r' OR EXISTS (
       SELECT FROM spanner_internal.list_parts(t.relid) p
         JOIN pg_class c ON c.oid = p AND c.relkind = 'r'
        WHERE NOT EXISTS (
          SELECT FROM pg_index x
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[0]
            JOIN pg_attribute b ON b.attrelid = t.relid AND b.attname = a.attname
             AND b.attnum = ANY (k.conkey)
           WHERE x.indrelid = c.oid AND x.indisvalid AND x.indpred IS NULL)))
     AND NOT EXISTS (SELECT FROM unnest((facts).indexes) i
                      WHERE i.relid = t.relid AND i.attnum = ANY (k.conkey)
                        AND (i.predicate IS NULL OR EXISTS (
                          SELECT FROM pg_index x
                           WHERE x.indexrelid = i.indexid
                             AND (spanner_internal.called_functions(x.indpred))[1]
                                 = 'is not null')))
     AND NOT EXISTS (SELECT FROM spanner_internal.list_pairs(facts) p
                      WHERE p.relid = t.relid AND p.may_be_key AND p.attnums[1] = ANY (k.conkey))
     -- the index of a longer one, or of the same columns, serves this one
     AND NOT EXISTS (SELECT FROM pg_constraint o
                      WHERE o.conrelid = t.relid AND o.contype = 'f' AND o.conparentid = 0
                        AND o.conkey[1:cardinality(k.conkey)] = k.conkey
                        AND (cardinality(o.conkey), k.oid) > (cardinality(k.conkey), o.oid)
                        AND (t.rows >= 10000 OR o.confdeltype = ANY ('{c,n,d}')))
   UNION ALL
  -- The largest tables first, as looking at a sequence takes a lock on it.  What ends first
  -- decides: the type of the column, or the MAXVALUE of the sequence; statistics, where
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
             ELSE spanner_internal.widened_column(e.relid, e.attnum)
                  || CASE WHEN e.identity THEN ''
                          ELSE format('; ALTER SEQUENCE %s AS bigint', e.seqid::regclass) END
             END AS fix) f
   WHERE e.percent >= 75
   UNION ALL
  SELECT 'sequence_near_end', c.relid, t.pkey, c.attnum, c.name::text,
         format('column %s comes first in the primary key and holds values up to %s, %s %% of the '
                'values of %s; columns that refer to it have to be widened too',
                c.quoted, c.largest::numeric, floor(c.largest / u.widest * 100), c.type::regtype)
         || CASE WHEN f.fix IS NULL THEN '; decide on a new bigint column' ELSE '' END,
         f.fix
    FROM unnest((facts).columns) c
    JOIN unnest((facts).tables) t ON t.relid = c.relid AND t.pkey_attnum = c.attnum
   CROSS JOIN LATERAL (
     SELECT spanner_internal.largest_integer(spanner_internal.integer_bits(c.type)) AS widest) u
   CROSS JOIN LATERAL (
     SELECT spanner_internal.widened_column(c.relid, c.attnum) AS fix OFFSET 0) f
   WHERE c.source IS NULL AND NOT c.is_reference AND c.type = ANY ('{int2,int4}'::regtype[])
     AND c.largest >= 0.75 * u.widest);
END;
