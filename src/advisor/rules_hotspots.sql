/* src/advisor/rules_hotspots.sql */

--
-- Advisor: keys and indexes that grow at one end
--
-- The rules differ in what the suspicion rests on.
--

CREATE FUNCTION spanner_internal.rule_key_derived(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT k.relid, k.indexid, k.attnum, k.object,
         format('column %s comes first in the primary key and is made of ascending numbers: %s', k.quoted, k.expr) || k.decide,
         k.suggestion
    FROM unnest((facts).hotspots) k
   WHERE k.is_key AND k.why = 'derived';
END;

CREATE FUNCTION spanner_internal.rule_key_now(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT k.relid, k.indexid, k.attnum, k.object,
         format('column %s comes first in the primary key and its default is %s: all inserts go to one end of the key range', k.quoted, k.expr) || k.decide,
         k.suggestion
    FROM unnest((facts).hotspots) k
   WHERE k.is_key AND k.why = 'now';
END;

CREATE FUNCTION spanner_internal.rule_key_uuid_default(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT k.relid, k.indexid, k.attnum, k.object,
         format('column %s comes first in the primary key and its default, %s, begins with the time', k.quoted, k.expr)
         || CASE WHEN r.random IS NULL THEN '; decide on a random one' ELSE '' END,
         format('ALTER TABLE %s ALTER COLUMN %s SET DEFAULT ', k.ident, k.quoted) || r.random
    FROM unnest((facts).hotspots) k
   CROSS JOIN LATERAL (SELECT CASE WHEN EXISTS (SELECT FROM pg_attrdef d WHERE d.adrelid = k.relid AND d.adnum = k.attnum) THEN
           CASE WHEN k.type = 'uuid'::regtype THEN 'gen_random_uuid()'
                WHEN k.type = ANY ('{text,varchar}'::regtype[]) THEN 'spanner.generate_uuid()' END END AS random) r
   WHERE k.is_key AND k.why = 'uuid';
END;

CREATE FUNCTION spanner_internal.rule_index_now(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT i.relid, i.indexid, i.attnum, i.object,
         format('%s, whose default is %s: all inserts go to one end of it, whatever its order', i.starts, i.expr) || i.decide,
         i.suggestion
    FROM unnest((facts).hotspots) i
   WHERE NOT i.is_key AND i.why = ANY ('{now}');
END;

CREATE FUNCTION spanner_internal.rule_key_time(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT k.relid, k.indexid, k.attnum, k.object,
         format('column %s comes first in the primary key: if rows are inserted in the order of this time, all go to one end', k.quoted) || k.decide,
         k.suggestion
    FROM unnest((facts).hotspots) k
   WHERE k.is_key AND k.why = 'time';
END;

CREATE FUNCTION spanner_internal.rule_key_uuid_data(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT k.relid, k.indexid, k.attnum, k.object,
         format('column %s comes first in the primary key and holds UUIDs that begin with the time; have the application make random ones (version 4)', k.quoted) || k.decide,
         k.suggestion
    FROM unnest((facts).hotspots) k
   WHERE k.is_key AND k.why = 'uuid_data';
END;

CREATE FUNCTION spanner_internal.rule_key_few_prefixes(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT k.relid, k.indexid, k.attnum, k.object,
         k.starts || ': all inserts go to as many places' || k.decide, k.suggestion
    FROM unnest((facts).hotspots) k
   WHERE k.is_key AND k.why = 'few';
END;

CREATE FUNCTION spanner_internal.rule_index_few_prefixes(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT k.relid, k.indexid, k.attnum, k.object,
         k.starts || ': all inserts go to as many places' || k.decide, k.suggestion
    FROM unnest((facts).hotspots) k
   WHERE NOT k.is_key AND k.why = 'few';
END;

CREATE FUNCTION spanner_internal.rule_index_time(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT i.relid, i.indexid, i.attnum, i.object,
         format('%s: if rows are inserted in the order of this time, all go to one end of it', i.starts) || i.decide,
         i.suggestion
    FROM unnest((facts).hotspots) i
   WHERE NOT i.is_key AND i.why = ANY ('{time}');
END;

CREATE FUNCTION spanner_internal.rule_index_uuid(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT i.relid, i.indexid, i.attnum, i.object,
         format('%s, whose values begin with the time or a counter', i.starts) || i.decide,
         i.suggestion
    FROM unnest((facts).hotspots) i
   WHERE NOT i.is_key AND i.why = ANY ('{uuid,uuid_data,derived}');
END;

CREATE FUNCTION spanner_internal.rule_key_ascending_data(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT k.relid, k.indexid, k.attnum, k.object,
         format('the rows are stored in the order of %s, which comes first in the primary key: they were loaded so, or it ascends', k.quoted) || k.decide,
         k.suggestion
    FROM unnest((facts).hotspots) k
   WHERE k.is_key AND k.why = 'ascending_data';
END;

CREATE FUNCTION spanner_internal.rule_index_ascending_data(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT i.relid, i.indexid, i.attnum, i.object,
         format('the rows are stored in the order of %s, with which the index begins: they were loaded so, or it ascends', i.quoted) || i.decide,
         i.suggestion
    FROM unnest((facts).hotspots) i
   WHERE NOT i.is_key AND i.why = ANY ('{ascending_data}');
END;

COMMENT ON FUNCTION spanner_internal.rule_key_derived(spanner_internal.advisor_facts) IS 'rule of spanner.advise';
COMMENT ON FUNCTION spanner_internal.rule_key_now(spanner_internal.advisor_facts) IS 'rule of spanner.advise';
COMMENT ON FUNCTION spanner_internal.rule_key_uuid_default(spanner_internal.advisor_facts) IS 'rule of spanner.advise';
COMMENT ON FUNCTION spanner_internal.rule_index_now(spanner_internal.advisor_facts) IS 'rule of spanner.advise';
COMMENT ON FUNCTION spanner_internal.rule_key_time(spanner_internal.advisor_facts) IS 'rule of spanner.advise';
COMMENT ON FUNCTION spanner_internal.rule_key_uuid_data(spanner_internal.advisor_facts) IS 'rule of spanner.advise';
COMMENT ON FUNCTION spanner_internal.rule_key_few_prefixes(spanner_internal.advisor_facts) IS 'rule of spanner.advise';
COMMENT ON FUNCTION spanner_internal.rule_index_few_prefixes(spanner_internal.advisor_facts) IS 'rule of spanner.advise';
COMMENT ON FUNCTION spanner_internal.rule_index_time(spanner_internal.advisor_facts) IS 'rule of spanner.advise';
COMMENT ON FUNCTION spanner_internal.rule_index_uuid(spanner_internal.advisor_facts) IS 'rule of spanner.advise';
COMMENT ON FUNCTION spanner_internal.rule_key_ascending_data(spanner_internal.advisor_facts) IS 'rule of spanner.advise';
COMMENT ON FUNCTION spanner_internal.rule_index_ascending_data(spanner_internal.advisor_facts) IS 'rule of spanner.advise';

INSERT INTO spanner.advisor_rule
SELECT r.rule, r.place, r.severity, '{splits,spanner}',
       CASE WHEN r.rule OPERATOR(pg_catalog.~~) 'key%' THEN
         'on one server that is no fault: it matters once the table is split by ranges of the key, and until then a shard in front makes each read in order of the key look at every shard' END,
       r.explanation
  FROM (VALUES
  ('key_derived', 30, 'warning', 'The first column of a primary key is computed from an ascending sequence, as in ''ORD-'' || nextval(''s''), or drawn from an allocator, by a default, a function or a trigger.'),
  ('key_now', 40, 'warning', 'The first column of a primary key is the time of insertion. Put another column first, or a shard id.'),
  ('key_uuid_default', 50, 'warning', 'The default of a key makes UUIDs of version 1, 6 or 7, or the like, whose high-order bits are a time. Version 4 is random.'),
  ('index_now', 80, 'warning', 'The first column of an index is the time of insertion. Begin with the entity that is asked about, or with a shard id. Descending order only moves the hotspot to the other end.'),
  ('key_time', 120, 'notice', 'The first column of a primary key is a timestamp or a date, and statistics do not say that it is scattered. Put another column first, or a shard id.'),
  ('key_uuid_data', 130, 'notice', 'Statistics or rows show that a key holds UUIDs of version 1, 6 or 7.'),
  ('key_few_prefixes', 132, 'notice', 'The first column of a primary key has few values, such as a status or a region, and the second one grows. Inserts go to as many places as there are values. Put a shard id first.'),
  ('index_few_prefixes', 134, 'notice', 'The same for an index.'),
  ('index_time', 140, 'notice', 'The first column of an index is a timestamp or a date, or an expression that grows with it, and statistics do not say that it is scattered.'),
  ('index_uuid', 150, 'notice', 'The first column of an index holds UUIDs of version 1, 6 or 7, or values made of an ascending sequence.'),
  ('key_ascending_data', 230, 'info', 'Statistics or rows show that the first column of a key, of whatever type, was inserted in ascending or descending order.'),
  ('index_ascending_data', 240, 'info', 'The same for the first column of an index.')) r (rule, place, severity, explanation);
