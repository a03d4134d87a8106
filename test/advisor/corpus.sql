-- The advisor's own corpus: what people write, what follows the advice, and what
-- looks like a fault and is none.  The comment on a table has the rules that are
-- to speak for target "splits", in alphabetical order; it is empty where none is.
-- Tables are empty, so that names, types and defaults alone have to tell.

CREATE EXTENSION spanner_keys;
CREATE EXTENSION spanner_keys_advisor;
CREATE SEQUENCE numbers;
CREATE SEQUENCE hib_entity_seq INCREMENT BY 50;
SELECT spanner.create_sequence('reversed', 'bit_reversed_positive');
SELECT spanner.create_sequence('striped', 'striped');
SELECT spanner.create_allocator('bills', mode => 'sync');
CREATE DOMAIN drawn AS bigint DEFAULT nextval('numbers');
CREATE DOMAIN money_time AS timestamptz DEFAULT now();
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE FUNCTION next09() RETURNS bigint LANGUAGE sql AS $$SELECT nextval('numbers') * 10$$;
CREATE FUNCTION snowflake() RETURNS bigint LANGUAGE plpgsql AS
  $$BEGIN RETURN (extract(epoch FROM clock_timestamp()) * 1000)::bigint << 22 | nextval('numbers') & 4095; END$$;
CREATE FUNCTION random_id() RETURNS text LANGUAGE sql AS $$SELECT md5(random()::text)$$;
CREATE FUNCTION fill_id() RETURNS trigger LANGUAGE plpgsql AS
  $$BEGIN NEW.id := nextval('numbers'); RETURN NEW; END$$;
CREATE FUNCTION fill_uuid() RETURNS trigger LANGUAGE plpgsql AS
  $$BEGIN NEW.id := gen_random_uuid(); RETURN NEW; END$$;
CREATE FUNCTION uuid_generate_v1() RETURNS uuid LANGUAGE sql AS $$SELECT gen_random_uuid()$$;
CREATE FUNCTION uuid_generate_v7() RETURNS uuid LANGUAGE sql AS $$SELECT gen_random_uuid()$$;
CREATE FUNCTION ulid_generate() RETURNS text LANGUAGE sql AS $$SELECT 'x'$$;

-- keys that grow
CREATE TABLE a01 (id serial PRIMARY KEY); COMMENT ON TABLE a01 IS 'key_sequence';
CREATE TABLE a02 (id bigserial PRIMARY KEY); COMMENT ON TABLE a02 IS 'key_sequence';
CREATE TABLE a03 (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY); COMMENT ON TABLE a03 IS 'key_sequence';
CREATE TABLE a04 (id bigint DEFAULT nextval('numbers') PRIMARY KEY); COMMENT ON TABLE a04 IS 'key_sequence';
CREATE TABLE a05 (id drawn PRIMARY KEY); COMMENT ON TABLE a05 IS 'key_sequence';
CREATE TABLE a06 (id bigint DEFAULT next09() PRIMARY KEY); COMMENT ON TABLE a06 IS 'key_derived';
CREATE TABLE a07 (id bigint DEFAULT snowflake() PRIMARY KEY); COMMENT ON TABLE a07 IS 'key_uuid';
CREATE TABLE a08 (id bigint PRIMARY KEY, v int); COMMENT ON TABLE a08 IS 'key_derived';
CREATE TRIGGER fill BEFORE INSERT ON a08 FOR EACH ROW EXECUTE FUNCTION fill_id();
CREATE TABLE a09 (id text DEFAULT 'ORD-' || nextval('numbers') PRIMARY KEY); COMMENT ON TABLE a09 IS 'key_derived';
CREATE TABLE a10 (id bigint DEFAULT spanner.next_value('bills') PRIMARY KEY); COMMENT ON TABLE a10 IS 'key_derived';
CREATE TABLE a11 (at timestamptz DEFAULT now() PRIMARY KEY); COMMENT ON TABLE a11 IS 'key_now';
CREATE TABLE a12 (at timestamp DEFAULT LOCALTIMESTAMP, k int, PRIMARY KEY (at, k)); COMMENT ON TABLE a12 IS 'key_now';
CREATE TABLE a13 (at money_time PRIMARY KEY); COMMENT ON TABLE a13 IS 'key_now';
CREATE TABLE a14 (lastaccess timestamptz, userid bigint, PRIMARY KEY (lastaccess, userid)); COMMENT ON TABLE a14 IS 'key_time';
CREATE TABLE a15 (d date, store int, PRIMARY KEY (d, store)); COMMENT ON TABLE a15 IS 'key_time';
CREATE TABLE a16 (id uuid DEFAULT uuid_generate_v1() PRIMARY KEY); COMMENT ON TABLE a16 IS 'key_uuid';
CREATE TABLE a17 (id uuid DEFAULT uuid_generate_v7() PRIMARY KEY); COMMENT ON TABLE a17 IS 'key_uuid';
CREATE TABLE a18 (id text DEFAULT ulid_generate() PRIMARY KEY); COMMENT ON TABLE a18 IS 'key_uuid';
CREATE TABLE a19 (id text DEFAULT 'inv_' || to_char(now(), 'YYYYMM') || gen_random_uuid() PRIMARY KEY); COMMENT ON TABLE a19 IS 'key_now';
CREATE TABLE a20 (id bigint DEFAULT extract(epoch FROM now())::bigint PRIMARY KEY); COMMENT ON TABLE a20 IS 'key_now';
CREATE TABLE hib_entity (id bigint PRIMARY KEY); COMMENT ON TABLE hib_entity IS 'key_application_sequence';

-- keys that grow at a few places
CREATE TABLE b01 (active bool, created timestamptz DEFAULT now(), id int, PRIMARY KEY (active, created, id)); COMMENT ON TABLE b01 IS 'key_few_prefixes';
CREATE TABLE b02 (region text, id bigserial, PRIMARY KEY (region, id)); COMMENT ON TABLE b02 IS 'key_few_prefixes';
CREATE TABLE b03 (how mood, at timestamptz DEFAULT now(), PRIMARY KEY (how, at)); COMMENT ON TABLE b03 IS 'key_few_prefixes';
CREATE TABLE b04 (id uuid PRIMARY KEY, status text, created_at timestamptz); COMMENT ON TABLE b04 IS 'key_few_prefixes';
CREATE INDEX ON b04 (status, created_at);
CREATE TABLE b05 (id uuid PRIMARY KEY, priority int, run_at timestamptz); COMMENT ON TABLE b05 IS 'key_few_prefixes';
CREATE INDEX ON b05 (priority, run_at);

-- indexes that grow
CREATE TABLE c01 (id uuid PRIMARY KEY, created_at timestamptz); CREATE INDEX ON c01 (created_at); COMMENT ON TABLE c01 IS 'key_time';
CREATE TABLE c02 (id uuid PRIMARY KEY, at timestamptz DEFAULT now()); CREATE INDEX ON c02 (at DESC); COMMENT ON TABLE c02 IS 'key_now';
CREATE TABLE c03 (id uuid PRIMARY KEY, number bigserial UNIQUE); COMMENT ON TABLE c03 IS 'key_sequence';
CREATE TABLE c04 (id uuid PRIMARY KEY, ts timestamptz); CREATE INDEX ON c04 (date_trunc('day', ts AT TIME ZONE 'UTC')); COMMENT ON TABLE c04 IS 'key_time';
CREATE TABLE c05 (id uuid PRIMARY KEY, other uuid DEFAULT uuid_generate_v7()); CREATE INDEX ON c05 (other); COMMENT ON TABLE c05 IS 'key_uuid';
CREATE TABLE c06 (id uuid PRIMARY KEY, updated_on date, k int); CREATE INDEX ON c06 (updated_on, k); COMMENT ON TABLE c06 IS 'key_time';
CREATE TABLE c07 (id uuid PRIMARY KEY, n bigserial); CREATE INDEX ON c07 ((n + 1)); COMMENT ON TABLE c07 IS 'key_sequence';

-- keys that are missing, redundant indexes, counters, shards that do not serve
CREATE TABLE d01 (a int, b int); COMMENT ON TABLE d01 IS 'key_missing';
CREATE TABLE d02 (a int NOT NULL UNIQUE); COMMENT ON TABLE d02 IS 'key_missing';
CREATE TABLE d03 (id uuid PRIMARY KEY, a int, b int); CREATE INDEX ON d03 (a); CREATE INDEX ON d03 (a, b); COMMENT ON TABLE d03 IS 'index_redundant';
CREATE TABLE d04 (id uuid PRIMARY KEY); CREATE UNIQUE INDEX ON d04 (id); COMMENT ON TABLE d04 IS 'index_redundant';
CREATE TABLE d05 (name text PRIMARY KEY, next_val bigint); COMMENT ON TABLE d05 IS 'counter_table';
CREATE TABLE d06 (shard int DEFAULT (random() * 16)::int, at timestamptz, PRIMARY KEY (shard, at)); COMMENT ON TABLE d06 IS 'shard_random';
CREATE TABLE d07 (shard_id int GENERATED ALWAYS AS (spanner.shard_id(1, k)) STORED, k int, PRIMARY KEY (shard_id, k)); COMMENT ON TABLE d07 IS 'shard_count_small';
CREATE TABLE d08 (shard_id int GENERATED ALWAYS AS (spanner.shard_id(8, k)) STORED, k int PRIMARY KEY); COMMENT ON TABLE d08 IS 'shard_unused';
CREATE TABLE d09 (s bigint GENERATED ALWAYS AS (mod(spanner.farm_fingerprint(k), 16)) STORED, k text, PRIMARY KEY (s, k)); COMMENT ON TABLE d09 IS 'shard_signed';
CREATE TABLE d10 (id bigint DEFAULT nextval('reversed') PRIMARY KEY, CHECK (id % 2 = 0)); COMMENT ON TABLE d10 IS 'key_modulo';
CREATE TABLE d11 (id uuid PRIMARY KEY);
CREATE TABLE d12 (id uuid PRIMARY KEY, parent uuid NOT NULL REFERENCES d11 ON DELETE CASCADE); COMMENT ON TABLE d12 IS 'child_not_interleaved';

-- what follows the advice: silent
CREATE TABLE e01 (id bigint DEFAULT nextval('reversed') PRIMARY KEY);
CREATE TABLE e02 (id bigint DEFAULT nextval('striped') PRIMARY KEY);
CREATE TABLE e03 (id uuid DEFAULT gen_random_uuid() PRIMARY KEY);
CREATE TABLE e04 (id text DEFAULT spanner.generate_uuid() PRIMARY KEY);
CREATE TABLE e05 (shard_id int GENERATED ALWAYS AS (spanner.shard_id(16, at, u)) STORED, at timestamptz, u int, PRIMARY KEY (shard_id, at, u));
CREATE TABLE e06 (shard_id int NOT NULL CHECK (shard_id = spanner.shard_id(16, u)), at timestamptz, u int, PRIMARY KEY (shard_id, at, u));
CREATE TABLE e07 (s bigint GENERATED ALWAYS AS (abs(mod(spanner.farm_fingerprint(k), 16))) STORED, k text, PRIMARY KEY (s, k));
CREATE TABLE e08 (userid bigint, lastaccess timestamptz, PRIMARY KEY (userid, lastaccess));
CREATE TABLE e09 (id uuid PRIMARY KEY, at timestamptz DEFAULT now()); CREATE INDEX ON e09 (spanner.shard_id(16, at), at);
CREATE TABLE e10 (groupname text, hash_prefix int, username text, PRIMARY KEY (groupname, hash_prefix, username));
CREATE TABLE e11 (groupname text, join_date date, joined timestamptz, PRIMARY KEY (groupname, join_date, joined));
CREATE TABLE e12 (id uuid PRIMARY KEY);
CREATE TABLE e13 (parent uuid REFERENCES e12 ON DELETE CASCADE, line int, PRIMARY KEY (parent, line));
CREATE TABLE e14 (id uuid PRIMARY KEY, owner uuid, created_at timestamptz); CREATE INDEX ON e14 (owner, created_at);
CREATE TABLE e15 (id bigint DEFAULT spanner.bit_reverse(spanner.next_value('bills'), true) PRIMARY KEY);
CREATE TABLE e16 (id bigint PRIMARY KEY, v int) PARTITION BY HASH (id);
CREATE TABLE e17 (d date, u int, shard_id int GENERATED ALWAYS AS (spanner.shard_id(4, u)) STORED, PRIMARY KEY (shard_id, d, u));

-- what looks like a fault and is none: silent
CREATE TABLE f01 (id uuid PRIMARY KEY, deleted_at timestamptz); CREATE INDEX ON f01 (deleted_at);
CREATE TABLE f02 (id uuid PRIMARY KEY, expires_at timestamptz); CREATE INDEX ON f02 (expires_at);
CREATE TABLE f03 (id text DEFAULT 'now()' PRIMARY KEY);
CREATE TABLE f04 (id text DEFAULT random_id() PRIMARY KEY);
CREATE TABLE f05 (id uuid PRIMARY KEY, v int); CREATE TRIGGER fill BEFORE INSERT ON f05 FOR EACH ROW EXECUTE FUNCTION fill_uuid();
CREATE TABLE f06 (isbn text PRIMARY KEY, title text);
CREATE TABLE f07 (id uuid PRIMARY KEY, birth_date date); CREATE INDEX ON f07 (birth_date);
CREATE TABLE f08 (id uuid PRIMARY KEY, due_on date); CREATE INDEX ON f08 (due_on);
CREATE TABLE f09 (id uuid PRIMARY KEY, status text, owner uuid); CREATE INDEX ON f09 (status, owner);
CREATE TABLE f10 (id uuid PRIMARY KEY, at timestamptz); CREATE INDEX ON f10 USING brin (at);
CREATE TABLE f11 (id uuid PRIMARY KEY, a int, b int); CREATE INDEX ON f11 (a); CREATE INDEX ON f11 (b, a);
CREATE TABLE f12 (id uuid PRIMARY KEY, a int); CREATE INDEX ON f12 (a) WHERE a > 0; CREATE INDEX ON f12 (a);
CREATE TABLE f13 (id uuid PRIMARY KEY, name text UNIQUE, next_steps text);
CREATE TABLE f14 (id bigint DEFAULT nextval('reversed') PRIMARY KEY, CHECK (id % 3 >= 0));
CREATE TABLE f15 (id uuid PRIMARY KEY, next_run_at timestamptz); CREATE INDEX ON f15 (next_run_at);
CREATE TABLE f16 (id uuid PRIMARY KEY, valid_from date, valid_until date); CREATE INDEX ON f16 (valid_until);
CREATE TABLE f17 (id text DEFAULT md5(now()::text) PRIMARY KEY);
CREATE TABLE f18 (id bigint DEFAULT 0 PRIMARY KEY);
CREATE TABLE f19 (id uuid PRIMARY KEY, note text DEFAULT 'nextval of random() now');
CREATE TABLE f20 (code char(2) PRIMARY KEY, name text);
