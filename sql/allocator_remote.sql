--
-- Allocators of other servers: what can be said without another server
--

-- An option of the server belongs to the mode, and the other way round
\set VERBOSITY terse
CREATE FOREIGN DATA WRAPPER wrapper;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER wrapper;
SELECT spanner.create_allocator('far', mode => 'remote');
SELECT spanner.create_allocator('far', server => 'elsewhere');
SELECT spanner.create_allocator('far', mode => 'remote', server => 'nowhere');
\set VERBOSITY default

-- In the transaction that creates it, it cannot be used
BEGIN;
SELECT spanner.create_allocator('far', mode => 'remote', server => 'elsewhere') > 0 AS created;
SELECT spanner.next_value('far');
ROLLBACK;

-- The name over there is the name here, if not said otherwise
SELECT spanner.create_allocator('far', mode => 'remote', server => 'elsewhere') > 0 AS created;
SELECT spanner.create_allocator('further', mode => 'remote', server => 'elsewhere', remote_name => 'Far') > 0 AS created;
SELECT name, mode, server, remote_name FROM spanner.allocator WHERE mode = 'remote' ORDER BY name;

-- Without dblink there are no values
SELECT spanner.next_value('far');
SELECT * FROM spanner.next_values('far', 3);
SELECT * FROM spanner.reserve_block('further', 3);
SELECT name, last_error FROM spanner.stat_allocator WHERE name = 'far' AND series = '{}';

-- There is nothing to give back, and no value to keep the other server from giving
SELECT spanner.release_allocator('far');
SELECT spanner.advance_allocator('further', 1000);

-- What is given changes, the rest stays
SELECT spanner.alter_allocator('further', failover_gap => 10, remote_name => 'other');
SELECT mode, server, remote_name, failover_gap FROM spanner.allocator WHERE name = 'further';
SELECT spanner.create_allocator('moved', mode => 'batch') > 0 AS created;
SELECT spanner.next_value('moved', 'series');
SELECT spanner.alter_allocator('moved', mode => 'remote', server => 'elsewhere');
SELECT mode, server, remote_name FROM spanner.allocator WHERE name = 'moved' AND series = '{}';
SELECT spanner.alter_allocator('moved', server => 'nowhere');
SELECT spanner.next_value('moved', 'series');
SELECT spanner.next_value('moved', 'new');
SELECT spanner.drop_allocator('moved');

-- A server that is dropped is missed when values are needed
DROP SERVER elsewhere;
SELECT spanner.next_value('far');

-- Another mode needs no server
SELECT spanner.alter_allocator('far', mode => 'batch');
SELECT spanner.next_value('far');
SELECT name, mode, server, remote_name FROM spanner.allocator WHERE name = 'far' AND series = '{}';

SELECT spanner.drop_allocator('far');
SELECT spanner.drop_allocator('further');
DROP FOREIGN DATA WRAPPER wrapper;
