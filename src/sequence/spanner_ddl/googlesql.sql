-- Statements of GoogleSQL written for PostgreSQL, which execute_ddl answers with.
-- The text is matched by patterns and not parsed, so people have to look at it.

CREATE FUNCTION spanner.postgresql_ddl(statement text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  sql text := rtrim(statement, E' \t\n;');
  part text[];
  keys text;
  parent text := '';
BEGIN
  IF sql !~* '`|\m(INT64|FLOAT(32|64)|STRING\s*\(|BYTES\s*\(|ARRAY\s*<|NULL_FILTERED|STORING|INTERLEAVE\s+IN|CHANGE\s+STREAM|ROW\s+DELETION|GET_NEXT_SEQUENCE_VALUE)'
     AND sql !~* '\)\s*PRIMARY\s+KEY\s*\([^()]*\)$' THEN
    RETURN NULL;
  END IF;

  -- names, expressions, types
  sql := regexp_replace(sql, '"([^"]*)"', '''\1''', 'g');
  sql := regexp_replace(sql, '`([^`]+)`', '"\1"', 'g');
  sql := regexp_replace(sql, '\s*\.\.\.[ \t]*\n?', E'\n', 'g');
  FOR part IN SELECT m FROM regexp_matches(sql, '\mCAST\s*\(\s*("?)(\w+)\1\s+AS\s+STRING\s*\)', 'gi') m LOOP
    sql := regexp_replace(sql, '\mCAST\s*\(\s*"?' || part[2] || '"?\s+AS\s+STRING\s*\)',
      CASE WHEN sql ~* ('\m' || part[2] || '"?\s+TIMESTAMP')
        THEN 'spanner.timestamp_to_string(' || part[2] || ')' ELSE 'CAST(' || part[2] || ' AS text)' END, 'gi');
  END LOOP;
  sql := regexp_replace(sql, '\m(spanner\.)?FARM_FINGERPRINT\s*\(', 'spanner.farm_fingerprint(', 'gi');
  sql := regexp_replace(sql, '\m(spanner\.)?GENERATE_UUID\s*\(', 'spanner.generate_uuid(', 'gi');
  sql := regexp_replace(sql, '\mGET_NEXT_SEQUENCE_VALUE\s*\(\s*SEQUENCE\s+"?(\w+)"?\s*\)', 'nextval(''\1'')', 'gi');
  sql := regexp_replace(sql, '\m(PENDING_COMMIT|CURRENT)_TIMESTAMP\s*\(\s*\)', 'CURRENT_TIMESTAMP', 'gi');
  sql := regexp_replace(sql, '\m(STRING|BYTES)\s*\(\s*MAX\s*\)', '\1', 'gi');
  sql := regexp_replace(sql, '\mSTRING\s*\(\s*([\w".]+)\s*,', 'spanner.timestamp_to_string(\1,', 'gi');
  sql := regexp_replace(sql, '\mSTRING\s*\(', 'varchar(', 'gi');
  sql := regexp_replace(sql, '\mSTRING\M', 'text', 'gi');
  sql := regexp_replace(sql, '\mBYTES(\s*\(\s*\d+\s*\))?', 'bytea', 'gi');
  sql := regexp_replace(sql, '\mINT64\M', 'bigint', 'gi');
  sql := regexp_replace(sql, '\mFLOAT64\M', 'double precision', 'gi');
  sql := regexp_replace(sql, '\mFLOAT32\M', 'real', 'gi');
  sql := regexp_replace(sql, '\mJSON\M', 'jsonb', 'gi');
  sql := regexp_replace(sql, '(\w"?\s+|<\s*)TIMESTAMP\M', '\1timestamptz', 'gi');
  sql := regexp_replace(sql, '\mARRAY\s*<\s*([^<>]+?)\s*>', '\1[]', 'gi');
  sql := regexp_replace(sql, '\s*\mOPTIONS\s*\([^()]*\)', '', 'gi');
  sql := regexp_replace(sql, '\mGENERATED\s+ALWAYS\s+AS\s*\(', 'AS (', 'gi');
  sql := regexp_replace(sql, '\mAS\s*\(', 'GENERATED ALWAYS AS (', 'gi');

  -- the key behind the columns, and what comes behind the key
  part := regexp_match(sql, '^(.*\S)\s*\)\s*PRIMARY\s+KEY\s*\(([^()]*)\)\s*(.*)$', 'i');
  IF part IS NOT NULL AND sql ~* '^\s*CREATE\s+TABLE' THEN
    keys := regexp_replace(part[2], '\s+(ASC|DESC)\M', '', 'gi');
    IF part[3] ~* 'INTERLEAVE\s+IN\s+PARENT' THEN
      parent := format(E',\n  FOREIGN KEY (%s) REFERENCES %s%s', regexp_replace(keys, ',[^,]*$', ''),
        (regexp_match(part[3], 'INTERLEAVE\s+IN\s+PARENT\s+([\w".]+)', 'i'))[1],
        CASE WHEN part[3] ~* 'ON\s+DELETE\s+CASCADE' THEN ' ON DELETE CASCADE' ELSE '' END);
    END IF;
    sql := format(E'%s,\n  PRIMARY KEY (%s)%s\n)', rtrim(part[1], E', \t\n'), keys, parent);
    part := regexp_match(part[3], 'OLDER_THAN\s*\(\s*([\w"]+)\s*,\s*INTERVAL\s+(\d+)\s+DAY', 'i');
    IF part IS NOT NULL THEN
      sql := sql || format(E'\n-- and regularly DELETE ... WHERE %s < now() - interval ''%s days''', part[1], part[2]);
    END IF;
  END IF;
  sql := regexp_replace(sql, ',(\s*\))', '\1', 'g');

  -- indexes and change streams
  sql := regexp_replace(sql, '\mSTORING\s*\(', 'INCLUDE (', 'gi');
  sql := regexp_replace(sql, ',\s*INTERLEAVE\s+IN\s+(PARENT\s+)?[\w".]+', '', 'gi');
  part := regexp_match(sql, '^(\s*CREATE\s+(?:UNIQUE\s+)?)NULL_FILTERED\s+(INDEX[^(]*\()([^()]*)(\).*)$', 'i');
  IF part IS NOT NULL THEN
    sql := part[1] || part[2] || part[3] || part[4] || E'\nWHERE ' ||
      (SELECT string_agg(regexp_replace(trim(key), '\s+(ASC|DESC)\M', '', 'i') || ' IS NOT NULL', ' AND ')
         FROM regexp_split_to_table(part[3], ',') key);
  END IF;
  sql := regexp_replace(sql, '\mCREATE\s+CHANGE\s+STREAM\s+([\w"]+)\s+FOR\s+ALL\M', 'CREATE PUBLICATION \1 FOR ALL TABLES', 'i');
  sql := regexp_replace(sql, '\mCREATE\s+CHANGE\s+STREAM\s+([\w"]+)\s+FOR\M', 'CREATE PUBLICATION \1 FOR TABLE', 'i');
  sql := regexp_replace(sql, '\mCREATE\s+CHANGE\s+STREAM\M', 'CREATE PUBLICATION', 'i');
  IF sql ~* '\mBIT_REVERSED_POSITIVE\M' THEN
    sql := format('SELECT spanner.execute_ddl(%L)', sql);
  END IF;
  RETURN sql;
END $$;

COMMENT ON FUNCTION spanner.postgresql_ddl(text)
  IS 'a statement of GoogleSQL written for PostgreSQL, NULL if it is none; look at it before you run it';
