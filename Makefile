# spanner_keys: primary keys without hotspots
#
#   make, make install, make installcheck    as for every extension (PGXS)
#   make demo, demo-cluster, test, bench     need nothing but root or sudo
#   make check                               the first minutes of make test, while you change things
#   make lint, indent, matrix, asan, valgrind, coverage, analyze, core-check, soak    for developers: test/README.md
#   make assert-check PGSOURCE=/path/to/postgresql    on a server with assertions, built from a checkout
#   make clients                             real clients: test/clients/README.md
#   make suites DJANGO=/path/to/django       frameworks' own tests: test/suites/README.md
#   make citus CITUS=/path/to/citus          a cluster of Citus, built from a checkout
#   make deb-check, dist                     packages: CONTRIBUTING.md

EXTENSION = spanner_keys spanner_keys_ddl spanner_keys_advisor spanner_keys_splits
MODULE_big = spanner_keys
PGFILEDESC = "spanner_keys - primary keys without hotspots"


OBJS = \
	src/spanner_keys.o \
	src/advisor/expressions.o \
	src/advisor/sample.o \
	src/allocator/allocator.o \
	src/allocator/cache.o \
	src/allocator/commands.o \
	src/allocator/commit_number.o \
	src/allocator/number_rows.o \
	src/allocator/pool.o \
	src/allocator/row.o \
	src/allocator/table.o \
	src/allocator/worker.o \
	src/keys/canonical.o \
	src/keys/farmhash.o \
	src/keys/key_functions.o \
	src/keys/shard_id.o \
	src/keys/time_zone.o \
	src/planner/derive.o \
	src/planner/fill_shard.o \
	src/planner/key_expression.o \
	src/planner/merge_path.o \
	src/planner/merge_scan.o \
	src/planner/parent_quals.o \
	src/planner/planner.o \
	src/planner/shard_clause.o \
	src/planner/shard_index.o \
	src/planner/shard_key.o \
	src/planner/shard_keys_view.o \
	src/planner/shard_statistics.o \
	src/sequence/binding.o \
	src/sequence/builtin_kinds.o \
	src/sequence/core_support.o \
	src/sequence/identity.o \
	src/sequence/kind.o \
	src/sequence/label.o \
	src/sequence/partition_bounds.o \
	src/sequence/plan_fetch.o \
	src/sequence/sequence.o \
	src/sequence/counter.o \
	src/sequence/sequence_change.o \
	src/sequence/sequence_commands.o \
	src/sequence/sequence_ddl.o \
	src/sequence/sequence_functions.o \
	src/spanner_ddl/catalog.o \
	src/spanner_ddl/execute.o \
	src/spanner_ddl/expired.o \
	src/spanner_ddl/export.o \
	src/spanner_ddl/expression.o \
	src/spanner_ddl/googlesql.o \
	src/spanner_ddl/grammar.o \
	src/spanner_ddl/objects.o \
	src/spanner_ddl/refusals.o \
	src/spanner_ddl/scanner.o \
	src/spanner_ddl/sequences.o \
	src/spanner_ddl/tables.o \
	src/spanner_ddl/vocabulary.o \
	src/spi/command_hooks.o \
	src/spi/own_objects.o \
	src/spi/owner_rights.o \
	src/spi/relation_query.o \
	src/spi/row_writer.o \
	src/spi/run_command.o \
	src/splits/splits.o

# The install scripts are put together from parts of the modules, in this order.
SQL_spanner_keys = \
	src/spanner_keys.sql \
	src/keys/keys.sql \
	src/sequence/sequence.sql \
	src/sequence/split_points.sql \
	src/allocator/allocator.sql \
	src/allocator/share_allocator.sql \
	src/planner/planner.sql
SQL_spanner_keys_ddl = \
	src/spanner_ddl/extension.sql \
	src/spanner_ddl/googlesql.sql \
	src/spanner_ddl/spanner_ddl.sql \
	src/spanner_ddl/export.sql \
	src/spanner_ddl/rows.sql
SQL_spanner_keys_advisor = \
	src/advisor/extension.sql \
	src/advisor/catalog_text.sql \
	src/advisor/facts.sql \
	src/advisor/shard_obstacles.sql \
	src/advisor/shards.sql \
	src/advisor/advise.sql \
	src/advisor/rules_indexes.sql \
	src/advisor/rules_hotspots.sql \
	src/advisor/rules_keys.sql \
	src/advisor/rules_shards.sql \
	src/advisor/run_rules.sql \
	src/advisor/key_space.sql \
	src/advisor/pictures.sql \
	src/advisor/heatmap_text.sql \
	src/advisor/heatmap_page.sql
SQL_spanner_keys_splits = \
	src/splits/extension.sql \
	src/splits/run_as.sql \
	src/splits/parts.sql \
	src/splits/facts.sql \
	src/splits/servers.sql \
	src/splits/points.sql \
	src/splits/create_splits.sql \
	src/splits/adopt_table.sql \
	src/splits/stats.sql \
	src/splits/moves.sql \
	src/splits/copy_table.sql \
	src/splits/check_splits.sql

DATA_built = $(EXTENSION:%=sql/%--1.0.sql)
HEADERS_spanner_keys = src/sequence/access_method.h

REGRESS_keys = \
	keys_bit_reverse \
	keys_farm_fingerprint \
	keys_timestamp_to_string \
	keys_shard_id \
	sequence_kinds \
	sequence_options \
	sequence_functions \
	sequence_views \
	sequence_changes \
	sequence_given \
	sequence_stored \
	sequence_default_kind \
	sequence_command_cost \
	sequence_increment \
	sequence_widths \
	sequence_unbind \
	sequence_no_keys \
	sequence_of_column \
	sequence_redirect \
	sequence_restoring \
	sequence_redirect_ddl \
	sequence_privileges \
	sequence_foreign_code \
	sequence_member_guard \
	sequence_identity_always \
	sequence_identity_ddl \
	sequence_identity_partitions \
	sequence_ascending \
	sequence_convert \
	sequence_partition_bounds \
	sequence_setval \
	sequence_errors \
	allocator_modes \
	allocator_names \
	allocator_errors \
	allocator_privileges \
	allocator_remote \
	allocator_roles \
	allocator_transaction \
	allocator_on_commit \
	allocator_on_commit_errors \
	allocator_on_commit_indexes \
	allocator_on_commit_many \
	allocator_on_commit_triggers \
	allocator_number_rows \
	allocator_series \
	allocator_series_on_commit \
	allocator_series_errors \
	planner_derive \
	planner_derive_sources \
	planner_time_buckets \
	planner_costs \
	planner_expressions \
	planner_spellings \
	planner_shard_keys \
	planner_skip_scan \
	planner_merge \
	planner_merge_fallback \
	planner_merge_reads \
	planner_results \
	planner_explain \
	planner_session_state \
	planner_privileges \
	planner_stored_expressions \
	planner_fill_shard
REGRESS_ddl = \
	ddl_dialect \
	ddl_execute \
	ddl_execute_errors \
	ddl_googlesql \
	ddl_googlesql_alter \
	ddl_googlesql_errors \
	ddl_expressions \
	ddl_functions \
	ddl_json \
	ddl_leave_out \
	ddl_times \
	ddl_known_functions \
	ddl_nesting \
	ddl_objects \
	ddl_postgresql \
	ddl_export \
	ddl_export_losses \
	ddl_queries ddl_round_trip ddl_rows
REGRESS_advisor = \
	advisor_advise \
	advisor_references \
	advisor_rules \
	advisor_sequences \
	advisor_function_bodies \
	advisor_made_up_facts \
	advisor_shard_key \
	advisor_key_histogram \
	advisor_key_heatmap \
	advisor_errors
REGRESS_splits = \
	splits_create \
	splits_losses \
	splits_move \
	splits_adopt
REGRESS = install $(REGRESS_keys) $(REGRESS_ddl) $(REGRESS_advisor) $(REGRESS_splits)
# whatever the locale of the cluster is
REGRESS_OPTS = --no-locale --encoding=UTF8 $(addprefix --load-extension=,$(EXTENSION))
ISOLATION_keys = \
	allocator_advance \
	allocator_create \
	allocator_draft \
	allocator_lock \
	allocator_on_commit \
	allocator_reindex \
	allocator_roles \
	allocator_serializable \
	allocator_series_begin \
	allocator_series_order \
	allocator_snapshot \
	planner_merge \
	planner_merge_fallback \
	planner_old_snapshot \
	sequence_ascending_alter \
	sequence_bind_unbind \
	sequence_convert_waiting \
	sequence_drop \
	sequence_drop_extension \
	sequence_identity_detach \
	sequence_locks \
	sequence_nextval_alter \
	sequence_setval_kind \
	sequence_setval_waits \
	sequence_snapshot \
	sequence_waiting
ISOLATION_advisor = \
	advisor_drop \
	advisor_locked \
	advisor_shard_key_locks \
	advisor_silence
ISOLATION = $(ISOLATION_keys) $(ISOLATION_advisor)
ISOLATION_OPTS = --inputdir=$(srcdir)/test/isolation $(addprefix --load-extension=,$(EXTENSION))
TAP_TESTS = 1
PROVE_TESTS = test/t/*.pl

PG_CPPFLAGS = -I$(srcdir)/src
PG_CFLAGS = -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers \
	-MMD -MP

EXTRA_CLEAN = tmp_check output_iso $(OBJS:.o=.d) \
	src/spanner_ddl/grammar.c src/spanner_ddl/scanner.c

PG_CONFIG ?= pg_config

ifneq ($(shell command -v $(PG_CONFIG) 2>/dev/null),)
PGXS := $(shell $(PG_CONFIG) --pgxs)
endif

# PGXS has a target "check" as well, which only says that there is none.
ifeq ($(MAKECMDGOALS),check)
check:
	@TESTS="build install regress isolation lint" BUILD_ARGS="with_llvm=no $(BUILD_ARGS)" test/bin/run.sh
else ifneq ($(wildcard $(PGXS)),)
include $(PGXS)

# What calls our own functions is bound here, and not anew by each session that
# loads the library. PostgreSQL 16 and macOS do so by themselves.
ifneq ($(PORTNAME),darwin)
SHLIB_LINK += -Wl,-Bsymbolic
endif

# A build in another directory has the same subdirectories.
ifdef VPATH
$(shell mkdir -p sql $(dir $(OBJS)))
endif

.SECONDEXPANSION:
$(DATA_built): sql/%--1.0.sql: $$(addprefix $(srcdir)/,$$(SQL_$$*))
	awk 'FNR == 1 && NR > 1 { print "" } { print }' $^ > $@

# The program for clients. PGXS makes a program or a library, not both.
client := $(MAKE) -C src/splits/client -f $(abspath $(srcdir))/src/splits/client/Makefile \
	VPATH=$(abspath $(srcdir))/src/splits/client PG_CONFIG='$(PG_CONFIG)' with_llvm=no

all: all-client
install: install-client
uninstall: uninstall-client
clean: clean-client
all-client install-client uninstall-client clean-client: %-client:
	mkdir -p src/splits/client
	+$(client) $*

install: install-manual
install-manual:
	$(MKDIR_P) '$(DESTDIR)$(mandir)/man1'
	$(INSTALL_DATA) $(srcdir)/src/splits/spanner_splits.1 '$(DESTDIR)$(mandir)/man1/'
uninstall: uninstall-manual
uninstall-manual:
	rm -f '$(DESTDIR)$(mandir)/man1/spanner_splits.1'

# The compiler writes which headers an object includes. Bitcode includes the same.
-include $(OBJS:.o=.d)
$(OBJS:.o=.bc): %.bc: %.o
else
all install installcheck clean:
	@echo "PostgreSQL's server headers are missing: install postgresql-server-dev-NN or set PG_CONFIG" >&2; exit 1
endif

# Everything below runs on a private copy of the source and a cluster of its own.
demo demo-cluster check test bench bench-keys bench-allocator bench-planner lint indent matrix assert-check asan valgrind coverage analyze core-check soak clients suites citus deb-check: export PG_CONFIG := $(PG_CONFIG)

demo:
	@demo/run.sh
demo-cluster:
	@demo/cluster.sh
test:
	@test/bin/run.sh
bench:
	@test/bench/run.sh
bench-keys:
	@test/bench/run.sh keys
bench-allocator:
	@test/bench/run.sh allocator
bench-planner:
	@test/bench/run.sh planner
lint:
	@test/lint/run.sh
indent:
	@test/lint/indent.sh --typedefs
	@test/lint/indent.sh
matrix:
	@test/bin/matrix.sh
assert-check:
	@PGSOURCE="$(PGSOURCE)" test/bin/assert.sh
asan:
	@test/bin/asan.sh
valgrind:
	@test/bin/valgrind.sh
coverage:
	@test/bin/coverage.sh
analyze:
	@test/lint/analyze.sh
soak:
	@test/bin/soak.sh
core-check:
	@test/bin/core_check.sh
clients:
	@test/clients/run.sh
suites:
	@DJANGO="$(DJANGO)" SQLALCHEMY="$(SQLALCHEMY)" RAILS="$(RAILS)" \
		KNEX="$(KNEX)" OBJECTION="$(OBJECTION)" SEQUELIZE="$(SEQUELIZE)" TYPEORM="$(TYPEORM)" \
		test/suites/run.sh
	@EXTENSIONS="$(EXTENSIONS)" test/suites/extensions.sh
citus:
	@CITUS="$(CITUS)" test/citus/run.sh
deb-check:
	@test/bin/deb.sh

# What is committed, as PGXN wants it.
dist:
	@version=$$(perl -MJSON::PP -0777 -ne 'print decode_json($$_)->{version}' META.json) && \
		git archive --format=zip --prefix=spanner_keys-$$version/ -o spanner_keys-$$version.zip HEAD && \
		echo spanner_keys-$$version.zip

.PHONY: demo demo-cluster check test bench bench-keys bench-allocator bench-planner lint indent matrix assert-check asan valgrind coverage analyze core-check soak clients suites citus deb-check dist
