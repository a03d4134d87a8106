#!/bin/bash
#
# advisor.sh
#	  What advice on a database of many tables costs.
#
# The CPU time of a session that asks for everything, in a database of tables
# with a serial key and two more indexes.  Nothing is in the tables: what counts
# is the catalog.  Target "splits" has the most to say.  At first the tables
# have never been analyzed.
#
# test/bench/advisor.sh

. test/bench/common.sh

tables=$(sized 10000 1000)

bench_start fsync=off autovacuum=off shared_buffers=256MB max_locks_per_transaction=1000
sql > "$log" << SQL
SET client_min_messages = warning;
CREATE EXTENSION spanner_keys_advisor;
DO \$\$
BEGIN
  FOR i IN 1 .. $tables LOOP
    EXECUTE format('CREATE TABLE t%s (id bigserial PRIMARY KEY, customer integer, at timestamptz)', i);
    EXECUTE format('CREATE INDEX ON t%s (customer)', i);
    EXECUTE format('CREATE INDEX ON t%s (at)', i);
    IF i % 500 = 0 THEN
      COMMIT;
    END IF;
  END LOOP;
END \$\$;
CREATE FUNCTION cpu_ns() RETURNS numeric LANGUAGE sql VOLATILE
  AS \$\$ SELECT split_part(pg_read_file('/proc/self/schedstat', 0, 64), ' ', 1)::numeric \$\$;
VACUUM pg_catalog.pg_class, pg_catalog.pg_attribute, pg_catalog.pg_depend;
SQL
for analyzed in no yes
do
	[ "$analyzed" = no ] || sql -c 'ANALYZE' > "$log"
	for ((round = 1; round <= $(sized 5 2); round++))
	do
		progress "analyzed: $analyzed, round $round"
		record advise "tables=10000 analyzed=$analyzed" 'CPU time' "$(sql << SQL | tail -n 1
SELECT cpu_ns() AS start \\gset
SELECT count(*) FROM spanner.advise(target => 'splits');
SELECT round((cpu_ns() - :start) / 1e9 * 10000 / $tables, 3);
SQL
)" s
	done
done
