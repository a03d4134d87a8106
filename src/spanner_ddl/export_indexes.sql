-- Indexes, whose NULLs are values in Spanner and are not here.

-- The columns of an index, and those that have to have a value.  "filter" is NULL if the condition
-- is another one.
CREATE FUNCTION spanner_internal.ddl_index_columns(indexid oid, OUT key smallint[],
  OUT stored smallint[], OUT descending boolean[], OUT filter smallint[], OUT nullable smallint[])
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  WITH parts AS (
    SELECT i.indrelid, c.columns[1:i.indnkeyatts] AS key, c.columns[i.indnkeyatts + 1:] AS stored,
           ARRAY(SELECT d & 1 = 1
                   FROM unnest(i.indoption::smallint[]) WITH ORDINALITY u (d, n)
                  ORDER BY n) AS descending,
           CASE WHEN i.indpred IS NULL THEN '{}'
             ELSE spanner_internal.not_null_columns(i.indpred) END AS filter,
           i.indisunique AND NOT i.indnullsnotdistinct AS has_many_nulls
      FROM pg_index i
     CROSS JOIN LATERAL (SELECT string_to_array(i.indkey::text, ' ')::smallint[] AS columns) c
     WHERE i.indexrelid = indexid)
  SELECT p.key, p.stored, p.descending, p.filter,
         CASE WHEN p.has_many_nulls
           THEN ARRAY(SELECT a.attnum
                        FROM pg_attribute a
                       WHERE a.attrelid = p.indrelid
                         AND a.attnum = ANY (p.key)
                         AND a.attnum <> ALL (p.filter)
                         AND NOT a.attnotnull
                       ORDER BY a.attnum)
           ELSE '{}' END
    FROM parts p;
END;

COMMENT ON FUNCTION spanner_internal.ddl_index_columns(oid)
  IS 'the columns of an index, those it has to have values of, and those whose NULLs differ';

-- CREATE INDEX, which leaves rows out that have no value of the columns of "filter"
CREATE FUNCTION spanner_internal.ddl_index(indexid oid, filter smallint[], dialect text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  WITH parts AS (
    SELECT c.*, i.indisunique, i.indrelid, t.relnamespace, r.relname,
           dialect <> 'postgresql' AS is_google,
           ARRAY(SELECT k FROM unnest(c.key) k ORDER BY k)
             = ARRAY(SELECT f FROM unnest(ddl_index.filter) f ORDER BY f) AS has_whole_key
      FROM pg_index i
      JOIN pg_class r ON r.oid = i.indexrelid
      JOIN pg_class t ON t.oid = i.indrelid
     CROSS JOIN LATERAL spanner_internal.ddl_index_columns(indexid) c
     WHERE i.indexrelid = indexid)
  SELECT format('CREATE %s%sINDEX %s%s ON %s(%s)%s%s',
           CASE WHEN p.indisunique THEN 'UNIQUE ' END,
           CASE WHEN p.has_whole_key AND p.is_google THEN 'NULL_FILTERED ' END,
           CASE WHEN p.is_google AND p.relnamespace <> to_regnamespace('public')
             THEN spanner_internal.ddl_name(n.nspname, dialect) || '.' END,
           spanner_internal.ddl_name(p.relname, dialect),
           spanner_internal.ddl_relation(p.indrelid, dialect),
           spanner_internal.ddl_columns(p.indrelid, p.key, dialect, p.descending),
           CASE WHEN p.is_google THEN ' STORING (' ELSE ' INCLUDE (' END
             || spanner_internal.ddl_columns(p.indrelid, p.stored, dialect) || ')',
           CASE WHEN NOT p.has_whole_key OR NOT p.is_google
             THEN ' WHERE ' || (SELECT string_agg(spanner_internal.ddl_name(a.attname, dialect)
                                                  || ' IS NOT NULL', ' AND ' ORDER BY a.attnum)
                                  FROM pg_attribute a
                                 WHERE a.attrelid = p.indrelid
                                   AND a.attnum = ANY (ddl_index.filter)) END)
    FROM parts p
    JOIN pg_namespace n ON n.oid = p.relnamespace;
END;

COMMENT ON FUNCTION spanner_internal.ddl_index(oid, smallint[], text)
  IS 'an index as Spanner creates it';

-- Indexes that are not those of a constraint or of the key.  Several NULLs of one column are
-- possible in Spanner if the index leaves them out.
CREATE FUNCTION spanner_internal.ddl_indexes(relation oid, dialect text)
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  WITH indexes AS (
    SELECT i.indexrelid, r.relname, c.filter, c.nullable, cardinality(c.nullable) > 1 AS differs,
           0 = ANY (c.key) OR m.amname <> 'btree' OR c.filter IS NULL
             OR NOT spanner_internal.can_be_key(relation, c.key, dialect)
             OR EXISTS (SELECT FROM unnest(c.stored || c.filter) u (attnum)
                         WHERE spanner_internal.is_lost(relation, u.attnum, dialect)) AS is_lost
      FROM pg_index i
      JOIN pg_class r ON r.oid = i.indexrelid
      JOIN pg_am m ON m.oid = r.relam
     CROSS JOIN LATERAL spanner_internal.ddl_key(relation) k
     CROSS JOIN LATERAL spanner_internal.ddl_index_columns(i.indexrelid) c
     WHERE i.indrelid = relation
       AND i.indexrelid IS DISTINCT FROM k.index
       -- the order of the key, which only GoogleSQL says with the table
       AND (dialect = 'postgresql' OR i.indexrelid IS DISTINCT FROM k.order_index)
       AND NOT i.indisexclusion
       -- Spanner makes those that foreign keys need by itself
       AND NOT EXISTS (SELECT FROM pg_constraint o
                         JOIN pg_constraint f ON f.conindid = o.conindid AND f.contype = 'f'
                        WHERE o.conindid = i.indexrelid AND o.contype = 'u'))
  SELECT s.statement
    FROM indexes i
   CROSS JOIN LATERAL (
           SELECT 1 AS n, format('-- %s has rows with NULLs once, as if they were equal',
                                 spanner_internal.ddl_name(i.relname, dialect)) AS statement
            WHERE i.differs AND NOT i.is_lost
            UNION ALL
           SELECT 2, CASE WHEN i.is_lost THEN '-- ' || pg_get_indexdef(i.indexrelid)
                       ELSE spanner_internal.ddl_index(i.indexrelid,
                              CASE WHEN i.differs THEN i.filter
                                ELSE i.filter || i.nullable END, dialect) END) s
   ORDER BY i.relname COLLATE "C", s.n;
END;

COMMENT ON FUNCTION spanner_internal.ddl_indexes(oid, text)
  IS 'the indexes of a table as Spanner creates them';
