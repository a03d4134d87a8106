/* src/advisor/run_rules.sql */

--
-- Advisor: all rules in one query, which is made of the table of rules
--
-- The first rules come last: they look at sequences, and may wait for locks.
-- Afterwards, what the others look at can be gone.

DO $$
BEGIN
  EXECUTE (
    SELECT pg_catalog.format(
      'CREATE FUNCTION spanner_internal.run_rules(facts spanner_internal.advisor_facts)
       RETURNS TABLE (rule text, relid oid, indexid oid, attnum smallint, object text, finding text, suggestion text)
       LANGUAGE sql STABLE PARALLEL UNSAFE
       BEGIN ATOMIC %s; END',
      pg_catalog.string_agg(pg_catalog.format('SELECT %L::text, f.* FROM spanner_internal.%I(facts) f', r.rule,
                                              pg_catalog.concat('rule_', r.rule)),
                            ' UNION ALL ' ORDER BY r.place DESC))
      FROM spanner.advisor_rule r WHERE r.targets IS NOT NULL);
END
$$;

COMMENT ON FUNCTION spanner_internal.run_rules(spanner_internal.advisor_facts)
  IS 'what all rules of spanner.advise have found';
