# The targets of a user, of a contributor and of a release; `make help` prints the lines below that contain two hashes. The
# tests are stages of scripts/test.sh: `scripts/test.sh help` lists them, and their variables.

PG_CONFIG ?= pg_config
CARGO ?= cargo
PROVE ?= prove

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
both_tests = $(filter consumer delete_read horizon refresh,$(isolation_tests))
isolation_regress = '$(ISOLATION_REGRESS)' --bindir='$(bindir)' --inputdir=tests/isolation --outputdir=target/isolation
# Of Citus there is no package, so its test would skip itself everywhere: it runs on request, TESTS=citus.
prove_tests = $(if $(TESTS),$(foreach name,$(TESTS),$(or $(wildcard tests/t/[0-9]*_$(name).pl),$(error no test is called $(name)))),$(filter-out %_citus.pl,$(wildcard tests/t/[0-9]*.pl)))

# Targets share target/ and the private PostgreSQL, and some remove what others make.
.NOTPARALLEL:
.PHONY: all run build install uninstall installcheck isolationcheck prove_installcheck test lint bench flood setup book clean \
	help deb rpm image dist release-check

all: build # pgxn runs this target

##@ Use

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

uninstall: ## remove the files that install puts there
	@scripts/check-installed.sh '$(libdir)/ulid$(suffix)' '$(extdir)'
	rm -f '$(libdir)/ulid$(suffix)' $(foreach name,$(extensions),'$(extdir)/$(name).control' '$(extdir)'/$(name)--*.sql)

installcheck: ## test the installed extension in the running server that PGHOST, PGPORT and PGUSER name (TESTS=io)
	mkdir -p target/regress
	$(if $(tests),'$(pg_regress)' --bindir='$(bindir)' --inputdir=tests/pg_regress --outputdir=target/regress \
		--load-extension=ulid --dbname=ulid_regression $(tests))

isolationcheck: ## test there what sessions do at the same time; it resets ordered ids (TESTS=horizon)
	mkdir -p target/isolation
	$(if $(isolation_tests),$(isolation_regress) --load-extension=ulid --dbname=ulid_isolation_regression $(isolation_tests))
	$(if $(both_tests),$(isolation_regress) --load-extension=ulid_sql --dbname=ulid_sql_isolation_regression $(both_tests))

prove_installcheck: ## test it with servers of its own, by PostgreSQL's framework and prove, not as root (TESTS=crash)
	rm -rf '$(TESTDIR)/tmp_check'
	mkdir -p '$(TESTDIR)/tmp_check'
	PATH='$(bindir)':"$$PATH" PG_REGRESS='$(PG_REGRESS)' TESTDIR='$(TESTDIR)' TESTDATADIR='$(TESTDIR)/tmp_check' \
		TESTLOGDIR='$(TESTDIR)/tmp_check/log' $(PROVE) $(PROVE_FLAGS) -I '$(pgxs)/test/perl' -I tests/t $(prove_tests)

##@ Develop

test: ## run the tests that take minutes, and install what they need (PG=15 to 19, all or assert)
	scripts/test.sh

lint: ## check the code, the scripts, the workflows and the pages (PG=NN)
	scripts/test.sh lint

bench: ## measure the Rust code, then kinds of ids in a server (minutes; FULL=1: two hours, 25 GB)
	scripts/bench.sh

flood: ## 8 x 10^7 ids of each kind at once, 10^8 calls, then polling for ten minutes
	TESTS="$@ horizon" FUZZ_SECONDS=$${FUZZ_SECONDS:-600} EACH=$${EACH:-10000000} CALLS=$${CALLS:-100000000} scripts/test.sh server

setup: ## set up cargo, cargo-pgrx and a private PostgreSQL 17 for editing; see CONTRIBUTING.md
	scripts/setup.sh

book: ## build the documentation as a site in target/book/html, with mdBook
	scripts/book.sh

# Other projects may share CARGO_TARGET_DIR, so only what is of these packages is removed there.
clean: ## remove everything built here (except cargo's tools, in the user's cache directory)
	scripts/clean.sh
	if [ -n '$(CARGO_TARGET_DIR)' ] && command -v '$(CARGO)' > /dev/null; then \
		for profile in dev release debugging; do \
			'$(CARGO)' clean $(vendored) --package ulid_extension --package pg_ulid --package ulid_horizon --profile $$profile || exit; \
		done; \
		rm -f '$(target)'/pg[0-9]*/ulid.*; \
	fi

help: ## print this list
	@awk -F ':.*## ' '/^##@ / { printf "%s%s:\n", separator, substr($$0, 5); separator = "\n" } /^[a-z0-9_-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile
	@echo; echo 'Single stages of make test, and longer tests: scripts/test.sh help'

##@ Release, into target/packages, for the architecture of the machine

deb: ## build the Debian package (PG=NN)
	packaging/deb.sh

rpm: ## build the RPM package (PG=NN)
	packaging/rpm.sh

image: ## build the extension image from the Debian package (PG=18 or newer)
	packaging/image.sh

dist: ## make the archives of the source, of its crates and of the packages in clients/, and the SBOM
	packaging/dist.sh

release-check: ## check that the commit can be released: versions, sums, every package (half an hour)
	git diff --quiet HEAD && grep "^## $$(sed -n "s/^default_version = '\(.*\)'/\1/p" ulid.control) - [0-9]" CHANGELOG.md
	packaging/dist.sh
	STRICT=yes scripts/test.sh crates dist
	STRICT=yes PG=all scripts/test.sh lint
	for major in 15 17 18; do STRICT=yes PG=$$major scripts/test.sh deb rpm || exit; done
	STRICT=yes scripts/test.sh image
	cd target/packages && rm -f SHA256SUMS && sha256sum -- * > .sums && mv .sums SHA256SUMS
