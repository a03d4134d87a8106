-- what a plan consists of, in short
CREATE FUNCTION plan(query text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    CONTINUE WHEN line !~ 'Cond:|Filter:|Scan|Join|Loop|Merge|Limit|Sort|Append|Or$|Shards|Index:';
    RETURN NEXT replace(line, '::timestamp with time zone', '');
  END LOOP;
END $$;

-- do the settings make a difference for the rows, or for their order?
CREATE FUNCTION same(query text, ordered boolean DEFAULT false) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  results text[];
  result text;
  enabled boolean;
BEGIN
  FOREACH enabled IN ARRAY '{true,false}'::boolean[] LOOP
    PERFORM set_config('spanner_keys.' || name, enabled::text, true)
       FROM unnest('{enable_derived_shard,enable_shard_merge,enable_shard_list}'::text[]) name;
    EXECUTE format('SELECT string_agg(q::text, chr(10) %s) FROM (%s) q',
                   CASE WHEN NOT ordered THEN 'ORDER BY q::text' END, query) INTO result;
    results := results || coalesce(result, 'none');
  END LOOP;
  RETURN results[1] = results[2];
END $$;
