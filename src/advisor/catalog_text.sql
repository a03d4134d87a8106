/* src/advisor/catalog_text.sql */

--
-- Advisor: what the catalogs hold, as text, without waiting for locks
--
-- NULL means what is locked or dropped just now.
--

-- The statement that creates an index, or one of its columns, without waiting for a lock.
CREATE FUNCTION spanner_internal.index_text(indexid oid, column_number integer)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_index_text'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- An expression over the columns of a relation, without waiting for a lock.
CREATE FUNCTION spanner_internal.expression_text(expression pg_node_tree, relation oid)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_expression_text'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- The definition of a constraint, without waiting for a lock.
CREATE FUNCTION spanner_internal.constraint_text("constraint" oid)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_constraint_text'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- The partition key of a table, without waiting for a lock.
CREATE FUNCTION spanner_internal.partition_key_text(relation oid)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_partition_key_text'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- The body of a function in standard SQL, if the relations in it are not locked.
CREATE FUNCTION spanner_internal.body_text(function oid, relations oid[])
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_body_text'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- NULL for a body that is a string, or stored in more than a megabyte.
CREATE FUNCTION spanner_internal.function_text(function oid)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT spanner_internal.body_text(p.oid, ARRAY(
           SELECT d.refobjid
             FROM pg_depend d
            WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid
              AND d.refclassid = 'pg_class'::regclass))
    FROM pg_proc p
   WHERE p.oid = function AND octet_length(p.prosqlbody::text) <= 1048576;
END;

-- The size of a relation, without waiting for a lock.
CREATE FUNCTION spanner_internal.relation_bytes(relation oid)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_relation_bytes'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;

-- The counter that a sequence gave last, without waiting for a lock.
CREATE FUNCTION spanner_internal.last_counter(sequence oid)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_last_counter'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

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

-- The partitions of a table at all levels; pg_partition_tree() would lock them.
CREATE FUNCTION spanner_internal.list_partitions(relation oid)
RETURNS SETOF oid
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
  WITH RECURSIVE parts AS (
    SELECT i.inhrelid FROM pg_inherits i JOIN pg_partitioned_table h ON h.partrelid = i.inhparent
     WHERE i.inhparent = relation
     UNION ALL
    SELECT i.inhrelid
      FROM parts t
      JOIN pg_partitioned_table h ON h.partrelid = t.inhrelid
      JOIN pg_inherits i ON i.inhparent = t.inhrelid)
  SELECT inhrelid FROM parts;
END;
