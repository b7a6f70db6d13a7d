# The targets; their commands are in scripts/. `make help` prints the lines below that contain two hashes.

PG_CONFIG ?= pg_config
CARGO ?= cargo
PROVE ?= prove
# Variables of the scripts, from the command line or the environment:
#   PG          the PostgreSQL that `make run` and `make test` use, instead of that of the machine: 15 to 19, assert or musl; for
#               tests, also a list or "all"
#   TESTS       which tests `make installcheck`, `make isolationcheck` and `make test-sql`, or `make prove_installcheck` and
#               `make test-server`, run instead of all: names of files, without their numbers
#   CLIENTS     which languages, or parts of their tests, `make test-clients` runs instead of all
#   STRICT      if it is not empty, a stage of the tests that is skipped, or leaves a part out, has failed

# How long `make fuzz` and `make planner-fuzz` run, in seconds, and the seed of the latter and of `make hostile`; empty: a
# minute, any seed.
export FUZZ_SECONDS ?= $(SECONDS)
export FUZZ_SEED ?= $(SEED)
unexport SECONDS
# The tools below: cargo of target/rust, if scripts have put it there, and cargo's tools, which are installed into target/tools.
tools = PATH="$(CURDIR)/target/rust/bin:$(CURDIR)/target/tools/bin:$$PATH"
get = command -v cargo-$(1) > /dev/null || cargo install --quiet --locked --debug --root target/tools cargo-$(1)@$(2)

# Evaluated only by the targets that need them. The path is absolute, as cargo runs programs in other directories.
pg_config = $(or $(shell path=$$(command -v '$(PG_CONFIG)') && cd "$$(dirname "$$path")" && echo "$$PWD/$$(basename "$$path")"),$(error $(PG_CONFIG) not found; set PG_CONFIG to the pg_config of your server))
major = $(shell '$(pg_config)' --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
bindir = $(shell '$(pg_config)' --bindir)
libdir = $(DESTDIR)$(shell '$(pg_config)' --pkglibdir)
extdir = $(DESTDIR)$(shell '$(pg_config)' --sharedir)/extension
pgxs = $(shell dirname "$$('$(pg_config)' --pgxs)")/..
pg_regress = $(pgxs)/test/regress/pg_regress
# What the framework of the tests with servers of their own runs, and where it keeps their data and logs.
PG_REGRESS ?= $(pg_regress)
# It tests a server of any version.
ISOLATION_REGRESS ?= $(pgxs)/test/isolation/pg_isolation_regress
TESTDIR ?= $(CURDIR)/target
target_dir = $(or $(CARGO_TARGET_DIR),target)
target = $(target_dir)$(CARGO_BUILD_TARGET:%=/%)
# If the release's archive of crates is unpacked here, the build needs no network.
vendored = $(if $(wildcard vendor/config.toml),--locked --offline --config vendor/config.toml)
# The suffix of the server's libraries, which is .so except on macOS since PostgreSQL 16, and that of cargo's.
suffix = $(or $(shell sed -n 's/^DLSUFFIX *= *//p' '$(pgxs)/Makefile.global' 2> /dev/null),.so)
built_suffix = $(if $(findstring darwin,$(or $(CARGO_BUILD_TARGET),$(shell uname -s | tr A-Z a-z))),.dylib,.so)
library = $(target)/pg$(major)/ulid$(suffix)
# The profile of Cargo.toml.
profile = release
# The extension and its companions, which are SQL only. Their control files are in sql/, because cargo-pgrx takes the first
# control file that it finds beside Cargo.toml.
controls = ulid.control $(wildcard sql/*.control)
extensions = $(basename $(notdir $(controls)))
sql_tests = $(basename $(notdir $(wildcard tests/pg_regress/sql/*.sql)))
specs = $(basename $(notdir $(wildcard tests/isolation/specs/*.spec)))
# Those of a list that TESTS names, or all of it. A name may be in the other list.
chosen = $(if $(TESTS),$(foreach name,$(TESTS),$(if $(filter $(name),$(sql_tests) $(specs)),$(filter $(name),$(1)),$(error no test is called $(name)))),$(1))
tests = $(strip $(call chosen,$(sql_tests)))
isolation_tests = $(strip $(call chosen,$(specs)))
# Those that are run with ulid_sql, too.
published_tests = $(filter publish%,$(isolation_tests))
isolation_regress = '$(ISOLATION_REGRESS)' --bindir='$(bindir)' --inputdir=tests/isolation --outputdir=target/isolation
# Of Citus there is no package, so its test would skip itself everywhere: it runs on request, TESTS=citus.
prove_tests = $(if $(TESTS),$(foreach name,$(TESTS),$(or $(wildcard tests/t/[0-9]*_$(name).pl),$(error no test is called $(name)))),$(filter-out %_citus.pl,$(wildcard tests/t/[0-9]*.pl)))

# Targets share target/ and the private PostgreSQL, and some remove what others make.
.NOTPARALLEL:
.PHONY: all run setup debug test-contributing build install uninstall installcheck isolationcheck prove_installcheck test lint bench clean help test-rust test-build test-sql \
	test-pgrx test-server test-docs test-clients test-upgrade test-minimal test-crates test-foreign test-musl fuzz planner-fuzz \
	valgrind hostile crash flood mutants book deb rpm image dist sums test-deb test-rpm test-image test-dist release-check

all: build # pgxn runs this target

##@ What most people need

run: ## build, start a temporary server, demonstrate the type, and open psql in it
	scripts/run.sh

build: ## build the extension for the server of PG_CONFIG (default: the pg_config in PATH)
	@scripts/check-build.sh '$(pg_config)'
	PGRX_PG_CONFIG_PATH='$(pg_config)' $(CARGO) build $(vendored) --target-dir '$(target_dir)' --profile $(profile) --lib \
		--no-default-features --features pg$(major)
	mkdir -p "$$(dirname '$(library)')"
	cp '$(target)/$(profile)/libulid$(built_suffix)' '$(library)'

install: ## install it there, below DESTDIR if that is set; build it first if cargo is available or nothing is built
	@scripts/check-installed.sh '$(libdir)/ulid$(suffix)' '$(extdir)'
	if command -v '$(CARGO)' > /dev/null || [ ! -e '$(library)' ]; then $(MAKE) --no-print-directory build; fi
	install -d '$(libdir)' '$(extdir)'
	install -m 755 '$(library)' '$(libdir)/ulid$(suffix)'
	install -m 644 $(controls) $(wildcard sql/*--*--*.sql) '$(extdir)'
	for control in $(controls); do \
		name=$$(basename $$control .control); \
		version=$$(sed -n "s/^default_version = '\(.*\)'/\1/p" $$control); \
		install -m 644 sql/$$name.sql '$(extdir)'/$$name--$$version.sql || exit; \
	done

debug: ## build and install it with debug information, so that gdb and perf show source lines
	$(MAKE) --no-print-directory install profile=debugging

uninstall: ## remove the files that install puts there
	@scripts/check-installed.sh '$(libdir)/ulid$(suffix)' '$(extdir)'
	rm -f '$(libdir)/ulid$(suffix)' $(foreach name,$(extensions),'$(extdir)/$(name).control' '$(extdir)'/$(name)--*.sql)

installcheck: ## test the installed extension in the running server that PGHOST, PGPORT and PGUSER name (TESTS=io)
	mkdir -p target/regress
	$(if $(tests),'$(pg_regress)' --bindir='$(bindir)' --inputdir=tests/pg_regress --outputdir=target/regress \
		--load-extension=ulid --dbname=ulid_regression $(tests))

isolationcheck: ## test there what sessions do at the same time; it resets ordered ids (TESTS=late_commit)
	mkdir -p target/isolation
	$(if $(isolation_tests),$(isolation_regress) --load-extension=ulid --dbname=ulid_isolation_regression $(isolation_tests))
	$(if $(published_tests),$(isolation_regress) --load-extension=ulid_sql --dbname=ulid_sql_isolation_regression $(published_tests))

prove_installcheck: ## test it with servers of its own, by PostgreSQL's framework and prove, not as root (TESTS=crash)
	rm -rf '$(TESTDIR)/tmp_check'
	mkdir -p '$(TESTDIR)/tmp_check'
	PATH='$(bindir)':"$$PATH" PG_REGRESS='$(PG_REGRESS)' TESTDIR='$(TESTDIR)' TESTDATADIR='$(TESTDIR)/tmp_check' \
		TESTLOGDIR='$(TESTDIR)/tmp_check/log' $(PROVE) $(PROVE_FLAGS) -I '$(pgxs)/test/perl' -I tests/t $(prove_tests)

test: ## run the tests that take minutes, and install what they need (PG=15 to 19, all or assert)
	scripts/test.sh

lint: ## check Rust with rustfmt and clippy, scripts with shellcheck, Perl with perl -c, the links of the pages (PG=NN)
	scripts/test.sh lint

setup: ## set up cargo, cargo-pgrx and a private PostgreSQL 17 for editing; see CONTRIBUTING.md
	scripts/setup.sh

bench: ## measure the Rust code, then kinds of ids in a server (minutes; FULL=1: half an hour)
	scripts/bench.sh

book: ## build the documentation as a site in target/book/html, with mdBook
	scripts/book.sh

clean: ## remove everything built here (except cargo's tools, in the user's cache directory)
	scripts/clean.sh
	if [ -n '$(CARGO_TARGET_DIR)' ] && command -v '$(CARGO)' > /dev/null; then '$(CARGO)' clean; fi

help: ## print this list
	@awk -F ':.*## ' '/^##@ / { printf "%s%s:\n", separator, substr($$0, 5); separator = "\n" } /^[a-z0-9_-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile

##@ Parts of make test (PG=NN, as there)

test-rust: ## the library without PostgreSQL, with its drivers, models of its threads, as a package, and Miri if it is installed
	scripts/test.sh rust

test-build: ## build, install into a private copy of PostgreSQL, start it
	scripts/test.sh build

test-sql: ## tests/pg_regress, tests/isolation
	scripts/test.sh sql

test-pgrx: ## the Rust tests that run inside a server
	scripts/test.sh pgrx

test-server: ## tests/t: servers that are started, killed, replicated, upgraded (TESTS="dump crash")
	scripts/test.sh server

test-docs: ## the SQL examples of README.md and docs/, with large tables (ROWS=10000: small ones, as in make test)
	scripts/test.sh docs

##@ Tests that run only on request

test-clients: ## drivers and ORMs, a language each (CLIENTS="python node#prisma")
	scripts/test.sh clients

test-upgrade: ## pg_upgrade, dump and restore, logical replication, from each PostgreSQL to each newer one (PG=19)
	TESTS='upgrade upgrade_logical' PG='$(or $(PG),18 19 17? 16?)' FROM=$${FROM:-all} scripts/test.sh server

test-minimal: ## the library with the oldest crates that pg_ulid/Cargo.toml permits, and with the oldest Rust, by rustup
	rm -rf target/minimal target/package/pg_ulid-*
	$(tools) cargo package --quiet --allow-dirty --no-verify --package pg_ulid
	mkdir -p target/minimal
	tar x -C target/minimal --strip-components=1 -f target/package/pg_ulid-*.crate
	cd target/minimal && rm Cargo.lock && echo '[workspace]' >> Cargo.toml && \
		RUSTC_BOOTSTRAP=1 $(tools) cargo update --quiet -Z direct-minimal-versions && \
		$(tools) cargo test --features "diesel postgres-types sqlx" --lib --tests && \
		rustup run --install "$$(sed -n 's/^rust-version = "\([0-9.]*\).*/\1/p' Cargo.toml)" cargo test --lib --tests

test-contributing: ## what CONTRIBUTING.md says of cargo and gdb, as an ordinary user in a fresh clone
	tests/contributing.sh

test-crates: ## licences, sources and advisories of the crates, by cargo-deny (CHECKS="licenses bans sources": without network)
	$(tools); $(call get,deny,0.20.2); cargo deny --locked check $(CHECKS)

# With LD_LIBRARY_PATH, since /etc/ld.so.cache names /usr/lib32, which clang brings: an i686 program hangs with that other glibc.
test-foreign: ## the library on emulated s390x (big-endian), i686 and aarch64, and compiled for Windows; needs their gcc, qemu-user-static, rustup
	[ -x target/rust-foreign/bin/cargo ] || scripts/fetch-rust.sh target/rust-foreign '' $(foreach machine,s390x i686 aarch64,$(machine)-unknown-linux-gnu)
	set -e; PATH="$(CURDIR)/target/rust-foreign/bin:$$PATH"; for names in s390x:s390x i686:i386 aarch64:aarch64; do \
		machine=$${names%:*} target=$${names%:*}-unknown-linux-gnu; \
		cargo test --package pg_ulid --target-dir target/foreign --target "$$target" \
			--config "target.$$target.linker = '$$machine-linux-gnu-gcc'" \
			--config "target.$$target.runner = ['qemu-$${names#*:}-static', '-L', '/usr/$$machine-linux-gnu', '-E', 'LD_LIBRARY_PATH=/lib']"; \
	done
	set -e; $(tools); RUSTUP_HOME="$$(rustc --print sysroot)/../.." rustup target add x86_64-pc-windows-gnu; \
		cargo check --package pg_ulid --target-dir target/foreign --target x86_64-pc-windows-gnu

test-musl: ## tests/pg_regress in a PostgreSQL 18 with musl, the libc of Alpine (built once, from Debian's source)
	PG=musl scripts/test.sh sql

##@ Fuzzing and stress tests, of any duration

fuzz: ## random inputs for the library, by cargo-fuzz, which needs a nightly compiler (SECONDS=60)
	set -e; $(tools); $(call get,fuzz,0.13.2); mkdir -p target/fuzz/corpus; \
	cut -f1 pg_ulid/tests/data/valid.tsv pg_ulid/tests/data/typeid.tsv | \
		split -l 1 -a 3 --filter='tr -d "\n" > "$$FILE"' - target/fuzz/corpus/; \
	rustup run nightly cargo fuzz run --fuzz-dir pg_ulid/fuzz --target-dir target/fuzz --sanitizer none rules target/fuzz/corpus \
		-- -max_total_time=$(or $(FUZZ_SECONDS),60)

planner-fuzz: ## random queries for the planner's hooks (SECONDS=60; SEED=1; PG=18)
	TESTS=planner_fuzz FUZZ_SECONDS=$${FUZZ_SECONDS:-60} scripts/test.sh server

valgrind: ## every function under valgrind, in a PostgreSQL built for it with assertions
	TESTS=$@ PG=assert scripts/test.sh server

hostile: ## random bytes for every function, in three encodings (CASES=100000 for each; SEED=1)
	TESTS=$@ CASES=$${CASES:-100000} scripts/test.sh server

crash: ## kill a server while clients write, then compare every acknowledged row (ROUNDS=100)
	TESTS=$@ ROUNDS=$${ROUNDS:-100} scripts/test.sh server

flood: ## 8 x 10^7 ids of each kind at once, 10^8 calls, then polling for ten minutes by each kind of horizon
	TESTS="$@ horizon published" FUZZ_SECONDS=$${FUZZ_SECONDS:-600} EACH=$${EACH:-10000000} CALLS=$${CALLS:-100000000} scripts/test.sh server

mutants: ## mutation testing of the library: a surviving mutant means a missing test
	$(tools); $(call get,mutants,27.1.0); cargo mutants --package pg_ulid --output target --cargo-arg=--tests; \
		case $$? in 0 | 3) ;; *) exit 1 ;; esac # 3: a test with a mutant reached its time limit

##@ Packages, in target/packages, for the architecture of the machine

deb: ## build the Debian package (PG=NN)
	packaging/deb.sh

rpm: ## build the RPM package (PG=NN)
	packaging/rpm.sh

image: ## build the extension image from the Debian package (PG=18 or newer)
	packaging/image.sh

dist: ## make the archives of the source, of its crates and of the packages in clients/, and the SBOM
	packaging/dist.sh

sums: ## write SHA256SUMS of all files there
	cd target/packages && rm -f SHA256SUMS && sha256sum -- * > .sums && mv .sums SHA256SUMS

test-deb: ## the Debian package: installed, used, upgraded and purged in a bare Debian (PG=15, 17 or 18)
	tests/packages/deb.sh

test-rpm: ## the RPM package: checked with rpm's own tools, its files used in a server (PG=NN)
	tests/packages/rpm.sh

test-image: ## the extension image: loaded by a PostgreSQL 18 that has nothing else
	tests/packages/image.sh

test-dist: ## the source archives: built without network; installed and tested by PGXN's client
	tests/packages/dist.sh

release-check: ## check that the commit can be released: versions, sums, every package (half an hour)
	git diff --quiet HEAD && grep "^## $$(sed -n "s/^default_version = '\(.*\)'/\1/p" ulid.control) - [0-9]" CHANGELOG.md
	$(MAKE) test-crates dist test-dist lint STRICT=yes
	for major in 15 17 18; do $(MAKE) test-deb test-rpm PG=$$major || exit; done
	$(MAKE) test-image sums
