-- A draw needs the rights that it needs of a sequence without a kind, whatever draws: a default, a view, a rule, a trigger, a function.
SET client_min_messages = warning;
CREATE ROLE regress_draw_owner;
CREATE ROLE regress_draw;
CREATE TABLE drawn (kind text, rights text, n bigint, statement text, result text);
GRANT ALL ON drawn TO regress_draw;
CREATE FUNCTION try(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
  RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
  RETURN concat(sqlstate, ' ', sqlerrm);
END $$;
-- all that draws, made by the owner
CREATE PROCEDURE make(kind text) LANGUAGE plpgsql SET search_path = dp AS $$
BEGIN
  CREATE SCHEMA dp;
  GRANT ALL ON SCHEMA dp TO regress_draw_owner;
  GRANT USAGE ON SCHEMA dp TO regress_draw;
  SET LOCAL ROLE regress_draw_owner;
  PERFORM set_config('spanner.default_sequence_kind', kind, true);
  CREATE SEQUENCE s;
  CREATE TABLE plain (id bigint DEFAULT nextval('s'), v text);
  CREATE TABLE identity (id bigint GENERATED ALWAYS AS IDENTITY, v text);
  CREATE DOMAIN number AS bigint DEFAULT nextval('dp.s');
  CREATE TABLE typed (id number, v text);
  CREATE TABLE ruled (v text);
  CREATE RULE plain AS ON INSERT TO ruled DO INSTEAD INSERT INTO plain (v) VALUES (new.v);
  CREATE VIEW of_plain AS SELECT * FROM plain;
  ALTER VIEW of_plain ALTER COLUMN id SET DEFAULT nextval('dp.s');
  CREATE VIEW of_values AS SELECT v FROM plain;
  CREATE VIEW of_invoker WITH (security_invoker) AS SELECT * FROM plain;
  CREATE VIEW of_typed AS SELECT * FROM typed;
  CREATE VIEW of_identity AS SELECT * FROM identity;
  CREATE VIEW of_view AS SELECT * FROM of_identity;
  CREATE VIEW next AS SELECT nextval('s');
  CREATE VIEW current AS SELECT currval('s');
  CREATE FUNCTION definer() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT nextval(''dp.s'')';
  CREATE FUNCTION invoker() RETURNS bigint LANGUAGE sql AS 'SELECT nextval(''dp.s'')';
  CREATE FUNCTION by_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN new.id := nextval(''dp.s''); RETURN new; END';
  CREATE TABLE triggered (id bigint, v text);
  CREATE TRIGGER number BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION by_trigger();
  CREATE FUNCTION by_owner() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN new.id := nextval(''dp.s''); RETURN new; END';
  CREATE TABLE trusted (id bigint, v text);
  CREATE TRIGGER number BEFORE INSERT ON trusted FOR EACH ROW EXECUTE FUNCTION by_owner();
  GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA dp TO regress_draw;
END $$;
CREATE PROCEDURE draw(kind text, rights text) LANGUAGE plpgsql SET search_path = dp, public AS $$
BEGIN
  IF rights <> 'none' THEN
    EXECUTE format('GRANT %s ON SEQUENCE dp.s TO regress_draw', rights);
  END IF;
  SET LOCAL ROLE regress_draw;
  -- in their order: each statement leaves currval() and lastval() to the next
  FOR i IN 1 .. 24 LOOP
    INSERT INTO drawn SELECT kind, rights, i, statement, try(statement)
      FROM unnest('{INSERT INTO plain (v) VALUES (1), SELECT definer(), SELECT lastval(),
        INSERT INTO plain (v) VALUES (1), INSERT INTO typed (v) VALUES (1), INSERT INTO ruled VALUES (1), INSERT INTO of_plain (v) VALUES (1),
        INSERT INTO of_values VALUES (1), INSERT INTO of_invoker (v) VALUES (1), INSERT INTO of_typed (v) VALUES (1), INSERT INTO of_identity (v) VALUES (1),
        INSERT INTO of_view (v) VALUES (1), INSERT INTO identity (v) VALUES (1), SELECT lastval(), SELECT * FROM next, SELECT * FROM current,
        SELECT currval(''s''), SELECT invoker(), INSERT INTO triggered (v) VALUES (1), INSERT INTO trusted (v) VALUES (1), INSERT INTO of_plain SELECT nextval(''s''),
        WITH w AS (INSERT INTO of_plain (v) VALUES (2) RETURNING id) SELECT * FROM w, SELECT last_value FROM s, "SELECT setval(''s'', 500)"}'::text[])
           WITH ORDINALITY x (statement, n) WHERE n = i;
  END LOOP;
END $$;
SELECT format(c, k, r) FROM unnest('{local,bit_reversed_positive,striped}'::text[]) WITH ORDINALITY x (k, n)
  CROSS JOIN unnest('{none,USAGE,SELECT,UPDATE}'::text[]) WITH ORDINALITY y (r, m)
  CROSS JOIN unnest('{CALL make(%1$L),SELECT count(*) AS with_a_kind FROM pg_seclabel WHERE objoid IN (to_regclass($$dp.s$$)\,to_regclass($$dp.identity_id_seq$$)),"CALL draw(%1$L, %2$L)",DROP SCHEMA dp CASCADE}'::text[]) WITH ORDINALITY z (c, o) ORDER BY n, m, o
\gexec

-- what differs from a sequence without a kind: nothing
SELECT kind, count(*), count(*) FILTER (WHERE result = 'ok') AS allowed FROM drawn GROUP BY 1 ORDER BY 1;
SELECT d.*, l.result AS local FROM drawn d JOIN drawn l USING (rights, n) WHERE l.kind = 'local' AND d.result <> l.result;
SELECT statement, string_agg(rights, ', ' ORDER BY rights) AS allowed_with FROM drawn WHERE kind = 'local' AND result = 'ok' GROUP BY n, 1 ORDER BY n;
DROP PROCEDURE make, draw;
DROP FUNCTION try;
DROP TABLE drawn;
DROP ROLE regress_draw, regress_draw_owner;
