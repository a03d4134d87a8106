/* src/advisor/run_rules.sql */

--
-- Advisor: one query of all rules, and the rules as a view
--
-- They are made of the table of rules, which is dropped then.  In the query, the first
-- rules come last: they look at sequences, and may wait for locks.  Afterwards, what the
-- others look at can be gone.

DO $$
BEGIN
  EXECUTE (
    SELECT pg_catalog.format(
      'CREATE FUNCTION spanner_internal.run_rules(facts spanner_internal.advisor_facts)
       RETURNS TABLE (rule text, relid oid, indexid oid, attnum smallint, object text, finding text,
                      suggestion text)
       LANGUAGE sql STABLE PARALLEL UNSAFE
       BEGIN ATOMIC SELECT h.* FROM spanner_internal.find_hotspots(facts) h UNION ALL %s; END',
      pg_catalog.string_agg(
        pg_catalog.format('SELECT %L::text, f.* FROM spanner_internal.%I(facts) f', x.rule,
                                              pg_catalog.concat('rule_', x.rule)),
                            ' UNION ALL ' ORDER BY x.place DESC))
      FROM spanner_internal.advisor_rule x
     WHERE x.targets IS NOT NULL
       AND NOT EXISTS (SELECT FROM spanner_internal.hotspot_rule h
                        WHERE h.rule OPERATOR(pg_catalog.=) x.rule));
  EXECUTE (
    SELECT pg_catalog.format(
      'CREATE VIEW spanner_internal.advisor_rules AS
         SELECT * FROM (VALUES %s) r (rule, place, severity, targets, elsewhere, explanation)',
      pg_catalog.string_agg(
        pg_catalog.format(
          '(%L::text COLLATE "C", %L::integer, %L::text, %L::text[], %L::text, %L::text)',
                                              x.rule, x.place, x.severity, x.targets, x.elsewhere,
                                              x.explanation),
                            ', ' ORDER BY x.place))
      FROM spanner_internal.advisor_rule x);
END
$$;

DROP TABLE spanner_internal.advisor_rule;
ALTER VIEW spanner_internal.advisor_rules RENAME TO advisor_rule;

GRANT SELECT ON spanner_internal.advisor_rule TO PUBLIC;

CREATE VIEW spanner.advisor_rules AS
  SELECT r.rule, r.severity, r.targets IS NOT NULL AS checkable, r.explanation, r.targets
    FROM spanner_internal.advisor_rule r
   ORDER BY r.place;

COMMENT ON VIEW spanner.advisor_rules
  IS 'the rules of spanner.advise, and recommendations that it cannot check';
COMMENT ON COLUMN spanner.advisor_rules.rule
  IS 'name of the rule, for spanner.silence_rule()';
COMMENT ON COLUMN spanner.advisor_rules.explanation
  IS 'what the rule looks for, and why';
COMMENT ON COLUMN spanner.advisor_rules.severity
  IS 'warning: inserts meet in one place; notice: if they are many; info: measured, with more than '
     'one explanation';
COMMENT ON COLUMN spanner.advisor_rules.checkable
  IS 'false for a recommendation that the catalogs and statistics cannot tell about';
COMMENT ON COLUMN spanner.advisor_rules.targets
  IS 'for which targets the severity is that; elsewhere it is info, or nothing is said';

GRANT SELECT ON spanner.advisor_rules TO PUBLIC;
