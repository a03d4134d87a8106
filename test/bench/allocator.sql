-- One allocator for each way to draw, and tables for those that number rows.

SET client_min_messages = warning;
CREATE SEQUENCE nextval;
SELECT spanner.create_allocator('sync', mode => 'sync');
SELECT spanner.create_allocator('async', mode => 'async');
SELECT spanner.create_allocator('batch', mode => 'batch', max_batch_size => 200);
SELECT spanner.create_allocator('async_batch', low_water_mark => 50, max_batch_size => 200);
SELECT spanner.create_allocator('adaptive');
SELECT spanner.create_allocator('number', mode => 'on_commit');
CREATE TABLE invoice (id bigserial PRIMARY KEY, number bigint);
CREATE CONSTRAINT TRIGGER number AFTER INSERT ON invoice DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('number', 'number');
CREATE TABLE row_with_key (id bigserial PRIMARY KEY, number bigint);
CREATE TABLE counter (number bigint) WITH (fillfactor = 20);
INSERT INTO counter VALUES (0);
CREATE TABLE invoice_with_room (id bigserial PRIMARY KEY, number bigint) WITH (fillfactor = 45);
CREATE CONSTRAINT TRIGGER number AFTER INSERT ON invoice_with_room DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('number', 'number');
CREATE TABLE invoice_by_key (id bigserial PRIMARY KEY, key text, number bigint);
CREATE CONSTRAINT TRIGGER number AFTER INSERT ON invoice_by_key DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('number', 'number', 'key');
CREATE TABLE counter_by_key (key text PRIMARY KEY, number bigint) WITH (fillfactor = 20);
