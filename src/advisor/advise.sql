/* src/advisor/advise.sql */

-- Advisor: running the rules

-- Rules that are silenced, on a table, one of its columns or one of its indexes. The table is
-- dumped, and restored before the indexes are, so it has their names.
CREATE TABLE spanner.silenced_rule (
  relation regclass NOT NULL, column_name name, index_name name, rule text NOT NULL,
  UNIQUE NULLS NOT DISTINCT (relation, column_name, index_name, rule));

COMMENT ON TABLE spanner.silenced_rule
  IS 'rules that the owners of tables have silenced with spanner.silence_rule()';

GRANT SELECT, INSERT ON spanner.silenced_rule TO PUBLIC;

-- What is inserted here is deleted there, with what was silenced on tables that are gone.  Who may
-- delete from a table may also lock it, and so keep everybody from being advised.
CREATE VIEW spanner_internal.unsilenced_rule AS SELECT * FROM spanner.silenced_rule;
CREATE RULE unsilence AS ON INSERT TO spanner_internal.unsilenced_rule DO INSTEAD
  DELETE FROM spanner.silenced_rule s
   WHERE ROW(s.relation, s.column_name, s.index_name, s.rule)
           IS NOT DISTINCT FROM ROW(new.relation, new.column_name, new.index_name, new.rule)
      OR s.ctid = ANY (ARRAY(SELECT x.ctid
                               FROM spanner.silenced_rule x
                              WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = x.relation)
                                FOR UPDATE OF x SKIP LOCKED));
GRANT INSERT ON spanner_internal.unsilenced_rule TO PUBLIC;

-- The text of a table that is gone, or that only its session sees, could not be restored, and would
-- take all other rows with it.
SELECT pg_catalog.pg_extension_config_dump('spanner.silenced_rule',
  'WHERE EXISTS (SELECT FROM pg_catalog.pg_class c'
  ' WHERE c.oid OPERATOR(pg_catalog.=) relation'
  ' AND c.relpersistence OPERATOR(pg_catalog.<>) ''t'')');

-- Trigger: only the owner of a table silences rules on it, and not on a temporary one.
CREATE FUNCTION spanner_internal.check_silenced_rule()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  silence spanner.silenced_rule := CASE TG_OP WHEN 'INSERT' THEN NEW ELSE OLD END;
  c pg_class := (SELECT r FROM pg_class r WHERE r.oid = silence.relation);
  kind text := CASE c.relkind WHEN 'S' THEN 'sequence' ELSE 'table' END;
BEGIN
  IF c.oid IS NULL THEN
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD END;  -- the table is gone
  ELSIF NOT pg_has_role(c.relowner, 'USAGE') THEN
    RAISE insufficient_privilege USING MESSAGE = format('must be owner of %s %s', kind, c.relname);
  ELSIF TG_OP = 'INSERT' AND c.relpersistence = 't' THEN
    RAISE wrong_object_type USING MESSAGE = format('%s "%s" is temporary', kind, c.relname),
      DETAIL = 'Rules that are silenced are dumped with the database, and temporary tables are '
               'not.';
  END IF;
  RETURN silence;
END
$$;

REVOKE ALL ON FUNCTION spanner_internal.check_silenced_rule() FROM PUBLIC;

CREATE TRIGGER check_silenced_rule
  BEFORE INSERT OR DELETE ON spanner.silenced_rule
  FOR EACH ROW EXECUTE FUNCTION spanner_internal.check_silenced_rule();

CREATE FUNCTION spanner.silence_rule(
  relation regclass, rule text, column_name name DEFAULT NULL, silenced boolean DEFAULT true)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  silence spanner.silenced_rule;
  c pg_class := (SELECT r FROM pg_class r WHERE r.oid = silence_rule.relation);
BEGIN
  IF relation IS NULL OR rule IS NULL OR silenced IS NULL THEN
    RAISE null_value_not_allowed USING
      MESSAGE = 'arguments "relation", "rule" and "silenced" must not be null';
  ELSIF c.oid IS NULL THEN
    RAISE undefined_table USING
      MESSAGE = format('relation with OID %s does not exist', relation::oid);
  ELSIF c.relkind <> ALL ('{r,p,i,I,S}') THEN
    RAISE wrong_object_type USING
      MESSAGE = format('"%s" is neither a table, an index nor a sequence', c.relname);
  END IF;
  silence := (
    SELECT ROW(coalesce(i.indrelid, c.oid), silence_rule.column_name,
               CASE WHEN i.indrelid IS NOT NULL THEN c.relname END,
               silence_rule.rule)::spanner.silenced_rule
      FROM (VALUES (1)) one
      LEFT JOIN pg_index i ON i.indexrelid = c.oid);
  IF column_name IS NOT NULL AND NOT EXISTS (
       SELECT FROM pg_attribute a
        WHERE a.attrelid = silence.relation AND a.attname = silence.column_name AND a.attnum > 0
          AND NOT a.attisdropped) THEN
    RAISE undefined_column USING
      MESSAGE = format('column "%s" of table "%s" does not exist', column_name,
        (SELECT relname FROM pg_class WHERE oid = silence.relation)),
      HINT = 'Names are taken as they are, in upper and lower case.';
  ELSIF NOT silenced THEN
    IF NOT EXISTS (SELECT FROM spanner.silenced_rule s WHERE s IS NOT DISTINCT FROM silence) THEN
      RAISE NOTICE 'rule "%" is not silenced on %, skipping', silence.rule, relation;
    END IF;
    INSERT INTO spanner_internal.unsilenced_rule SELECT silence.*;
    RETURN;
  ELSIF NOT EXISTS (SELECT FROM spanner_internal.advisor_rule r
                     WHERE r.rule = silence.rule AND r.targets IS NOT NULL) THEN
    RAISE undefined_object USING MESSAGE = format('there is no rule "%s" to silence', silence.rule),
      HINT = 'Those that are checkable in the view spanner.advisor_rules can be silenced.';
  END IF;
  INSERT INTO spanner_internal.unsilenced_rule DEFAULT VALUES;
  INSERT INTO spanner.silenced_rule SELECT silence.* ON CONFLICT DO NOTHING;
END
$$;

COMMENT ON FUNCTION spanner.silence_rule(regclass, text, name, boolean)
  IS 'have spanner.advise leave a rule out for a table, index or column, or report it again; only '
     'for the owner';

-- How severe a finding is.  It is less severe where the server has counted hardly any inserts.
-- NULL: not reported, as the rule is not made for the target.
CREATE FUNCTION spanner_internal.advisor_severity(severity text, targets text[], target text,
  inserts_per_second float8)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN target <> ALL (targets) THEN NULL
  WHEN 'one_server' <> ALL (targets) AND inserts_per_second < 1.0 / 60 THEN 'info'
  ELSE severity END;

-- Queries run with settings that do not depend on the session.  For all tables, nested loops are
-- off: the planner would choose them, as it does not know how many facts there are.  A plan for
-- given facts would know, but copy them for each rule.
CREATE FUNCTION spanner_internal.run_advisor(object regclass, target text)
RETURNS TABLE (severity text, rule text, relation regclass, object_name text, finding text,
               suggestion text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET standard_conforming_strings = on
SET quote_all_identifiers = off
SET bytea_output = hex
SET jit = off
SET work_mem = '64MB'
SET enable_nestloop = on
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  facts spanner_internal.advisor_facts;
  asked_index oid;
BEGIN
  IF target <> ALL ('{one_server,splits,spanner,citus,cassandra}'::text[]) THEN
    RAISE invalid_parameter_value USING MESSAGE = format('target "%s" is not known', target),
      HINT = concat('Targets are one_server, splits, spanner, citus and cassandra. Other systems ',
                    'that split by ranges of keys, such as CockroachDB, are "splits".');
  END IF;
  IF object = 0 THEN
    RETURN;
  ELSIF object IS NULL THEN
    PERFORM set_config('enable_nestloop', 'off', true);
  END IF;
  asked_index := (SELECT i.indexrelid FROM pg_index i WHERE i.indexrelid = object);
  object := coalesce((SELECT i.indrelid FROM pg_index i WHERE i.indexrelid = object), object);

  facts := spanner_internal.advisor_facts(object, target);
  IF target IS NULL AND cardinality(facts.tables) > 0 THEN
    RETURN QUERY
      SELECT 'info', 'target', NULL::regclass, NULL,
             'judged as ' || string_agg(format(
               CASE q.target
                 WHEN 'citus' THEN '%s: %s distributed by Citus'
                 WHEN 'splits' THEN '%s: %s split by ranges of the key, or over servers'
                 ELSE '%s: %s, and neither Citus nor a split by ranges of the key' END,
               q.target, CASE q.tables WHEN 1 THEN '1 table' ELSE q.tables || ' tables' END),
               '; ' ORDER BY q.target)
             || '; name another target if that is not where the tables are to be', NULL
        FROM (SELECT t.target, count(*) AS tables
                FROM unnest(facts.tables) t GROUP BY t.target) q;
  END IF;
  RETURN QUERY
    SELECT s.severity, f.rule, nullif(f.relid, 0)::regclass, f.object, f.finding, f.suggestion
      FROM spanner_internal.run_rules(facts) f
      JOIN spanner_internal.advisor_rule r ON r.rule = f.rule
      -- else it is a sequence, or many tables
      LEFT JOIN unnest(facts.tables) t ON t.relid = f.relid
      LEFT JOIN pg_class c ON c.oid = f.relid
     CROSS JOIN LATERAL (
       SELECT spanner_internal.advisor_severity(
                r.severity, r.targets,
                CASE WHEN f.relid = 0 AND run_advisor.target IS NULL THEN r.targets[1]
                     ELSE coalesce(t.target, run_advisor.target, 'one_server') END,
                t.inserts) AS severity
       OFFSET 0) s
     WHERE s.severity IS NOT NULL AND (asked_index IS NULL OR f.indexid = asked_index)
       AND (c.oid IS NOT NULL OR f.relid = 0)  -- not dropped meanwhile
       AND NOT EXISTS (SELECT FROM spanner.silenced_rule x
            WHERE x.relation = f.relid AND x.rule = f.rule
              AND (x.column_name IS NULL OR x.column_name = (
                     SELECT a.attname FROM pg_attribute a
                            WHERE a.attrelid = f.relid AND a.attnum = f.attnum))
              AND (x.index_name IS NULL
                   OR x.index_name = (SELECT i.relname FROM pg_class i WHERE i.oid = f.indexid)))
     ORDER BY array_position('{warning,notice,info}'::text[], s.severity), r.place,
              t.inserts DESC NULLS LAST, coalesce(t.ident, f.object) COLLATE "C",
              f.object COLLATE "C";
END
$$;

CREATE FUNCTION spanner.advise(relation regclass DEFAULT NULL, target text DEFAULT NULL)
RETURNS TABLE (
  severity text, rule text, relation regclass, object text, finding text,
  suggestion text)
LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
  SELECT a.severity, a.rule, a.relation, a.object_name, a.finding, a.suggestion
    FROM spanner_internal.run_advisor($1, $2) a;
END;

COMMENT ON FUNCTION spanner.advise(regclass, text)
  IS 'hotspots and other faults of a table, an index or all tables, for one_server, splits, '
     'spanner, citus or cassandra, with the statements that mend them';
