-- Who plans a query on a table, alters it or looks at its shard key runs no
-- function of the table's owner.

LOAD 'spanner_keys';
CREATE SCHEMA test_stored_expressions;
SET search_path = test_stored_expressions;
SET max_parallel_workers_per_gather = 0;

CREATE ROLE regress_expression_owner;
GRANT CREATE, USAGE ON SCHEMA test_stored_expressions TO regress_expression_owner;
SET ROLE regress_expression_owner;
CREATE FUNCTION planted(number int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF current_user <> 'regress_expression_owner' THEN
    RAISE WARNING 'the planted function has run with other rights';
  END IF;
  RETURN number;
END $$;
CREATE FUNCTION is_planted(number int) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN planted(number) > 0;
CREATE DOMAIN planted_number AS int CHECK (is_planted(VALUE));

-- the number of shards, and keys that are constant in part
CREATE TABLE modulus (id bigint, shard bigint
  GENERATED ALWAYS AS (abs(mod(spanner.farm_fingerprint(id::text), planted(4)))) STORED,
  PRIMARY KEY (shard, id));
CREATE TABLE sum_of_two (id bigint, shard bigint
  GENERATED ALWAYS AS (mod(spanner.farm_fingerprint(id::text), planted(2) + planted(2))) STORED,
  PRIMARY KEY (shard, id));
CREATE TABLE number_of_domain (id bigint, shard bigint
  GENERATED ALWAYS AS (mod(spanner.farm_fingerprint(id::text), 4::planted_number)) STORED,
  PRIMARY KEY (shard, id));
CREATE TABLE checked (id bigint,
  shard bigint NOT NULL CHECK (shard = mod(spanner.farm_fingerprint(id::text), planted(4))),
  PRIMARY KEY (shard, id));
CREATE TABLE shards (id bigint, shard int
  GENERATED ALWAYS AS (spanner.shard_id(planted(4), id)) STORED, PRIMARY KEY (shard, id));
CREATE TABLE second_key (id bigint, shard int
  GENERATED ALWAYS AS (spanner.shard_id(4, id, planted(4))) STORED, PRIMARY KEY (shard, id));
CREATE TABLE key_in_list (id bigint, shard int
  GENERATED ALWAYS AS (spanner.shard_id(4, id = ANY (ARRAY[1, planted(4)]))) STORED,
  PRIMARY KEY (shard, id));
CREATE TABLE part_of_all (id bigint,
  shard int NOT NULL CHECK (shard = spanner.shard_id(4, id)),
  number int NOT NULL, PRIMARY KEY (shard, id, number)) PARTITION BY LIST (shard);
CREATE TABLE part PARTITION OF part_of_all FOR VALUES IN (0, 1, 2, 3) PARTITION BY RANGE (number);
CREATE TABLE part_of_part PARTITION OF part FOR VALUES FROM (0) TO (9);
CREATE TABLE of_expression (id bigint NOT NULL, number int NOT NULL,
  shard int NOT NULL CHECK (shard = spanner.shard_id(4, id, number))) PARTITION BY RANGE ((planted(1) + number));
CREATE TABLE leaf PARTITION OF of_expression FOR VALUES FROM (0) TO (9);
CREATE INDEX ON leaf (shard, id);
-- what the casts of a constant are
CREATE TABLE casts (id bigint, shard int
  GENERATED ALWAYS AS (spanner.shard_id(4::smallint::bigint::int, id)) STORED,
  PRIMARY KEY (shard, id));
CREATE TABLE more_casts (id bigint, shard bigint
  GENERATED ALWAYS AS (abs(mod(spanner.farm_fingerprint(id::text), 4::smallint))) STORED,
  PRIMARY KEY (shard, id));
CREATE TABLE product (id bigint, shard bigint
  GENERATED ALWAYS AS (abs(mod(spanner.farm_fingerprint(id::text), 2 * 2))) STORED,
  PRIMARY KEY (shard, id));
-- nothing is cached that was evaluated as the owner
\c
LOAD 'spanner_keys';
SET search_path = test_stored_expressions;
SET max_parallel_workers_per_gather = 0;

SELECT tablename, shards, keys, problem FROM spanner.shard_keys
 WHERE schemaname = 'test_stored_expressions' AND declaration IN ('generated column', 'check constraint')
 ORDER BY tablename COLLATE "C";

-- plans, commands, advice
CREATE FUNCTION has_condition_on_shard(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  plan text;
BEGIN
  EXECUTE 'EXPLAIN (COSTS OFF, FORMAT JSON) ' || query INTO plan;
  RETURN plan ~ 'Cond": "[^"]*shard = ';
END $$;
SELECT t, has_condition_on_shard(format('SELECT * FROM %s WHERE id = 3', t)) AS uses_shard
  FROM unnest('{modulus,sum_of_two,number_of_domain,checked,shards,second_key,key_in_list,
                part_of_all,leaf,casts,more_casts,product}'::text[]) t;
ALTER TABLE modulus ADD COLUMN more int;
ALTER TABLE checked ADD COLUMN more int;
ALTER TABLE second_key ADD COLUMN more int;
SELECT count(*) > 0 AS advice FROM spanner.advise('modulus');
SELECT count(*) > 0 AS advice FROM spanner.advise('checked');

SET client_min_messages = warning;
DROP SCHEMA test_stored_expressions CASCADE;
DROP ROLE regress_expression_owner;
