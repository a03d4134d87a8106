/* src/advisor/run_rules.sql */

--
-- Advisor: comments on the rules, and one query of all, made of the table of rules
--
-- In the query, the first rules come last: they look at sequences, and may wait
-- for locks.  Afterwards, what the others look at can be gone.

DO $$
DECLARE
  r spanner.advisor_rule;
BEGIN
  FOR r IN SELECT * FROM spanner.advisor_rule WHERE targets IS NOT NULL LOOP
    EXECUTE pg_catalog.format('COMMENT ON FUNCTION spanner_internal.%I(spanner_internal.advisor_facts) IS %L',
                              pg_catalog.concat('rule_', r.rule),
                              pg_catalog.concat('rule of spanner.advise: ', r.explanation));
  END LOOP;
  EXECUTE (
    SELECT pg_catalog.format(
      'CREATE FUNCTION spanner_internal.run_rules(facts spanner_internal.advisor_facts)
       RETURNS TABLE (rule text, relid oid, indexid oid, attnum smallint, object text, finding text, suggestion text)
       LANGUAGE sql STABLE PARALLEL UNSAFE
       BEGIN ATOMIC %s; END',
      pg_catalog.string_agg(pg_catalog.format('SELECT %L::text, f.* FROM spanner_internal.%I(facts) f', x.rule,
                                              pg_catalog.concat('rule_', x.rule)),
                            ' UNION ALL ' ORDER BY x.place DESC))
      FROM spanner.advisor_rule x WHERE x.targets IS NOT NULL);
END
$$;

COMMENT ON FUNCTION spanner_internal.run_rules(spanner_internal.advisor_facts)
  IS 'what all rules of spanner.advise have found';
