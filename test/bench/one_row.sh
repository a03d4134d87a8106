#!/bin/bash
#
# one_row.sh
#	  How one row gets a number, by its own means and by an allocator.
#
# To be sourced by a section; the tables are those of allocator.sql.
#
# test/bench/one_row.sh

declare -A one_row=([nextval]="INSERT INTO row_with_key (number) VALUES (nextval('nextval'))"
	[sync]="INSERT INTO row_with_key (number) VALUES (spanner.next_value('sync'))"
	[on_commit]='INSERT INTO invoice DEFAULT VALUES'
	[update]='WITH c AS (UPDATE counter SET number = number + 1 RETURNING number) INSERT INTO row_with_key (number) SELECT number FROM c'
	[sync_by_key]="INSERT INTO row_with_key (number) VALUES (spanner.next_value('sync', :key::text))"
	[async_batch_by_key]="INSERT INTO row_with_key (number) VALUES (spanner.next_value('adaptive', :key::text))"
	[on_commit_by_key]='INSERT INTO invoice_by_key (key) VALUES (:key::text)'
	[update_by_key]='WITH c AS (INSERT INTO counter_by_key AS o VALUES (:key::text, 1)
		ON CONFLICT (key) DO UPDATE SET number = o.number + 1 RETURNING number)
		INSERT INTO row_with_key (number) SELECT number FROM c')
