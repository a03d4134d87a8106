/* src/advisor/catalog_text.sql */

-- Advisor: what the catalogs hold, without waiting for locks.  The server's own functions open the
-- relation that they are asked about, and so wait as long as somebody has locked it.  Advice on all
-- tables would then wait for the owner of each.  Here they are called only if the relation is free;
-- NULL means what is locked or dropped just now.

-- Is a relation there, so that no lock of another session keeps the server's functions waiting?
CREATE FUNCTION spanner_internal.is_free(relation oid)
RETURNS boolean
AS 'MODULE_PATHNAME', 'spanner_is_free'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Names of columns, as a list.
CREATE FUNCTION spanner_internal.column_list(relation oid, columns smallint[])
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY u.n)
          FROM unnest(columns) WITH ORDINALITY u (attnum, n)
          JOIN pg_attribute a ON a.attrelid = relation AND a.attnum = u.attnum);

-- The statement that creates an index, or one of its columns.
CREATE FUNCTION spanner_internal.index_text(indexid oid, column_number integer)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN spanner_internal.is_free(indexid)
            THEN pg_get_indexdef(indexid, column_number, false) END;

-- The counter that a sequence gave last, for who may see it.
CREATE FUNCTION spanner_internal.last_counter(sequence oid)
RETURNS bigint
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN CASE WHEN NOT has_sequence_privilege(sequence, 'SELECT,USAGE') THEN NULL
            WHEN spanner_internal.is_free(sequence) THEN pg_sequence_last_value(sequence) END;

-- The server's own view opens every table of every publication.
CREATE FUNCTION spanner_internal.list_published(OUT relid oid, OUT pubid oid,
                                                OUT columns smallint[])
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1000
BEGIN ATOMIC
  WITH RECURSIVE named AS (
    SELECT p.oid AS pubid, p.pubviaroot, r.prrelid AS relid, r.prattrs::int2[] AS columns
      FROM pg_publication p
      JOIN pg_publication_rel r ON r.prpubid = p.oid
     WHERE NOT p.puballtables
     UNION ALL
    SELECT p.oid, p.pubviaroot, c.oid, NULL
      FROM pg_publication p
      JOIN pg_publication_namespace n ON n.pnpubid = p.oid
      JOIN pg_class c ON c.relnamespace = n.pnnspid AND c.relkind = ANY ('{r,p}')
     UNION ALL
    SELECT p.oid, p.pubviaroot, c.oid, NULL
      FROM pg_publication p
      JOIN pg_class c ON c.relkind = ANY ('{r,p}') AND c.relpersistence = 'p' AND c.oid >= 16384
     WHERE p.puballtables AND NOT (p.pubviaroot AND c.relispartition)
       -- what a later release lists as exceptions
       AND NOT EXISTS (SELECT FROM pg_publication_rel r
                        WHERE r.prpubid = p.oid AND r.prrelid = c.oid)),
  parts AS (
    SELECT n.pubid, n.pubviaroot, n.relid, n.columns FROM named n
     UNION ALL
    SELECT t.pubid, t.pubviaroot, i.inhrelid, NULL
      FROM parts t
      JOIN pg_partitioned_table h ON h.partrelid = t.relid
      JOIN pg_inherits i ON i.inhparent = t.relid
     WHERE NOT t.pubviaroot)
  SELECT t.relid, t.pubid, t.columns
    FROM parts t
    JOIN pg_class c ON c.oid = t.relid
   WHERE t.pubviaroot OR c.relkind = 'r';
END;

-- A table and its partitions at all levels; pg_partition_tree() would lock them.
CREATE FUNCTION spanner_internal.list_parts(relation oid)
RETURNS SETOF oid
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
  WITH RECURSIVE parts (relid) AS (
    SELECT relation
     UNION ALL
    SELECT i.inhrelid
      FROM parts t
      JOIN pg_partitioned_table h ON h.partrelid = t.relid
      JOIN pg_inherits i ON i.inhparent = t.relid)
  SELECT relid FROM parts;
END;

-- The columns that store rows of a table, also in arrays, domains and composite types.  A table
-- that is rewritten must have none.
CREATE FUNCTION spanner_internal.list_row_type_users(relation oid)
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
SET enable_nestloop = on
BEGIN ATOMIC
  WITH RECURSIVE used (type) AS (
    SELECT c.reltype
      FROM spanner_internal.list_parts(relation) p (oid)
      JOIN pg_class c ON c.oid = p.oid AND c.relkind = 'r'
    UNION
    SELECT coalesce(c.reltype, d.objid)
      FROM used u
      JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid = u.type
      LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
       AND c.relkind = 'c'
     WHERE d.classid = 'pg_type'::regclass OR c.oid IS NOT NULL)
  SELECT pg_describe_object(d.classid, d.objid, d.objsubid)
    FROM used u
    JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid = u.type
     AND d.classid = 'pg_class'::regclass AND d.objsubid > 0
    JOIN pg_class c ON c.oid = d.objid AND c.relkind = ANY ('{r,p,m}');
END;
