-- What planner_fuzz needs in its database.
--
-- A case is a list of statements, each with a letter before it:
--	?	returns rows
--	*	the same, run in a way that allows parallel workers
--	+	returns no rows, but can be explained
--	f	returns rows, needs what "+" made (FETCH)
--	x	returns no rows, needs what "+" made (MOVE)
--	=	is run while another session changes fuzz.changed; not by fuzz.run()
--	!	is run for its effect, also when the case is explained
--
-- test/fuzz/planner_fuzz.sql

CREATE SCHEMA fuzz;

-- What another session changes.
CREATE TABLE fuzz.changed (v int NOT NULL, result text);
INSERT INTO fuzz.changed (v) VALUES (-1);

-- A reproducible choice.
CREATE FUNCTION fuzz.pick(n bigint, seed bigint, choices text[])
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN choices[1 + abs(hashint8extended(n, seed) % cardinality(choices))];

-- The value itself, in ways that the planner treats differently.
CREATE FUNCTION fuzz.stable_value(value anyelement)
RETURNS anyelement
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS 'BEGIN RETURN value; END';

CREATE FUNCTION fuzz.volatile_value(value anyelement)
RETURNS anyelement
LANGUAGE plpgsql VOLATILE PARALLEL SAFE
AS 'BEGIN RETURN value; END';

CREATE FUNCTION fuzz.inlined_value(value anyelement)
RETURNS anyelement
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS 'SELECT value';

-- Run a case and undo it.  If explained, the rows are those of the plans.
CREATE FUNCTION fuzz.run(settings text[], statements text[], role text, keyed boolean, explained boolean,
	OUT rows text[], OUT keys text[], OUT state text, OUT message text)
LANGUAGE plpgsql
AS $$
DECLARE
	kind text;
	statement text;
	r record;
	part text[];
	part_keys text[];
BEGIN
	EXECUTE 'DEALLOCATE ALL';
	BEGIN
		FOR i IN 1 .. cardinality(settings) BY 2 LOOP
			PERFORM set_config(settings[i], settings[i + 1], true);
		END LOOP;
		IF role IS NOT NULL THEN
			PERFORM set_config('role', role, true);
		END IF;
		FOR i IN 1 .. cardinality(statements) LOOP
			kind := left(statements[i], 1);
			statement := substr(statements[i], 2);
			CASE
				WHEN explained AND kind IN ('?', '*', '+') THEN
					FOR r IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
						rows := rows || r."QUERY PLAN"::text;
					END LOOP;
				WHEN explained AND kind IN ('f', 'x') THEN
					NULL;
				WHEN kind = '*' AND keyed THEN
					EXECUTE format('SELECT array_agg(%L || q::text), array_agg(q.sort_key) FROM (%s) q', i || ' ', statement)
						INTO part, part_keys;
					rows := rows || part;
					keys := keys || part_keys;
				WHEN kind = '*' THEN
					EXECUTE format('SELECT array_agg(%L || q::text) FROM (%s) q', i || ' ', statement)
						INTO part;
					rows := rows || part;
				WHEN kind IN ('?', 'f') THEN
					FOR r IN EXECUTE statement LOOP
						rows := rows || (i || ' ' || r::text);
						IF keyed THEN
							keys := keys || r.sort_key;
						END IF;
					END LOOP;
				ELSE
					EXECUTE statement;
			END CASE;
		END LOOP;
		RAISE EXCEPTION USING ERRCODE = 'FZ000';
	EXCEPTION
		WHEN SQLSTATE 'FZ000' THEN
			NULL;
		WHEN OTHERS OR assert_failure THEN
			state := SQLSTATE;
			message := SQLERRM;
			rows := NULL;
			keys := NULL;
	END;
END
$$;

CREATE FUNCTION fuzz.sorted(list text[])
RETURNS text[]
LANGUAGE sql IMMUTABLE
AS $$ SELECT array_agg(x ORDER BY x COLLATE "C") FROM unnest(list) x $$;

-- Which features does the plan have that it has not without them?
CREATE FUNCTION fuzz.features(off_plan text[], on_plan text[])
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	equal constant text := '(shard_id\([^()]*\)|\mshard\w*"?)[)]*(::\w+)?[)]* = [^A]|(Index|Recheck) Cond: .* = [^A=]*shard_id\(';
	list constant text := '(shard_id\([^()]*\)|\mshard\w*"?)[)]*(::\w+)?[)]* = ANY';
	off_text text := array_to_string(off_plan, E'\n');
	on_text text := array_to_string(on_plan, E'\n');
	result text := '';
BEGIN
	IF on_text IS NULL OR off_text IS NULL THEN
		RETURN '';
	END IF;
	IF on_text ~ 'SpannerShardMerge' THEN
		result := result || 'm';
	END IF;
	IF on_text ~ 'SpannerShardSkip' THEN
		result := result || 's';
	END IF;
	IF regexp_count(on_text, equal) > regexp_count(off_text, equal) OR
		regexp_count(on_text, 'Scan') < regexp_count(off_text, 'Scan') THEN
		result := result || 'd';
	END IF;
	IF regexp_count(on_text, list) > regexp_count(off_text, list) THEN
		result := result || 'l';
	END IF;
	IF on_text <> off_text THEN
		result := result || 'c';
	END IF;
	RETURN result;
END
$$;

-- Run a case with the features off and on.  "planted" makes the second run
-- lie.  The result starts with "=" or "!" and the SQLSTATE, if any.
CREATE FUNCTION fuzz.compare(settings text[], off_settings text[], on_settings text[], statements text[],
	role text, mode text, explained boolean, planted boolean)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	off_run record;
	on_run record;
	off_plan record;
	on_plan record;
	bad_row constant text := '^new row .*violates (check constraint|row-level security policy)';
	same boolean;
	flags text := '';
BEGIN
	off_run := fuzz.run(settings || off_settings, statements, role, mode = 'keys', false);
	on_run := fuzz.run(settings || on_settings, statements, role, mode = 'keys', false);
	IF planted AND mode = 'total' AND cardinality(on_run.rows) > 1 THEN
		on_run.rows := on_run.rows[2:2] || on_run.rows[1:1] || on_run.rows[3:];
	ELSIF planted THEN
		on_run.rows := on_run.rows[2:];
	END IF;
	IF off_run.state IS DISTINCT FROM on_run.state THEN
		-- two rows may violate a policy and a constraint: the plan says which comes first
		same := off_run.message ~ bad_row AND on_run.message ~ bad_row;
	ELSIF mode = 'total' THEN
		same := off_run.rows IS NOT DISTINCT FROM on_run.rows;
	ELSE
		same := off_run.keys IS NOT DISTINCT FROM on_run.keys AND
			fuzz.sorted(off_run.rows) IS NOT DISTINCT FROM fuzz.sorted(on_run.rows);
	END IF;
	IF explained AND on_run.state IS NULL THEN
		off_plan := fuzz.run(settings || off_settings, statements, role, false, true);
		on_plan := fuzz.run(settings || on_settings, statements, role, false, true);
		flags := ' e' || fuzz.features(off_plan.rows, on_plan.rows);
	END IF;
	RETURN CASE WHEN same THEN '=' ELSE '!' END || coalesce(on_run.state, off_run.state, '') ||
		' ' || coalesce(cardinality(off_run.rows), 0) || flags ||
		coalesce(' # ' || replace(coalesce(on_run.message, off_run.message), E'\n', ' '), '');
END
$$;

-- Show a difference: results and plans, the rows as they come.
CREATE FUNCTION fuzz.show(settings text[], off_settings text[], on_settings text[], statements text[],
	role text, mode text)
RETURNS SETOF text
LANGUAGE plpgsql
AS $$
DECLARE
	result record;
	plan record;
	off_rows text[];
BEGIN
	FOR pass IN 1 .. 2 LOOP
		RETURN NEXT '-- features ' || CASE pass WHEN 1 THEN 'off' ELSE 'on' END;
		result := fuzz.run(settings || CASE pass WHEN 1 THEN off_settings ELSE on_settings END,
			statements, role, mode = 'keys', false);
		plan := fuzz.run(settings || CASE pass WHEN 1 THEN off_settings ELSE on_settings END,
			statements, role, mode = 'keys', true);
		RETURN QUERY SELECT '    ' || x FROM unnest(plan.rows) x;
		IF result.state IS NOT NULL THEN
			RETURN NEXT format('    error %s: %s', result.state, result.message);
		END IF;
		RETURN NEXT format('    %s rows', coalesce(cardinality(result.rows), 0));
		RETURN QUERY SELECT '    | ' || left(x, 200)
			FROM unnest(CASE WHEN mode = 'total' THEN result.rows ELSE fuzz.sorted(result.rows) END) x LIMIT 12;
		IF mode = 'keys' THEN
			RETURN QUERY SELECT '    keys: ' || left(array_to_string(result.keys, ' '), 1000);
		END IF;
		IF pass = 1 THEN
			off_rows := result.rows;
		END IF;
	END LOOP;
	RETURN QUERY SELECT '    only off: ' || left(x, 200)
		FROM (SELECT unnest(off_rows) EXCEPT ALL SELECT unnest(result.rows)) d (x) LIMIT 10;
	RETURN QUERY SELECT '    only on: ' || left(x, 200)
		FROM (SELECT unnest(result.rows) EXCEPT ALL SELECT unnest(off_rows)) d (x) LIMIT 10;
END
$$;
