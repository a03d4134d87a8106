/* src/sequence/sequence.sql */

--
-- Sequences: access methods, bindings, event triggers
--

-- planner support function of nextval, currval, lastval and setval
CREATE FUNCTION spanner_internal.sequence_support(internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'spanner_sequence_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- the planner asks for no right
REVOKE ALL ON FUNCTION spanner_internal.sequence_support(internal) FROM PUBLIC;

CREATE FUNCTION spanner.nextval(sequence regclass)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_nextval'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
SUPPORT spanner_internal.sequence_support;

COMMENT ON FUNCTION spanner.nextval(regclass)
  IS 'the next value of a sequence, as its kind maps it';

CREATE FUNCTION spanner.currval(sequence regclass)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_currval'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.currval(regclass)
  IS 'the last value that this session got from a sequence';

CREATE FUNCTION spanner.lastval()
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_lastval'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.lastval()
  IS 'the last value that this session got from any sequence';

-- as setval of PostgreSQL; has a sequence with a kind restart, or skip stored values
CREATE FUNCTION spanner_internal.setval(sequence regclass, value bigint)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_setval'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- as setval of PostgreSQL; has a sequence with a kind restart, or skip stored values
CREATE FUNCTION spanner_internal.setval(sequence regclass, value bigint, is_called boolean)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_setval'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- Calls of nextval and the like are planned as these.  They are STABLE, so that
-- they do not count as volatile by themselves: what they check or map does.
-- This one checks that the user may fetch from a sequence by calling a function.
-- The planner does not evaluate what returns a record, not even for an estimate:
-- EXPLAIN needs no right to use the sequence.
CREATE FUNCTION spanner_internal.may_draw(sequence regclass, called regprocedure)
RETURNS record
AS 'MODULE_PATHNAME', 'spanner_may_draw'
LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL UNSAFE;

-- map a counter of a sequence to its value
CREATE FUNCTION spanner_internal.map_counter(counter bigint, sequence regclass)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_map_counter'
LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL UNSAFE;

-- take the values for so many rows at the first row, and return them in ascending order
CREATE FUNCTION spanner_internal.ascending_nextval(sequence regclass, rows integer)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_ascending_nextval'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- the counter that gives a value, NULL if none does
CREATE FUNCTION spanner_internal.unmap_value(value bigint, sequence regclass)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_unmap_value'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE FUNCTION spanner.create_sequence(
  name text,
  kind text DEFAULT NULL,
  start_with_counter bigint DEFAULT NULL,
  skip_range_min bigint DEFAULT NULL,
  skip_range_max bigint DEFAULT NULL,
  bits integer DEFAULT NULL,
  stripes integer DEFAULT NULL,
  if_not_exists boolean DEFAULT false)
RETURNS regclass
AS 'MODULE_PATHNAME', 'spanner_create_sequence'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.create_sequence(text, text, bigint, bigint, bigint, integer, integer,
                                            boolean)
  IS 'create a sequence of a kind';

CREATE FUNCTION spanner.alter_sequence(
  sequence regclass,
  kind text DEFAULT NULL,
  skip_range_min bigint DEFAULT NULL,
  skip_range_max bigint DEFAULT NULL,
  no_skip_range boolean DEFAULT false,
  restart_counter_with bigint DEFAULT NULL,
  bits integer DEFAULT NULL,
  stripes integer DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_alter_sequence'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.alter_sequence(regclass, text, bigint, bigint, boolean, bigint, integer,
                                           integer)
  IS 'change the kind of a sequence, its options or its counter; only for the owner';

CREATE FUNCTION spanner.convert_column(
  relation regclass,
  column_name name,
  kind text DEFAULT NULL,
  bits integer DEFAULT NULL,
  stripes integer DEFAULT NULL,
  dry_run boolean DEFAULT false)
RETURNS regclass
AS 'MODULE_PATHNAME', 'spanner_convert_column'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.convert_column(regclass, name, text, integer, integer, boolean)
  IS 'give the sequence of a column a kind, and skip the values that exist; only for the owner of '
     'the table';

-- can a sequence get a kind? a NOTICE says why not
CREATE FUNCTION spanner_internal.can_convert(sequence regclass, relation regclass)
RETURNS boolean
AS 'MODULE_PATHNAME', 'spanner_can_convert'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- the sequence that fills a column
CREATE FUNCTION spanner_internal.column_sequence(relation regclass, column_number smallint)
RETURNS regclass
AS 'MODULE_PATHNAME', 'spanner_column_sequence'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- a kind as a label has it; an error if there is none of that name
CREATE FUNCTION spanner_internal.read_kind(kind text)
RETURNS text
AS 'MODULE_PATHNAME', 'spanner_read_kind'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- kind, options and counter of a sequence
CREATE FUNCTION spanner_internal.describe_sequence(
  sequence regclass,
  OUT kind text,
  OUT bits integer,
  OUT skip_range_min bigint,
  OUT skip_range_max bigint,
  OUT given text,
  OUT counter bigint,
  OUT used numeric)
AS 'MODULE_PATHNAME', 'spanner_describe_sequence'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- columns of a schema that are filled by a sequence without a kind
CREATE FUNCTION spanner_internal.list_plain_columns(
  schema name,
  OUT relation regclass,
  OUT column_name name,
  OUT sequence regclass)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
  -- one column of each sequence: the others are converted with it
  WITH columns AS (
    SELECT DISTINCT ON (s.seqid)
           c.oid AS relid, c.relname, a.attnum, a.attname, s.seqid
      FROM pg_namespace n
      JOIN pg_class c
        ON c.relnamespace = n.oid
       AND c.relkind IN ('r', 'p')
       AND c.relpersistence <> 't'
      JOIN pg_attribute a
        ON a.attrelid = c.oid
       AND a.attnum > 0
       AND a.attinhcount = 0
       AND a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype)
       AND (a.atthasdef OR a.attidentity <> '')
     CROSS JOIN LATERAL spanner_internal.column_sequence(c.oid, a.attnum) s (seqid)
     WHERE n.nspname = schema
       AND s.seqid IS NOT NULL
       AND (spanner_internal.describe_sequence(s.seqid)).kind IS NULL
     ORDER BY s.seqid, c.relname, a.attnum)
  SELECT c.relid, c.attname, c.seqid
    FROM columns c
   ORDER BY c.relname, c.attnum;
END;

CREATE FUNCTION spanner.convert_all(
  schema name,
  kind text DEFAULT NULL,
  dry_run boolean DEFAULT true)
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  wanted constant text := spanner_internal.read_kind(kind);
  found record;
  why text;
  what_to_do text;
BEGIN
  IF schema IS NULL THEN
    RAISE null_value_not_allowed USING MESSAGE := 'argument "schema" must not be null';
  END IF;
  IF NOT EXISTS (SELECT FROM pg_namespace n WHERE n.nspname = schema) THEN
    RAISE invalid_schema_name USING MESSAGE := format('schema "%s" does not exist', schema);
  END IF;
  FOR found IN SELECT * FROM spanner_internal.list_plain_columns(schema) LOOP
    CONTINUE WHEN NOT spanner_internal.can_convert(found.sequence, found.relation);
    IF NOT dry_run THEN
      BEGIN
        PERFORM spanner.convert_column(found.relation, found.column_name, wanted);
      EXCEPTION
        WHEN object_not_in_prerequisite_state OR sequence_generator_limit_exceeded THEN
        -- another session has converted it meanwhile
        CONTINUE WHEN (spanner_internal.describe_sequence(found.sequence)).kind IS NOT NULL;
        -- one column that cannot be converted does not keep the others from it
        GET STACKED DIAGNOSTICS why = MESSAGE_TEXT, what_to_do = PG_EXCEPTION_HINT;
        RAISE WARNING USING
          MESSAGE := format('column "%s" of table %s is left out: %s', found.column_name,
                            found.relation, why),
          HINT := what_to_do;
        CONTINUE;
      END;
    END IF;
    RETURN NEXT format('SELECT spanner.convert_column(%L, %L%s)',
                       found.relation, found.column_name,
                       ', kind => ' || quote_literal(wanted));
  END LOOP;
END
$$;

COMMENT ON FUNCTION spanner.convert_all(name, text, boolean)
  IS 'show, or run, the statements that convert the columns of a schema that ordinary sequences '
     'fill';

CREATE FUNCTION spanner.sync_sequence(relation regclass, column_name name)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_sync_sequence'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.sync_sequence(regclass, name)
  IS 'have the sequence of a column skip every stored value; only for the owner of the table';

CREATE FUNCTION spanner.get_internal_sequence_state(sequence text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_get_internal_sequence_state'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.get_internal_sequence_state(text)
  IS 'the next counter of a sequence, NULL before the first use';

CREATE FUNCTION spanner.get_table_column_identity_state(table_column text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'spanner_get_table_column_identity_state'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.get_table_column_identity_state(text)
  IS 'the next counter of the sequence that fills a column, NULL before the first use';

-- the kinds of sequences that this session knows
CREATE FUNCTION spanner_internal.list_sequence_access_methods(
  OUT name text,
  OUT description text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_list_sequence_access_methods'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

CREATE VIEW spanner.sequence_access_methods AS
  SELECT m.name, m.description
    FROM spanner_internal.list_sequence_access_methods() m;

COMMENT ON VIEW spanner.sequence_access_methods
  IS 'the kinds of sequences that this session knows';
COMMENT ON COLUMN spanner.sequence_access_methods.name
  IS 'the kind, as a label names it';
COMMENT ON COLUMN spanner.sequence_access_methods.description
  IS 'what its values look like';

CREATE VIEW spanner.sequences AS
  SELECT n.nspname AS schemaname,
         c.relname AS sequencename,
         d.kind,
         d.bits,
         d.skip_range_min,
         d.skip_range_max,
         d.given,
         s.seqstart AS start_counter,
         d.counter,
         d.used,
         l.label
    FROM pg_catalog.pg_seclabel l
    JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) l.objoid
    JOIN pg_catalog.pg_sequence s ON s.seqrelid OPERATOR(pg_catalog.=) c.oid
    JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
   CROSS JOIN LATERAL spanner_internal.describe_sequence(c.oid) d
   WHERE l.provider OPERATOR(pg_catalog.=) 'spanner_keys'
     AND l.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
     AND l.objsubid OPERATOR(pg_catalog.=) 0
     AND NOT pg_catalog.pg_is_other_temp_schema(n.oid)
     -- without a kind, a label only remembers what has been given
     AND d.kind IS NOT NULL;

COMMENT ON VIEW spanner.sequences
  IS 'sequences with a kind, their options and counters';
COMMENT ON COLUMN spanner.sequences.schemaname
  IS 'schema of the sequence';
COMMENT ON COLUMN spanner.sequences.sequencename
  IS 'name of the sequence';
COMMENT ON COLUMN spanner.sequences.kind
  IS 'the kind';
COMMENT ON COLUMN spanner.sequences.bits
  IS 'values are between 1 and 2^bits - 2';
COMMENT ON COLUMN spanner.sequences.skip_range_min
  IS 'first value that is skipped';
COMMENT ON COLUMN spanner.sequences.skip_range_max
  IS 'last value that is skipped';
COMMENT ON COLUMN spanner.sequences.given
  IS 'values that may have been given or stored before, and never come again';
COMMENT ON COLUMN spanner.sequences.start_counter
  IS 'counter that the sequence starts with';
COMMENT ON COLUMN spanner.sequences.counter
  IS 'next counter, NULL before the first use or without the right to see it';
COMMENT ON COLUMN spanner.sequences.used
  IS 'percentage of the counters that have been used, from 0 to 100; the first one makes it 0.0001';
COMMENT ON COLUMN spanner.sequences.label
  IS 'kind and all options, from which the same counter gives the same value on any server';

GRANT SELECT ON spanner.sequence_access_methods, spanner.sequences TO PUBLIC;

-- Columns, the sequence that each uses, and both labels.  A default goes before an owned sequence
-- that nothing uses.
CREATE FUNCTION spanner_internal.sequence_columns()
RETURNS TABLE (relid oid, attnum integer, seqid oid, sequence_label text, column_label text,
               table_name text, column_name text)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT DISTINCT ON (c.relid, c.attnum)
         c.relid,
         c.attnum,
         c.seqid,
         ls.label AS sequence_label,
         lc.label AS column_label,
         pg_catalog.format('%I.%I', n.nspname, k.relname) AS table_name,
         pg_catalog.quote_ident(a.attname) AS column_name
    FROM (SELECT d.adrelid, d.adnum::integer, p.refobjid, 1
            FROM pg_catalog.pg_attrdef d
            JOIN pg_catalog.pg_depend p
              ON p.objid = d.oid
             AND p.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass
             AND p.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
            JOIN pg_catalog.pg_class s ON s.oid = p.refobjid AND s.relkind = 'S'
           UNION ALL
          SELECT p.refobjid, p.refobjsubid, p.objid, 2
            FROM pg_catalog.pg_depend p
            JOIN pg_catalog.pg_class s ON s.oid = p.objid AND s.relkind = 'S'
           WHERE p.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
             AND p.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
             AND p.deptype IN ('a', 'i')
           UNION ALL
          SELECT l.objoid, l.objsubid, NULL, 3
            FROM pg_catalog.pg_seclabel l
           WHERE l.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
             AND l.provider = 'spanner_keys'
             AND l.objsubid > 0) c (relid, attnum, seqid, place)
    JOIN pg_catalog.pg_class k ON k.oid = c.relid
    JOIN pg_catalog.pg_namespace n ON n.oid = k.relnamespace
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.relid AND a.attnum = c.attnum
    LEFT JOIN pg_catalog.pg_seclabel ls
      ON ls.objoid = c.seqid
     AND ls.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
     AND ls.objsubid = 0
     AND ls.provider = 'spanner_keys'
     AND NOT starts_with(ls.label, 'local(')
    LEFT JOIN pg_catalog.pg_seclabel lc
      ON lc.objoid = c.relid
     AND lc.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
     AND lc.objsubid = c.attnum
     AND lc.provider = 'spanner_keys'
   ORDER BY c.relid, c.attnum, c.place;
END;

-- pg_upgrade does not run this script; the next label attaches it again.
CREATE FUNCTION spanner_internal.attach_support()
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_attach_support'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

REVOKE ALL ON FUNCTION spanner_internal.attach_support() FROM PUBLIC;

SELECT spanner_internal.attach_support();

-- At the start of a command: load the label provider, guard what is bound and the extension, change
-- columns that are added.  At its end: give new sequences the default kind, and identity columns
-- defaults that use them.
CREATE FUNCTION spanner_internal.on_ddl_command()
RETURNS event_trigger
AS 'MODULE_PATHNAME', 'spanner_on_ddl_command'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

REVOKE ALL ON FUNCTION spanner_internal.on_ddl_command() FROM PUBLIC;

CREATE EVENT TRIGGER spanner_keys_ddl_command_start
  ON ddl_command_start
  WHEN TAG IN ('SECURITY LABEL', 'ALTER SEQUENCE', 'CREATE SCHEMA',
               'CREATE TABLE', 'ALTER TABLE', 'ALTER FOREIGN TABLE',
               'CREATE STATISTICS', 'DROP SEQUENCE', 'DROP EXTENSION', 'DROP OWNED',
               'DROP TRIGGER',
               -- these may drop a trigger, whose condition needs what they drop
               'DROP COLLATION', 'DROP DOMAIN', 'DROP FUNCTION', 'DROP LANGUAGE', 'DROP OPERATOR',
               'DROP ROUTINE', 'DROP SCHEMA', 'DROP TYPE',
               -- these rename and move what the extension needs
               'ALTER DOMAIN', 'ALTER EXTENSION', 'ALTER FUNCTION',
               'ALTER INDEX', 'ALTER PROCEDURE', 'ALTER ROUTINE', 'ALTER SCHEMA',
               'ALTER TYPE', 'ALTER VIEW')
  EXECUTE FUNCTION spanner_internal.on_ddl_command();

ALTER EVENT TRIGGER spanner_keys_ddl_command_start ENABLE ALWAYS;

COMMENT ON EVENT TRIGGER spanner_keys_ddl_command_start
  IS 'loads the provider of security labels and what keeps the extension''s objects in place, '
     'applies spanner.default_sequence_kind to added columns, keeps allocators of roles from being '
     'lost, and triggers from being dropped while rows wait for a number';

-- First by its name: what others do with a new table, they do when it has its sequences.
CREATE EVENT TRIGGER "!spanner_keys_ddl_command_end"
  ON ddl_command_end
  WHEN TAG IN ('CREATE SEQUENCE', 'CREATE TABLE', 'CREATE FOREIGN TABLE',
               'CREATE SCHEMA', 'ALTER TABLE', 'ALTER FOREIGN TABLE',
               'ALTER SEQUENCE', 'CREATE STATISTICS', 'SECURITY LABEL',
               'CREATE EXTENSION', 'CREATE TRIGGER')
  EXECUTE FUNCTION spanner_internal.on_ddl_command();

ALTER EVENT TRIGGER "!spanner_keys_ddl_command_end" ENABLE ALWAYS;

COMMENT ON EVENT TRIGGER "!spanner_keys_ddl_command_end"
  IS 'applies spanner.default_sequence_kind, checks triggers and defaults that number rows';
