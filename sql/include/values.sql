SET timezone = 'UTC';
SET datestyle = 'ISO';
SET client_min_messages = error;
-- A view of an expression of GoogleSQL, its value, and the text that it is exported as.
CREATE FUNCTION value_of(expression text, OUT value text, OUT export text) LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM spanner.execute_ddl(format('CREATE VIEW v SQL SECURITY INVOKER AS SELECT %s AS x', expression), 'googlesql');
    EXECUTE 'SELECT x::text FROM v' INTO value;
    SELECT substring(spanner_internal.googlesql_query('v'::regclass) FROM '^SELECT (.*) AS x$') INTO export;
    DROP VIEW v;
  EXCEPTION WHEN OTHERS THEN
    value := SQLSTATE || ' ' || SQLERRM;
  END $$;
CREATE TABLE cases (id serial, expression text, expected text);
