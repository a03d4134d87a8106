/* src/advisor/facts.sql */

-- Advisor: what the rules look at.  Bodies in BEGIN ATOMIC are parsed here, with the search_path of
-- an extension script, pg_catalog: names and operators in them are those of the server, whatever
-- the path of the session.  Names in texts that they make depend on that path; spanner.advise()
-- pins it.

-- The tables that advice is given on.
CREATE TYPE spanner_internal.advisor_table AS (
  relid oid, relkind "char", nspname name, relname name, ident text,
  rows float8, bytes float8, has_children boolean, pkey oid, pkey_attnum smallint,
  hashed boolean, parted_by smallint, can_widen boolean, can_have_key boolean, is_usable boolean,
  is_published boolean, target text, distribution smallint, inserts float8);

-- Their valid indexes.  "attnum" is the first column, 0 for an expression; "lead" is also a column
-- that the first expression grows with. "could_be_key" lists the columns of a unique index that are
-- never NULL, "other" is an index that can do the work of this one.  The predicate of an index that
-- is locked is not known, and like no other one.
CREATE TYPE spanner_internal.advisor_index AS (
  indexid oid, relid oid, ident text, nspname name, name name,
  attnum smallint, lead smallint, second smallint, indkey smallint[], keys smallint,
  storing boolean, is_unique boolean, is_primary boolean, is_immediate boolean, is_strict boolean,
  is_identity boolean, is_partitioned boolean, is_referenced boolean, is_needed boolean,
  constraint_id oid, is_btree boolean, predicate text, expression text, tablespace text,
  signature text, could_be_key text, other oid);

-- Columns that have a default or stand in front of an index, where their values come from, and what
-- statistics, or the rows of a table without them, say of them.  "why" is the reason for which the
-- values are supposed to grow with time.
CREATE TYPE spanner_internal.advisor_column AS (
  relid oid, ident text, attnum smallint, name name, quoted text, type oid, is_notnull boolean,
  collid oid, expr text, calls text[], generated boolean, identity boolean, seqid oid, label text,
  owned boolean, is_reference boolean, is_measured boolean, is_few boolean, source text,
  rows float8, distinct_values float8, null_share float8, top_share float8, largest float8,
  timeuuid boolean, why text);

-- Columns that ascending sequences fill, and the statement that has the values spread, or why there
-- is none.
CREATE TYPE spanner_internal.advisor_conversion AS (
  relid oid, attnum smallint, seqid oid, why_not text, statement text);

-- Columns of 16 or 32 bits that refer to wider ones, and statements that widen them.
CREATE TYPE spanner_internal.advisor_reference AS (
  relid oid, attnum smallint, name name, type oid, referenced oid, referenced_attnum smallint,
  other text, widen text);

-- Sequences that no default uses: applications call nextval().  They have an end, or a kind.
CREATE TYPE spanner_internal.advisor_sequence AS (
  seqid oid, ident text, ends numeric, label text);

-- What rules find.  attnum and indexid are 0 where there is none, relid where it is many tables.
CREATE TYPE spanner_internal.advisor_finding AS (
  rule text, relid oid, indexid oid, attnum smallint, object text, finding text, suggestion text);

-- What the rules of the advisor look at.  Hotspots are primary keys and other indexes that begin
-- with a column that grows, or with one of few values before such a column.
CREATE TYPE spanner_internal.advisor_facts AS (
  tables spanner_internal.advisor_table[], indexes spanner_internal.advisor_index[],
  columns spanner_internal.advisor_column[], conversions spanner_internal.advisor_conversion[],
  narrow spanner_internal.advisor_reference[], free_sequences spanner_internal.advisor_sequence[],
  hotspots spanner_internal.advisor_finding[]);

-- is it the name of a table in which a tool keeps the migrations that have run, a row for each?
CREATE FUNCTION spanner_internal.is_migration_table(name text)
RETURNS boolean
AS 'MODULE_PATHNAME', 'spanner_is_migration_table'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- For the ids of a range in partitions by ranges of a column: the widest range that no partition
-- takes, and a partition that takes nearly all
CREATE FUNCTION spanner_internal.partition_faults(
  relation regclass, column_number smallint, first bigint, last bigint,
  OUT gap_first bigint,
  OUT gap_last bigint,
  OUT partition regclass)
AS 'MODULE_PATHNAME', 'spanner_partition_faults'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- The functions, operators and columns in an expression, in the order of its text.
CREATE FUNCTION spanner_internal.called_functions(expression pg_node_tree)
RETURNS text[]
AS 'MODULE_PATHNAME', 'spanner_called_functions'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- The column that the first one of some expressions grows with, or 0: what keeps the order of time
-- is all that is called.
CREATE FUNCTION spanner_internal.growing_column(calls text[])
RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT CASE WHEN count(c.attnum) = 1
               AND bool_and(c.attnum IS NOT NULL
                            OR u.name ~ '^(date_trunc|date_bin|timezone|to_char|[-+*/]|'
                                        'part (epoch|year))$')
              THEN max(c.attnum) ELSE 0 END
    FROM unnest(calls[:coalesce(array_position(calls, ',') - 1, cardinality(calls))]) u (name)
   -- a function can have a name such as ".x"
   CROSS JOIN LATERAL (SELECT substring(u.name from '^\.(\d{1,4})$')::smallint) c (attnum);
END;

-- Where the values of a column come from, judged by the functions that its default calls. What
-- comes first decides: it has the high bits.
CREATE FUNCTION spanner_internal.read_calls(calls text[], draws boolean)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT k.kind
    FROM unnest(calls || CASE WHEN draws AND 'nextval' <> ALL (calls) THEN 'nextval' END)
         WITH ORDINALITY u (name, n)
   CROSS JOIN LATERAL (SELECT CASE
           WHEN u.name ~ 'bit_reverse|^reverse$|random|uuid_generate_v4|uuidv4|generate_uuid|md5|'
                         '^sha[0-9]+$|hash|fingerprint|digest' THEN 'random'
           WHEN u.name ~* '(uuid_generate_v[167]|uuid_?v[167]|uuid[167]|gen_uuid_v7|ulid|ksuid|'
                          '(^|[^a-z])(xid|tsid)|snowflake|timestamp_id)[a-z0-9_]*$' THEN 'uuid'
           WHEN u.name = ANY ('{now,clock_timestamp,statement_timestamp,transaction_timestamp,'
                              'timeofday}') THEN 'now'
           WHEN u.name = 'next_value' OR draws AND u.name = 'nextval' THEN 'derived' END) k (kind)
   WHERE k.kind IS NOT NULL
   ORDER BY u.n LIMIT 1;
END;

-- The functions that a text of SQL or PL/pgSQL calls, outside of its literals.
CREATE FUNCTION spanner_internal.named_functions(body text)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY(SELECT coalesce(lower(m.names[1]), 'now')
               FROM regexp_matches(
                      regexp_replace(body, 'E?''([^'']|'''')*''', '', 'g'),
                      '\m([a-z_][a-z_0-9]*)\(|'
                      '\m(?:CURRENT_TIMESTAMP|CURRENT_DATE|LOCALTIMESTAMP)\M', 'gi') m (names));

-- Tables that Citus knows, and by which column it distributes them: "h" is by hash, "r" by ranges,
-- "n" a reference table, and "l" one that it keeps on one node.
CREATE FUNCTION spanner_internal.list_distributions(
  OUT relid oid, OUT attnum smallint, OUT method "char")
RETURNS SETOF record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
    RETURN QUERY EXECUTE
      'SELECT p.logicalrelid::oid, a.attnum,
              CASE WHEN p.partmethod = ''n'' AND p.repmodel <> ''t'' THEN ''l''
                   ELSE p.partmethod END
         FROM pg_catalog.pg_dist_partition p
         LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = p.logicalrelid
          AND a.attnum = substring(p.partkey from '':varattno (\d+)'')::smallint';
  END IF;
END
$$;

-- Values are read without a query, so no code of the table's owner runs.
CREATE FUNCTION spanner_internal.first_values(relation oid, column_number smallint)
RETURNS SETOF text
AS 'MODULE_PATHNAME', 'spanner_first_values'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;

-- There is a rate of inserts if the server has counted for a day.  pg_partman copies the key of a
-- template table to new partitions; it has no rows, and is known by its name, or because the table
-- of settings names it.
CREATE FUNCTION spanner_internal.advisor_tables(relation oid, target text)
RETURNS SETOF spanner_internal.advisor_table
LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 1000
BEGIN ATOMIC
  WITH template AS MATERIALIZED (
    SELECT g.relnamespace, v.name
      FROM pg_class g
      JOIN pg_attribute a ON a.attrelid = g.oid AND a.attname = 'template_table'
       AND a.attgenerated = ''
      LEFT JOIN LATERAL spanner_internal.first_values(g.oid, a.attnum) v (name) ON true
     WHERE g.relname = 'part_config' AND g.relkind = 'r' AND $1 = 0)
  SELECT c.oid, c.relkind, n.nspname, c.relname, format('%I.%I', n.nspname, c.relname),
         c.reltuples, (c.relpages::float8 + coalesce(s.relpages, 0)) * 8192,
         c.relhassubclass AND c.relkind = 'r', p.indexrelid, p.indkey[0],
         coalesce(h.partstrat = 'h', false), h.partattrs[0],
         c.relnatts < 1600 AND c.reloftype = 0 AND NOT c.relispartition,
         h.partexprs IS NULL AND e.inhparent IS NULL, has_schema_privilege(n.oid, 'USAGE'),
         b.relid IS NOT NULL,
         coalesce(CASE WHEN $2 = 'citus' AND d.method = 'r' THEN 'splits' ELSE $2 END,
           CASE WHEN d.method = 'r' THEN 'splits'
                WHEN d.relid IS NOT NULL THEN 'citus'
                WHEN e.inhparent IS NOT NULL THEN 'splits'
                WHEN h.partstrat = 'r' AND h.partattrs[0] = p.indkey[0]
                 AND EXISTS (SELECT FROM pg_attribute a
                              WHERE a.attrelid = h.partrelid AND a.attnum = h.partattrs[0]
                                AND a.atttypid <> ALL ('{date,timestamp,timestamptz}'::regtype[]))
                THEN 'splits' ELSE 'one_server' END),
         CASE WHEN d.method = 'h' THEN d.attnum END,
         CASE WHEN w.seconds >= 86400 THEN pg_stat_get_tuples_inserted(c.oid) / w.seconds END
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
   CROSS JOIN (SELECT extract(epoch FROM now() - greatest(pg_postmaster_start_time(),
                        pg_stat_get_db_stat_reset_time(o.oid)))::float8 AS seconds
                 FROM pg_database o WHERE o.datname = current_database()) w
    LEFT JOIN pg_class s ON s.oid = c.reltoastrelid AND c.reltoastrelid <> 0
    LEFT JOIN pg_index p ON p.indrelid = c.oid AND p.indisprimary
    LEFT JOIN pg_partitioned_table h ON h.partrelid = c.oid
    LEFT JOIN (SELECT DISTINCT r.inhparent FROM pg_inherits r
                 JOIN pg_class g ON g.oid = r.inhrelid AND g.relkind = 'f' AND g.relispartition) e
      ON e.inhparent = c.oid
    LEFT JOIN (SELECT DISTINCT l.relid FROM spanner_internal.list_published() l) b
     ON b.relid = c.oid
    LEFT JOIN spanner_internal.list_distributions() d ON d.relid = c.oid
   WHERE c.relkind = ANY ('{r,p}') AND c.oid >= 16384
     AND NOT pg_is_other_temp_schema(n.oid)
     AND CASE WHEN $1 = 0 THEN
           NOT c.relispartition AND c.relpersistence <> 't'
           AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
           AND concat_ws('.', n.nspname, c.relname)
               NOT IN (SELECT coalesce(m.name, '') FROM template m)
           AND NOT (starts_with(c.relname, 'template_')
                    AND c.relnamespace IN (SELECT m.relnamespace FROM template m))
           AND NOT EXISTS (SELECT FROM pg_depend x
                            WHERE x.classid = 'pg_class'::regclass AND x.objid = c.oid
                              AND x.deptype = 'e')
         ELSE c.oid = $1 END;
END;

-- The valid indexes of these tables.
CREATE FUNCTION spanner_internal.advisor_indexes(tables spanner_internal.advisor_table[])
RETURNS SETOF spanner_internal.advisor_index
LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 1000
BEGIN ATOMIC
  WITH valid (indexid, relid, ident, nspname, name, attnum, lead, second, indkey, keys, storing,
              is_unique, is_primary, is_immediate, is_strict, is_identity, is_partitioned,
              is_referenced, is_needed, constraint_id, is_btree, predicate, expression,
              tablespace, signature, could_be_key)
  AS MATERIALIZED (
  SELECT i.indexrelid, t.relid, t.ident, t.nspname, c.relname, i.indkey[0],
         CASE WHEN i.indkey[0] <> 0 THEN i.indkey[0]
              ELSE spanner_internal.growing_column(
                     spanner_internal.called_functions(i.indexprs)) END,
         CASE WHEN i.indnkeyatts > 1 THEN i.indkey[1] ELSE 0 END,
         string_to_array(i.indkey::text, ' ')::int2[], i.indnkeyatts, i.indnatts > i.indnkeyatts,
         i.indisunique, i.indisprimary, i.indimmediate, i.indnullsnotdistinct, i.indisreplident,
         c.relkind = 'I', f.conindid IS NOT NULL,
         i.indisreplident OR i.indisclustered OR c.relispartition OR f.conindid IS NOT NULL,
         k.oid, c.relam = 403,
         CASE WHEN i.indpred IS NULL THEN NULL
              WHEN spanner_internal.is_free(i.indrelid) THEN pg_get_expr(i.indpred, i.indrelid)
              ELSE i.indexrelid::text END,
         CASE WHEN i.indkey[0] = 0 THEN spanner_internal.index_text(i.indexrelid, 1) END,
         ' TABLESPACE ' || quote_ident(s.spcname),
         (SELECT string_agg(format('%s/%s/%s/%s%s ', u.attnum, u.opclass, u.collid, u.option,
                   CASE WHEN u.attnum = 0
                        THEN coalesce(quote_literal(
                          spanner_internal.index_text(i.indexrelid, u.n::int)),
                          i.indexrelid::text) END),
                   '' ORDER BY u.n)
            FROM ROWS FROM (unnest(i.indkey::int2[]), unnest(i.indclass::oid[]),
                            unnest(i.indcollation::oid[]), unnest(i.indoption::int2[]))
                 WITH ORDINALITY u (attnum, opclass, collid, option, n)
           WHERE u.n <= i.indnkeyatts),
         CASE WHEN i.indisunique AND NOT i.indisprimary AND i.indpred IS NULL
              AND i.indexprs IS NULL THEN
           (SELECT CASE WHEN bool_and(a.attnotnull)
                        THEN string_agg(quote_ident(a.attname), ', ' ORDER BY u.n) END
              FROM unnest(i.indkey::int2[]) WITH ORDINALITY u (attnum, n),
                   LATERAL (SELECT b.attname, b.attnotnull FROM pg_attribute b
                             WHERE b.attrelid = t.relid AND b.attnum = u.attnum OFFSET 0) a
             WHERE u.n <= i.indnkeyatts) END
    FROM unnest(tables) t
    JOIN pg_index i ON i.indrelid = t.relid AND i.indisvalid
    JOIN pg_class c ON c.oid = i.indexrelid
    LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
    LEFT JOIN (SELECT DISTINCT conindid FROM pg_constraint WHERE contype = 'f') f
     ON f.conindid = i.indexrelid
    LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.contype = ANY ('{p,u,x}'))
  SELECT v.*, r.other
    FROM valid v
    LEFT JOIN (
      SELECT i.indexid, min(j.indexid) AS other
        FROM valid i
        JOIN valid j ON j.relid = i.relid AND j.indexid <> i.indexid AND j.is_btree
         AND starts_with(j.signature, i.signature) AND i.predicate IS NOT DISTINCT FROM j.predicate
       WHERE i.is_btree AND i.constraint_id IS NULL AND NOT i.is_needed
         AND (NOT i.storing OR i.indkey = j.indkey)
         AND (NOT i.is_unique OR j.is_unique AND j.keys = i.keys AND j.is_immediate
              AND (j.is_strict OR j.is_primary OR NOT i.is_strict))
         AND (j.keys > i.keys OR j.constraint_id IS NOT NULL OR j.is_unique AND NOT i.is_unique
              OR j.indexid < i.indexid)
       GROUP BY i.indexid) r ON r.indexid = v.indexid;
END;

-- The sequence that a default draws from: of the column, of its domain, which no column may have,
-- or of an identity.  Nothing depends on one that is named by a text, as in dumps of old servers,
-- but the core knows it.
CREATE FUNCTION spanner_internal.list_drawn_sequences()
RETURNS TABLE (relid oid, attnum smallint, seqid oid)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1000
BEGIN ATOMIC
  SELECT coalesce(e.adrelid, a.attrelid), coalesce(e.adnum, a.attnum), min(c.oid)
    FROM pg_depend p
    JOIN pg_class c ON c.oid = p.refobjid AND c.relkind = 'S'
    LEFT JOIN pg_attrdef e ON p.classid = 'pg_attrdef'::regclass AND e.oid = p.objid
    LEFT JOIN pg_attribute a ON p.classid = 'pg_type'::regclass AND a.atttypid = p.objid
     AND NOT a.atthasdef
   WHERE p.classid = ANY ('{pg_attrdef,pg_type}'::regclass[])
     AND p.refclassid = 'pg_class'::regclass
   GROUP BY 1, 2, p.objid
  UNION ALL
  SELECT p.refobjid, p.refobjsubid::smallint, p.objid
    FROM pg_depend p
    JOIN pg_class c ON c.oid = p.objid AND c.relkind = 'S'
   WHERE p.classid = 'pg_class'::regclass AND p.refclassid = 'pg_class'::regclass
     AND p.deptype = 'i'
  UNION ALL
  SELECT q.adrelid, q.adnum, q.seqid
    FROM (SELECT e.adrelid, e.adnum,
                 CASE WHEN spanner_internal.is_free(e.adrelid)
                      THEN spanner_internal.column_sequence(e.adrelid, e.adnum)::oid END AS seqid
            FROM (SELECT d.oid, d.adrelid, d.adnum FROM pg_attrdef d
                   WHERE NOT EXISTS (SELECT FROM pg_depend p
                                       JOIN pg_class c ON c.oid = p.refobjid AND c.relkind = 'S'
                                      WHERE p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid
                                        AND p.refclassid = 'pg_class'::regclass)
                     AND 'nextval' = ANY (spanner_internal.called_functions(d.adbin)) OFFSET 0) e
          OFFSET 0) q
   WHERE q.seqid IS NOT NULL;
END;

-- Functions that no extension has made, what they call, and the first 10,000 characters of their
-- bodies.  For one in standard SQL, the server opens the relations in it, so they have to be free;
-- it is left out if it is stored in more than a megabyte.
CREATE FUNCTION spanner_internal.list_function_bodies()
RETURNS TABLE (oid oid, is_trigger boolean, calls text[], body text)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
  SELECT p.oid, p.prorettype = 'trigger'::regtype,
         CASE WHEN p.prosqlbody IS NULL
              THEN spanner_internal.named_functions(left(p.prosrc, 10000))
              WHEN octet_length(p.prosqlbody::text) <= 1048576
              THEN spanner_internal.called_functions(p.prosqlbody) END,
         left(CASE WHEN octet_length(p.prosqlbody::text) <= 1048576
                    AND NOT EXISTS (SELECT FROM pg_depend d
                                     WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                                       AND d.refclassid = 'pg_class'::regclass
                                       AND NOT spanner_internal.is_free(d.refobjid))
                   THEN pg_get_function_sqlbody(p.oid) ELSE p.prosrc END, 10000)
    FROM pg_proc p
    JOIN pg_language l ON l.oid = p.prolang AND l.lanname = ANY ('{sql,plpgsql}')
   WHERE p.oid >= 16384
     AND NOT EXISTS (SELECT FROM pg_depend x
                      WHERE x.classid = 'pg_proc'::regclass AND x.objid = p.oid
                        AND x.deptype = 'e');
END;

-- What functions in defaults make, and what BEFORE INSERT triggers assign to columns.  Functions of
-- the server and of extensions are recognized by their names.  Of a body the first 10,000
-- characters count, or its tree if it is in standard SQL, and each is read once, however many
-- tables use the function.
CREATE FUNCTION spanner_internal.list_default_bodies()
RETURNS TABLE (relid oid, attnum smallint, source text, assigned text)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
  WITH called AS MATERIALIZED (
    SELECT f.oid, spanner_internal.read_calls(f.calls, 'nextval' = ANY (f.calls)) AS source
      FROM (SELECT b.oid, b.calls
              FROM spanner_internal.list_function_bodies() b
             WHERE b.oid IN (SELECT p.refobjid FROM pg_depend p
                              WHERE p.classid = 'pg_attrdef'::regclass
                                AND p.refclassid = 'pg_proc'::regclass)
            OFFSET 0) f
  ), fired AS MATERIALIZED (
    SELECT f.oid, substr(f.prosrc, 1, 10000) AS body
      FROM pg_proc f
      JOIN pg_language l ON l.oid = f.prolang AND l.lanname = 'plpgsql'
     WHERE f.oid IN (SELECT g.tgfoid FROM pg_trigger g
                      WHERE NOT g.tgisinternal AND g.tgenabled <> 'D' AND g.tgtype & 7 = 7)
  ), assignments AS MATERIALIZED (
    SELECT n.oid, n.name, coalesce(
             substring(n.body from '(?i)\mnew\."?' || n.name || '"?\s*:?=\s*([^;]*);'),
             substring(n.body from '(?i)\mselect\s+([^;]*?)\s+into\s+(?:strict\s+)?new\."?'
                       || n.name || '\M'),
             substring(n.body from '(?i)\mselect\s+into\s+(?:strict\s+)?new\."?' || n.name
                       || '"?\s+([^;]*);')) AS text
      FROM (SELECT DISTINCT f.oid, f.body, lower(m.names[1]) AS name
              FROM fired f
             CROSS JOIN LATERAL regexp_matches(f.body, '\mnew\."?([a-z_0-9]+)\M', 'gi') m (names)) n
  )
  SELECT u.relid, u.attnum,
         (array_agg(u.source ORDER BY u.oid) FILTER (WHERE u.source IS NOT NULL))[1],
         string_agg(u.text, ' ' ORDER BY u.oid)
    FROM (SELECT e.adrelid AS relid, e.adnum AS attnum, f.oid, f.source, NULL AS text
            FROM pg_depend p
            JOIN pg_attrdef e ON e.oid = p.objid
            JOIN called f ON f.oid = p.refobjid
           WHERE p.classid = 'pg_attrdef'::regclass AND p.refclassid = 'pg_proc'::regclass
          UNION ALL
          SELECT a.attrelid, a.attnum, f.oid, NULL, f.text
            FROM pg_trigger g
            JOIN assignments f ON f.oid = g.tgfoid
           CROSS JOIN LATERAL (SELECT a.attrelid, a.attnum FROM pg_attribute a
                                WHERE a.attrelid = g.tgrelid AND a.attname = f.name::name
                                  AND a.attnum > 0
                                  AND NOT a.attisdropped AND a.attgenerated = '' OFFSET 0) a
           WHERE NOT g.tgisinternal AND g.tgenabled <> 'D' AND g.tgtype & 7 = 7) u
   GROUP BY 1, 2;
END;

-- Columns of these tables, and where their values come from.
CREATE FUNCTION spanner_internal.advisor_columns(
  tables spanner_internal.advisor_table[], indexes spanner_internal.advisor_index[])
RETURNS SETOF spanner_internal.advisor_column
LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 1000
BEGIN ATOMIC
  SELECT q.relid, q.ident, q.attnum, q.name, q.quoted, q.type, q.is_notnull, q.collid,
         coalesce(q.expr, q.assigned), q.calls, q.generated, q.identity, q.seqid, q.label, q.owned,
         q.is_reference, q.is_reference OR q.is_indexed,
         NOT q.is_reference AND (q.type = 'bool'::regtype
           OR q.typtype = 'e'
           OR q.name ~* '(^|_)(status|state|type|kind|priority|region|country|locale|lang|language|'
                        'category|severity|level|stage|phase|channel|currency|active|enabled|'
                        'is_[a-z_]+|has_[a-z_]+)$'),
         CASE
           WHEN q.is_shard
             OR q.generated AND q.calls::text ~ 'shard_id|fingerprint|hash' THEN 'shard'
           WHEN q.generated THEN 'generated'
           WHEN q.seqid <> 0 AND (q.identity OR q.calls = '{nextval}')
             THEN CASE WHEN q.label IS NULL THEN 'sequence' ELSE 'mapped' END
           ELSE coalesce(
             -- what a function does with the sequence that it is given is in its body
             spanner_internal.read_calls(
               q.calls || q.assigned_calls,
               q.seqid <> 0 AND q.label IS NULL AND (q.made IS NULL OR 'nextval' = ANY (q.calls))
               OR 'nextval' = ANY (q.assigned_calls)),
             q.made,
             CASE
               WHEN q.is_reference THEN 'reference'
               -- a constant as the default says nothing
               WHEN (q.calls IS NULL OR q.calls = '{}') AND q.assigned IS NULL
                -- by its name, a number that is a time
                AND (q.type = ANY ('{timestamp,timestamptz,date}'::regtype[])
                     OR q.type = 'int8'::regtype
                        AND q.name ~* ('(^|_)(ts|timestamp|epoch|unixtime)(_?[mun]s)?$|'
                                       '(_at|_?time|_date)_[mun]s$|'
                                       '(^|_)(stream|topological|event)_ordering$'))
                -- a time that is no order of insertion
                AND q.name !~* ('(^|_)(delet|expir|expiry|due|birth|born|dob|valid|until|archiv|'
                                'remov|revok|cancel|clos|complet|finish|end|ended|ends|effective|'
                                'holiday|deadline|schedul|execut|trigger|next|'
                                'not_(?:after|before))[a-z]*(_|$)')
                AND q.name !~* ('^(deleted|expires?|expired|due|birth|closed|ended|scheduled|'
                                'triggers?|next)[A-Z]?[a-z]*(at|on|date|day)$')
                -- the begin of a time for which a row is valid, of which another column is the end
                AND NOT (q.name ~* '^(.*_)?(starts?|begins?|from)(_?(at|on|date|day))?$'
                         AND EXISTS (
                           SELECT FROM pg_attribute e
                            WHERE e.attrelid = q.relid AND e.attnum > 0 AND NOT e.attisdropped
                              AND e.attname ~* ('^(.*_)?(ends?|until|till|to|thru|through|stops?)'
                                                '(_?(at|on|date|day))?$')))
                 THEN 'time' END)
         END,
         NULL::float8, NULL::float8, NULL::float8, NULL::float8, NULL::float8, NULL::boolean,
         NULL::text
    FROM (SELECT t.relid, t.ident, a.attnum, a.attname AS name, quote_ident(a.attname) AS quoted,
                 CASE WHEN y.typtype = 'd' THEN y.typbasetype ELSE a.atttypid END AS type,
                 y.typtype, a.attnotnull AS is_notnull, a.attcollation AS collid,
                 -- a default has no columns; pg_get_expr() is fast without their names
                 left(CASE WHEN d.oid IS NULL THEN y.typdefault
                           WHEN e.calls IN ('{}', '{nextval}') THEN NULL
                           WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, 0)
                           WHEN spanner_internal.is_free(d.adrelid)
                           THEN pg_get_expr(d.adbin, d.adrelid) END, 10000) AS expr,
                 e.calls, spanner_internal.named_functions(b.assigned) AS assigned_calls,
                 b.source AS made, b.assigned,
                 a.attgenerated <> '' AS generated, a.attidentity <> '' AS identity,
                 coalesce(s.seqid, 0) AS seqid, l.label,
                 o.objid IS NOT NULL AND a.attinhcount = 0 AS owned,
                 r.conrelid IS NOT NULL AS is_reference, x.attnum IS NOT NULL AS is_indexed,
                 h.name IS NOT NULL AS is_shard
            FROM unnest(tables) t
            JOIN pg_attribute a ON a.attrelid = t.relid AND a.attnum > 0 AND NOT a.attisdropped
            JOIN pg_type y ON y.oid = a.atttypid
            LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
           CROSS JOIN LATERAL (
             SELECT spanner_internal.called_functions(coalesce(d.adbin, y.typdefaultbin)) AS calls
             OFFSET 0) e
            LEFT JOIN spanner_internal.list_drawn_sequences() s ON s.relid = a.attrelid
             AND s.attnum = a.attnum
            LEFT JOIN spanner_internal.list_default_bodies() b ON b.relid = a.attrelid
             AND b.attnum = a.attnum
            LEFT JOIN pg_seclabel l ON l.objoid = s.seqid AND l.objsubid = 0
             AND l.classoid = 'pg_class'::regclass AND l.provider = 'spanner_keys'
             AND NOT starts_with(l.label, 'local(')
            LEFT JOIN pg_depend o ON o.objid = s.seqid AND o.classid = 'pg_class'::regclass
             AND o.refclassid = 'pg_class'::regclass AND o.refobjid = a.attrelid
             AND o.refobjsubid = a.attnum AND o.deptype = ANY ('{a,i}')
            LEFT JOIN (SELECT DISTINCT conrelid, conkey[1] AS attnum FROM pg_constraint
                        WHERE contype = 'f') r
              ON r.conrelid = a.attrelid AND r.attnum = a.attnum
            LEFT JOIN (SELECT DISTINCT m.schemaname, m.tablename, m.name FROM spanner.shard_keys m
                        WHERE m.shards IS NOT NULL AND m.declaration = 'check constraint') h
              ON h.schemaname = t.nspname AND h.tablename = t.relname AND h.name = a.attname
            LEFT JOIN (SELECT DISTINCT i.relid, u.attnum FROM unnest(indexes) i,
                         unnest(ARRAY[i.lead, i.second]) u (attnum) WHERE i.is_btree) x
              ON x.relid = a.attrelid AND x.attnum = a.attnum
           WHERE x.attnum IS NOT NULL OR r.attnum IS NOT NULL OR a.atthasdef OR a.attidentity <> ''
              OR y.typdefault IS NOT NULL
           OFFSET 0) q;
END;

-- Is it a UUID of version 1, 6 or 7, whose high-order bits are a time?
CREATE FUNCTION spanner_internal.is_uuid_of_time(value text)
RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN value ~* ('^([0-9a-f]{8}-[0-9a-f]{4}-[167][0-9a-f]{3}-[89ab]|'
                 '(\\x)?[0-9a-f]{12}[167][0-9a-f]{3}[89ab][0-9a-f]{15}$)')
   AND length(value) IN (32, 34, 36);

-- Numbers and dates are compared as such, all others by their bytes.
CREATE FUNCTION spanner_internal.sample_column(
  relation oid, column_number smallint,
  OUT rows float8, OUT uuid_share float8, OUT ascending_share float8)
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
BEGIN ATOMIC
  WITH type AS MATERIALIZED (
    SELECT t.oid = ANY ('{int2,int4,int8,numeric}'::regtype[]) AS is_number,
           t.oid = 'date'::regtype AS is_date,
           t.oid = ANY ('{uuid,text,varchar,bpchar,bytea}'::regtype[]) AS is_text
      FROM pg_attribute a
     CROSS JOIN LATERAL spanner_internal.base_type(a.atttypid) t (oid)
     WHERE a.attrelid = relation AND a.attnum = column_number AND a.attnum > 0),
  value AS MATERIALIZED (
    SELECT v.value, v.n
      FROM type t
     CROSS JOIN LATERAL spanner_internal.first_values(relation, column_number)
           WITH ORDINALITY v (value, n)
     WHERE t.is_number OR t.is_date OR t.is_text),
  pair AS (
    SELECT v.value, lag(v.value) OVER (ORDER BY v.n) AS before
      FROM value v
     WHERE v.value IS NOT NULL)
  SELECT (SELECT nullif(count(*), 0) FROM value v),
         avg(CASE WHEN t.is_text AND spanner_internal.is_uuid_of_time(p.value) THEN 1 ELSE 0 END),
         avg(CASE WHEN t.is_number THEN p.value::numeric > p.before::numeric
                  WHEN t.is_date THEN p.value::date > p.before::date
                  ELSE p.value COLLATE "C" > p.before COLLATE "C" END::integer)
    FROM pair p
   CROSS JOIN type t;
END;

-- The columns of these tables, with what is measured of them and why they are supposed to grow.  In
-- tables with rows and without statistics, at most 200 columns are sampled.  To see whether there
-- are rows, 1,000 columns are opened, first where the server has counted inserts.
CREATE FUNCTION spanner_internal.measured_columns(
  tables spanner_internal.advisor_table[], columns spanner_internal.advisor_column[])
RETURNS SETOF spanner_internal.advisor_column
LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 1000
BEGIN ATOMIC
  WITH statistics AS MATERIALIZED (
    SELECT c.relid, c.attnum, t.rows, d.distinct_values, s.null_frac::float8 AS null_share,
           s.most_common_freqs[1]::float8 AS top_share,
           CASE WHEN coalesce(c.source, 'sequence') = 'sequence'
                 AND c.type = ANY ('{int2,int4,int8,numeric}'::regtype[]) THEN
             (SELECT max(b)
                FROM unnest(s.histogram_bounds::text::numeric[]) b) END::float8 AS largest,
           CASE WHEN c.source IS NULL
                 AND c.type = ANY ('{uuid,text,varchar,bpchar,bytea}'::regtype[]) THEN
             (SELECT avg(spanner_internal.is_uuid_of_time(b)::int) > 0.5
                FROM unnest(s.histogram_bounds::text::text[]) b) END AS uuid_of_time,
           CASE WHEN c.type = 'uuid'::regtype THEN
             (SELECT avg((b ~ '^.{14}1')::int) > 0.5
                FROM unnest(s.histogram_bounds::text::text[]) b) END AS timeuuid,
           t.rows >= 1000 AND d.distinct_values * 10 >= t.rows AND abs(s.correlation) >= 0.95
             AS ascending,
           t.rows >= 1000 AND abs(s.correlation) < 0.9 AS scattered
      FROM unnest(columns) c
      JOIN unnest(tables) t ON t.relid = c.relid
      JOIN pg_stats s ON s.schemaname = t.nspname AND s.tablename = t.relname
       AND s.attname = c.name AND s.inherited = (t.relkind = 'p')
     CROSS JOIN LATERAL (
       SELECT CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * t.rows
                   ELSE s.n_distinct END::float8 AS distinct_values) d
     WHERE c.is_measured
  ), samples AS (
    SELECT q.relid, q.attnum, v.rows, NULL::float8, NULL::float8, NULL::float8, NULL::float8,
           v.rows >= 20 AND v.uuid_share > 0.5, false,
           v.rows >= 100 AND v.ascending_share >= 0.95, false
      FROM (SELECT c.relid, c.attnum
              FROM unnest(columns) c
              JOIN unnest(tables) t ON t.relid = c.relid AND t.relkind = 'r' AND t.rows <> 0
             WHERE c.is_measured AND c.source IS NULL
               AND NOT EXISTS (SELECT FROM statistics s
                                WHERE s.relid = c.relid AND s.attnum = c.attnum)
             ORDER BY pg_stat_get_tuples_inserted(c.relid) DESC, c.relid, c.attnum LIMIT 1000) q,
           LATERAL spanner_internal.sample_column(q.relid, q.attnum) v
     WHERE v.rows > 0
     LIMIT 200
  )
  SELECT c.relid, c.ident, c.attnum, c.name, c.quoted, c.type, c.is_notnull, c.collid, c.expr,
         c.calls, c.generated, c.identity, c.seqid, c.label, c.owned, c.is_reference,
         c.is_measured, c.is_few, c.source,
         m.rows, m.distinct_values, m.null_share, m.top_share, m.largest, m.timeuuid,
         CASE WHEN t.hashed OR t.distribution = c.attnum THEN NULL
              WHEN c.source = ANY ('{sequence,derived,now,uuid}') THEN c.source
              WHEN c.source = 'time' AND m.scattered IS NOT TRUE THEN 'time'
              WHEN c.source IS NULL AND m.uuid_of_time THEN 'uuid_data'
              WHEN c.source IS NULL AND m.ascending
               AND NOT spanner_internal.is_migration_table(t.relname) THEN 'ascending_data' END
    FROM unnest(columns) c
    JOIN unnest(tables) t ON t.relid = c.relid
    LEFT JOIN (SELECT * FROM statistics UNION ALL SELECT * FROM samples) m
      ON m.relid = c.relid AND m.attnum = c.attnum;
END;

-- Bits of the values of a sequence that an integer column can hold.
CREATE FUNCTION spanner_internal.integer_bits(type oid)
RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE type WHEN 'int2'::regtype THEN 15 WHEN 'int4'::regtype THEN 31 ELSE 63 END;

-- The largest value of so many bits.
CREATE FUNCTION spanner_internal.largest_integer(bits integer)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ~((-1)::bigint << bits);

-- The statement that widens an integer column.  NULL where its type cannot change: it is inherited,
-- of a table of a type, or a part of a partition key, something else than an index or a constraint
-- uses it, a column has the row type of the table, or it has a domain, whose default and checks
-- would go.
CREATE FUNCTION spanner_internal.widened_column(relation regclass, column_number smallint)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET enable_nestloop = on  -- by the indexes of the catalogs
BEGIN ATOMIC
  SELECT format('ALTER TABLE %s ALTER COLUMN %I TYPE bigint', relation, a.attname)
    FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid AND c.reloftype = 0
   WHERE a.attrelid = relation AND a.attnum = column_number AND a.attinhcount = 0
     AND a.atttypid = ANY ('{int2,int4}'::regtype[])
     AND NOT EXISTS (
       SELECT FROM pg_depend d
         LEFT JOIN pg_attrdef e ON d.classid = 'pg_attrdef'::regclass AND e.oid = d.objid
        WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = relation
          AND d.refobjsubid = column_number
          AND d.classid <> ALL ('{pg_class,pg_constraint,pg_statistic_ext}'::regclass[])
          AND e.adnum IS DISTINCT FROM column_number)
     AND NOT EXISTS (SELECT FROM spanner_internal.list_row_type_users(relation))
     AND NOT EXISTS (SELECT FROM pg_partitioned_table h
                      WHERE h.partrelid = relation AND column_number = ANY (h.partattrs::int2[]));
END;

-- References that are too narrow.
CREATE FUNCTION spanner_internal.advisor_references()
RETURNS SETOF spanner_internal.advisor_reference
LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 1000
BEGIN ATOMIC
  SELECT a.attrelid, a.attnum, a.attname, b.child, k.confrelid, p.attnum,
         format('%s.%I', k.confrelid::regclass, p.attname),
         spanner_internal.widened_column(a.attrelid, a.attnum)
    FROM pg_constraint k
   CROSS JOIN LATERAL ROWS FROM (unnest(k.conkey), unnest(k.confkey)) n (child, parent)
    JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = n.child
    JOIN pg_attribute p ON p.attrelid = k.confrelid AND p.attnum = n.parent
   CROSS JOIN LATERAL (SELECT spanner_internal.base_type(a.atttypid) AS child,
                              spanner_internal.base_type(p.atttypid) AS parent OFFSET 0) b
   WHERE k.contype = 'f' AND k.conparentid = 0
     AND (b.child = 'int2'::regtype AND b.parent = ANY ('{int4,int8}'::regtype[])
          OR b.child = 'int4'::regtype AND b.parent = 'int8'::regtype);
END;

-- An extension's sequences are its own matter.
CREATE FUNCTION spanner_internal.advisor_sequences(relation oid)
RETURNS SETOF spanner_internal.advisor_sequence
LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 100
BEGIN ATOMIC
  SELECT c.oid, c.oid::regclass::text, q.seqmax, l.label
    FROM pg_sequence q
    JOIN pg_class c ON c.oid = q.seqrelid AND c.relpersistence <> 't'
    LEFT JOIN spanner_internal.list_drawn_sequences() d ON d.seqid = c.oid
    LEFT JOIN pg_seclabel l ON l.objoid = c.oid AND l.classoid = 'pg_class'::regclass
     AND l.objsubid = 0 AND l.provider = 'spanner_keys'
     AND NOT starts_with(l.label, 'local(')
    LEFT JOIN pg_depend e ON e.classid = 'pg_class'::regclass AND e.objid = c.oid
     AND e.deptype = 'e'
   WHERE relation IN (0, c.oid)
     AND q.seqincrement > 0 AND NOT q.seqcycle
     AND (q.seqmax < 9223372036854775807 OR l.objoid IS NOT NULL)
     AND (c.relpersistence = 'p' OR NOT pg_is_in_recovery())
     AND d.seqid IS NULL AND e.objid IS NULL
   ORDER BY c.oid LIMIT 1000;
END;

-- What the rules look at: SELECT * FROM
-- spanner_internal.rules_keys(spanner_internal.advisor_facts()) runs the rules about keys.
CREATE FUNCTION spanner_internal.advisor_facts(
  relation regclass DEFAULT NULL, target text DEFAULT NULL)
RETURNS spanner_internal.advisor_facts
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  f spanner_internal.advisor_facts;
BEGIN
  f.tables := ARRAY(SELECT t
                      FROM spanner_internal.advisor_tables(coalesce(relation, 0::oid), target) t);
  f.indexes := ARRAY(SELECT t FROM spanner_internal.advisor_indexes(f.tables) t);
  f.columns := ARRAY(SELECT t FROM spanner_internal.advisor_columns(f.tables, f.indexes) t);
  f.columns := ARRAY(SELECT t
                       FROM spanner_internal.measured_columns(f.tables, f.columns) t);
  f.narrow := ARRAY(SELECT t FROM spanner_internal.advisor_references() t);
  f.conversions := ARRAY(SELECT t FROM spanner_internal.advisor_conversions(f) t);
  f.free_sequences := ARRAY(
    SELECT t FROM spanner_internal.advisor_sequences(coalesce(relation, 0::oid)) t);
  f.hotspots := ARRAY(SELECT t FROM spanner_internal.advisor_hotspots(f) t);
  RETURN f;
END
$$;
