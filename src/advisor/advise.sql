/* src/advisor/advise.sql */

--
-- Advisor: rules about keys and indexes
--

CREATE FUNCTION spanner.advise(relation regclass DEFAULT NULL)
RETURNS TABLE (
  severity text,
  rule text,
  relation regclass,
  object text,
  finding text,
  suggestion text)
AS 'MODULE_PATHNAME', 'spanner_advise'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.advise(regclass)
  IS 'hotspots and other faults of a table, or of all tables, with the statements that mend them';

CREATE FUNCTION spanner.list_advisor_rules(
  OUT rule text, OUT severity text, OUT checkable boolean, OUT explanation text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'spanner_list_advisor_rules'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 50;

COMMENT ON FUNCTION spanner.list_advisor_rules()
  IS 'the rules of spanner.advise';

CREATE VIEW spanner.advisor_rules AS
  SELECT r.rule, r.severity, r.checkable, r.explanation
    FROM spanner.list_advisor_rules() r;

COMMENT ON VIEW spanner.advisor_rules
  IS 'the rules of spanner.advise, and recommendations that it cannot check';
COMMENT ON COLUMN spanner.advisor_rules.rule
  IS 'name of the rule, for spanner.silence_rule()';
COMMENT ON COLUMN spanner.advisor_rules.explanation
  IS 'what the rule looks for, and why';
COMMENT ON COLUMN spanner.advisor_rules.severity
  IS 'warning: inserts meet in one place; notice: if they are many; info: measured, with more than one explanation';
COMMENT ON COLUMN spanner.advisor_rules.checkable
  IS 'false for a recommendation that the catalogs and statistics cannot tell about';

GRANT SELECT ON spanner.advisor_rules TO PUBLIC;

CREATE FUNCTION spanner.silence_rule(object regclass, rule text, "column" name DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'spanner_silence_rule'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.silence_rule(regclass, text, name)
  IS 'have spanner.advise keep quiet about a rule on a table, index or column; only for the owner';

CREATE FUNCTION spanner.unsilence_rule(object regclass, rule text, "column" name DEFAULT NULL)
RETURNS boolean
AS 'MODULE_PATHNAME', 'spanner_unsilence_rule'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION spanner.unsilence_rule(regclass, text, name)
  IS 'undo spanner.silence_rule, and tell whether there was something to undo';
