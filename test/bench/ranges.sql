-- psql variables: "key", a name of key_kind; "values".  Prints results.

SELECT width, expression FROM key_kind WHERE name = :'key' \gset
TRUNCATE key;
INSERT INTO key SELECT :expression, i > :values FROM generate_series(1, :values + 10000) i;

SELECT :'key', format('ranges=%s values=%s', 2 ^ bits, :values), 'largest/mean', round(max(keys) * 2 ^ bits::numeric / :values, 4), 'mean'
  FROM unnest('{4,5,6,7,8,9,10}'::int[]) bits,
       LATERAL (SELECT count(*) AS keys FROM key WHERE NOT next GROUP BY value >> (:width - bits)) r
 GROUP BY bits ORDER BY bits;

-- Where an engine that splits by size has its splits, and where the next keys go.
SELECT percentile_disc(ARRAY(SELECT i / 1024.0::float8 FROM generate_series(1, 1023) i)) WITHIN GROUP (ORDER BY value) AS bounds
  FROM key WHERE NOT next \gset
SELECT :'key', format('ranges=%s values=%s', ranges, 10000), 'next, largest/mean', round(max(keys) * ranges / 10000.0, 4), 'mean'
  FROM unnest('{16,64,256,1024}'::int[]) ranges,
       LATERAL (SELECT count(*) AS keys FROM key WHERE next
                 GROUP BY width_bucket(value, :'bounds'::bigint[]) * ranges / 1024) r
 GROUP BY ranges ORDER BY ranges;
