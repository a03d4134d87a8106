/* src/planner/planner.sql */

--
-- Planner
--

-- Reads what computes a shard in an expression of the catalogs.
CREATE FUNCTION spanner_internal.read_shard_key(expression pg_node_tree, relation oid,
  OUT column_number smallint, OUT shards integer, OUT keys text[],
  OUT problem text, OUT key_columns name[], OUT time_bucket interval,
  OUT derivable boolean, OUT null_columns smallint[])
AS 'MODULE_PATHNAME', 'spanner_read_shard_key'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE VIEW spanner.shard_keys AS
  WITH functions AS (
    SELECT p.oid
      FROM pg_catalog.pg_proc p
     WHERE p.pronamespace OPERATOR(pg_catalog.=) 'spanner'::pg_catalog.regnamespace
       AND p.proname OPERATOR(pg_catalog.=)
           ANY ('{shard_id,farm_fingerprint,bit_reverse}'::pg_catalog.name[])
  ), uses AS (
    SELECT DISTINCT d.classid, d.objid
      FROM pg_catalog.pg_depend d
      JOIN functions f ON f.oid OPERATOR(pg_catalog.=) d.refobjid
     WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
  ), led AS (
    SELECT DISTINCT i.indrelid,
           pg_catalog.unnest(
             (i.indkey::pg_catalog.int2[])[0:i.indnkeyatts OPERATOR(pg_catalog.-) 1]) AS attnum
      FROM pg_catalog.pg_index i
      JOIN pg_catalog.pg_class ic ON ic.oid OPERATOR(pg_catalog.=) i.indexrelid
      JOIN pg_catalog.pg_am m ON m.oid OPERATOR(pg_catalog.=) ic.relam
     WHERE i.indisvalid
       AND m.amname OPERATOR(pg_catalog.=) 'btree'
  ), never_null AS NOT MATERIALIZED (
    SELECT a.attrelid, a.attnum
      FROM pg_catalog.pg_attribute a
     WHERE a.attnotnull
       AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint n
                        WHERE n.conrelid OPERATOR(pg_catalog.=) a.attrelid
                          AND n.contype OPERATOR(pg_catalog.=) 'n'
                          AND n.conkey[1] OPERATOR(pg_catalog.=) a.attnum
                          AND NOT n.convalidated)
  ), keys AS (
    SELECT d.adrelid AS relid, 'generated column' AS declaration,
           a.attname AS name, d.adnum AS attnum, k.shards, k.keys, k.derivable, k.null_columns,
           CASE WHEN a.attgenerated OPERATOR(pg_catalog.<>) 's'
                THEN 'the column is not stored' ELSE k.problem END AS problem
      FROM uses u
      JOIN pg_catalog.pg_attrdef d ON d.oid OPERATOR(pg_catalog.=) u.objid
      JOIN pg_catalog.pg_attribute a
        ON a.attrelid OPERATOR(pg_catalog.=) d.adrelid
       AND a.attnum OPERATOR(pg_catalog.=) d.adnum
     CROSS JOIN LATERAL spanner_internal.read_shard_key(d.adbin, d.adrelid) k
     WHERE u.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_attrdef'::pg_catalog.regclass
       AND a.attgenerated OPERATOR(pg_catalog.<>) ''
    UNION ALL
    SELECT c.conrelid, 'check constraint', COALESCE(a.attname, c.conname),
           a.attnum, k.shards, k.keys, k.derivable, k.null_columns,
           CASE WHEN k.problem IS NOT NULL THEN k.problem
                WHEN a.attnum IS NULL
                THEN 'the constraint is not a comparison of a column with spanner.shard_id()'
                WHEN NOT EXISTS (SELECT FROM never_null n
                                  WHERE n.attrelid OPERATOR(pg_catalog.=) c.conrelid
                                    AND n.attnum OPERATOR(pg_catalog.=) a.attnum)
                THEN 'the column can be NULL'
                WHEN (pg_catalog.to_jsonb(c) OPERATOR(pg_catalog.->>) 'conenforced')
                     OPERATOR(pg_catalog.=) 'false'
                THEN 'the constraint is not enforced'
                WHEN NOT c.convalidated THEN 'the constraint is not validated'
            END
      FROM uses u
      JOIN pg_catalog.pg_constraint c ON c.oid OPERATOR(pg_catalog.=) u.objid
     CROSS JOIN LATERAL spanner_internal.read_shard_key(c.conbin, c.conrelid) k
      LEFT JOIN pg_catalog.pg_attribute a
        ON a.attrelid OPERATOR(pg_catalog.=) c.conrelid
       AND a.attnum OPERATOR(pg_catalog.=) k.column_number
     WHERE u.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_constraint'::pg_catalog.regclass
       AND c.contype OPERATOR(pg_catalog.=) 'c'
       AND c.conrelid OPERATOR(pg_catalog.<>) 0
    UNION ALL
    SELECT i.indrelid, 'index expression', ic.relname, NULL, k.shards, k.keys,
           k.derivable, k.null_columns,
           CASE WHEN k.problem IS NOT NULL THEN k.problem
                WHEN i.indkey[0] OPERATOR(pg_catalog.<>) 0
                THEN 'the expression is not the first column of the index'
                WHEN NOT i.indisvalid THEN 'the index is not valid'
                WHEN m.amname OPERATOR(pg_catalog.<>) 'btree'
                THEN 'the index is not a B-tree'
            END
      FROM uses u
      JOIN pg_catalog.pg_index i ON i.indexrelid OPERATOR(pg_catalog.=) u.objid
      JOIN pg_catalog.pg_class ic ON ic.oid OPERATOR(pg_catalog.=) i.indexrelid
      JOIN pg_catalog.pg_am m ON m.oid OPERATOR(pg_catalog.=) ic.relam
     CROSS JOIN LATERAL spanner_internal.read_shard_key(i.indexprs, i.indrelid) k
     WHERE u.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
    UNION ALL
    SELECT p.partrelid, 'partition key', NULL, NULL, k.shards, k.keys, k.derivable, NULL, k.problem
      FROM pg_catalog.pg_partitioned_table p
     CROSS JOIN LATERAL spanner_internal.read_shard_key(p.partexprs, p.partrelid) k
    UNION ALL
    SELECT a.attrelid, 'plain column', a.attname, a.attnum, NULL, NULL, NULL, NULL,
           'no CHECK constraint compares the column with spanner.shard_id()'
      FROM pg_catalog.pg_attribute a
     WHERE a.attnum OPERATOR(pg_catalog.>) 0
       AND a.attgenerated OPERATOR(pg_catalog.=) ''
       AND NOT a.attisdropped
       AND a.atttypid OPERATOR(pg_catalog.=) ANY ('{int2,int4,int8}'::pg_catalog.regtype[])
       AND pg_catalog.lower(a.attname) OPERATOR(pg_catalog.~) '^shard_?(id|no|key)?$'
       AND NOT EXISTS (
         SELECT FROM pg_catalog.pg_constraint c
          WHERE c.conrelid OPERATOR(pg_catalog.=) a.attrelid
            AND c.contype OPERATOR(pg_catalog.=) 'c'
            AND a.attnum OPERATOR(pg_catalog.=) ANY (c.conkey)
            AND c.oid OPERATOR(pg_catalog.=) ANY (SELECT u.objid FROM uses u))
  )
  SELECT n.nspname AS schemaname,
         c.relname AS tablename,
         k.declaration,
         k.name,
         k.shards,
         k.keys,
         k.problem IS NULL AND NOT x.unindexed AND (k.derivable OR x.listed) AS usable,
         CASE WHEN k.problem IS NOT NULL THEN k.problem
              WHEN x.unindexed THEN 'no B-tree index has the column'
              WHEN NOT k.derivable AND x.listed
              THEN 'shards are not derived: a key may fail or be NULL'
              WHEN NOT k.derivable THEN 'a key may fail or be NULL'
              WHEN NOT x.listed AND k.shards IS NOT NULL
               AND k.declaration OPERATOR(pg_catalog.<>) 'partition key'
              THEN 'shards are not merged or listed: a key can be NULL'
         END AS problem,
         k.declaration OPERATOR(pg_catalog.=) ANY ('{index expression,partition key}')
         OR EXISTS (
           SELECT FROM pg_catalog.pg_statistic_ext e
             JOIN pg_catalog.pg_depend d
               ON d.classid OPERATOR(pg_catalog.=)
                  'pg_catalog.pg_statistic_ext'::pg_catalog.regclass
              AND d.objid OPERATOR(pg_catalog.=) e.oid
             JOIN pg_catalog.pg_proc f ON f.oid OPERATOR(pg_catalog.=) d.refobjid
            WHERE e.stxrelid OPERATOR(pg_catalog.=) k.relid
              AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
              AND f.pronamespace OPERATOR(pg_catalog.=) 'spanner'::pg_catalog.regnamespace
              AND f.proname OPERATOR(pg_catalog.=) 'shard_id') AS loads_library
    FROM keys k
    JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) k.relid
    JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
   CROSS JOIN LATERAL (
     SELECT k.attnum IS NOT NULL AND NOT EXISTS (
              SELECT FROM led l
               WHERE l.indrelid OPERATOR(pg_catalog.=) k.relid
                 AND l.attnum OPERATOR(pg_catalog.=) k.attnum) AS unindexed,
            k.shards IS NOT NULL
            AND (COALESCE(k.null_columns OPERATOR(pg_catalog.<@) n.attnums, false)
                 OR k.declaration OPERATOR(pg_catalog.=) 'generated column'
                AND k.attnum OPERATOR(pg_catalog.=) ANY (n.attnums)) AS listed
       FROM (SELECT ARRAY(SELECT attnum FROM never_null
                           WHERE attrelid OPERATOR(pg_catalog.=) k.relid) AS attnums) n) x
   WHERE pg_catalog.num_nonnulls(k.keys, k.problem) OPERATOR(pg_catalog.>) 0
     AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,m,p}'::pg_catalog."char"[])
     AND NOT pg_catalog.pg_is_other_temp_schema(n.oid)
     AND n.nspname OPERATOR(pg_catalog.<>) ALL ('{spanner,pg_catalog}'::pg_catalog.name[]);

COMMENT ON VIEW spanner.shard_keys
  IS 'shard keys that the planner knows of, and what looks like one but is not';
COMMENT ON COLUMN spanner.shard_keys.schemaname
  IS 'schema of the table';
COMMENT ON COLUMN spanner.shard_keys.tablename
  IS 'name of the table';
COMMENT ON COLUMN spanner.shard_keys.shards
  IS 'number of shards';
COMMENT ON COLUMN spanner.shard_keys.declaration
  IS 'what makes it a shard key';
COMMENT ON COLUMN spanner.shard_keys.name
  IS 'the column, or the index';
COMMENT ON COLUMN spanner.shard_keys.keys
  IS 'what the shard id is computed from; an expression is NULL while the table is locked';
COMMENT ON COLUMN spanner.shard_keys.usable
  IS 'does the planner use it';
COMMENT ON COLUMN spanner.shard_keys.problem
  IS 'why it does not, or not in every way';
COMMENT ON COLUMN spanner.shard_keys.loads_library
  IS 'does the table have sessions load the library in time';

GRANT SELECT ON spanner.shard_keys TO PUBLIC;

CREATE FUNCTION spanner.fill_shard()
RETURNS trigger
AS 'MODULE_PATHNAME', 'spanner_fill_shard'
LANGUAGE C VOLATILE PARALLEL SAFE;

COMMENT ON FUNCTION spanner.fill_shard()
  IS 'fill the columns that CHECK constraints say are shards, before a row is written';

-- The statements that make a generated shard column a plain one, with the same
-- values.  A generated column cannot be replicated as part of a key.  A plain one
-- can: a trigger fills it where rows are inserted, a CHECK keeps it right, and the
-- planner reads the CHECK.
CREATE FUNCTION spanner_internal.plain_shard_statements(
  target text, column_name text, expression text)
RETURNS SETOF text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT unnest(ARRAY[
    format('ALTER TABLE %s ALTER COLUMN %s DROP EXPRESSION, ADD CONSTRAINT %I CHECK (%s = %s)',
           target, column_name, 'spanner_' || trim(column_name, '"') || '_check',
           column_name, expression),
    format('CREATE OR REPLACE TRIGGER spanner_fill_shard BEFORE INSERT OR UPDATE ON %s '
           'FOR EACH ROW EXECUTE FUNCTION spanner.fill_shard()', target)]);
END;
