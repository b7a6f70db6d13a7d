# Sourced by test.sh: its stages, one function each, and, at the end, what only they need. prove,
# pg_regress and cargo run the tests. A stage runs in a subshell, where BIN is the directory of the
# server's programs and major its version; it sets failed, or ends with status 77 if it is skipped.
# shellcheck shell=bash disable=SC2034,SC2154

# Report what cannot be checked here.
left_out() {
  echo "left out: $*"
  [ -z "${STRICT:-}" ] || failed=1
}

# Run a command of a stage, and continue with the next one if it fails.
check() {
  say "$*"
  "$@" || failed=1
}

# Whether the compiler has the version that Cargo.toml names, so that its warnings are known.
is_pinned_rust() {
  [[ $(rustc --version) = "rustc $RUST".* ]]
}

# -- The library, without PostgreSQL

stage_rust() {
  local library=(--package pg_ulid)
  [ "${CLIENTS:-}" = quick ] || library+=(--features "diesel postgres-types sqlx")
  check cargo test "${library[@]}"
  check cargo test --package ulid_horizon
  if [ "${CLIENTS:-}" != quick ]; then
    RUSTFLAGS='--cfg loom' check cargo test --quiet --target-dir target/loom --package ulid_horizon --lib
    check cargo package --quiet --allow-dirty --package pg_ulid
    check cargo test --quiet --manifest-path "target/package/pg_ulid-$(cargo pkgid --package pg_ulid | sed 's/.*[@#]//')/Cargo.toml" \
      --target-dir target
  fi
  local run
  for run in "" "rustup run nightly"; do
    # shellcheck disable=SC2086
    if RUSTUP_AUTO_INSTALL=0 $run cargo miri --version > /dev/null 2>&1 && $run scripts/check-rust.sh 2> /dev/null; then
      MIRIFLAGS=-Zmiri-disable-isolation check $run cargo miri test --package pg_ulid --package ulid_horizon --lib
      return
    fi
  done
  echo "skipped: Miri, which is not installed (rustup +nightly component add miri)"
}

stage_minimal() {
  local crate=target/minimal
  rm -rf $crate target/package/pg_ulid-*
  cargo package --quiet --allow-dirty --no-verify --package pg_ulid
  mkdir -p $crate
  tar x -C $crate --strip-components=1 -f target/package/pg_ulid-*.crate
  cd $crate || return
  rm Cargo.lock
  echo '[workspace]' >> Cargo.toml
  RUSTC_BOOTSTRAP=1 cargo update --quiet -Z direct-minimal-versions
  check cargo test --features "diesel postgres-types sqlx" --lib --tests
  check rustup run --install "$(sed -n 's/^rust-version = "\([0-9.]*\).*/\1/p' Cargo.toml)" cargo test --lib --tests
}

stage_foreign() {
  local names machine target rust=target/rust-foreign
  offer_packages qemu-user-static gcc-{s390x,i686,aarch64}-linux-gnu libc6-dev-{s390x,i386,arm64}-cross
  [ -x $rust/bin/cargo ] || { rm -rf $rust && scripts/fetch-rust.sh $rust '' {s390x,i686,aarch64}-unknown-linux-gnu; }
  for names in s390x:s390x i686:i386 aarch64:aarch64; do
    machine=${names%:*} target=${names%:*}-unknown-linux-gnu
    # with LD_LIBRARY_PATH, since /etc/ld.so.cache names /usr/lib32, which clang brings: an i686
    # program hangs with that other glibc
    PATH=$ROOT/$rust/bin:$PATH check cargo test --package pg_ulid --package ulid_horizon --target-dir target/foreign --target "$target" \
      --config "target.$target.linker = '$machine-linux-gnu-gcc'" \
      --config "target.$target.runner = ['qemu-${names#*:}-static', '-L', '/usr/$machine-linux-gnu', '-E', 'LD_LIBRARY_PATH=/lib']"
  done
  RUSTUP_HOME=$(rustc --print sysroot)/../.. rustup target add x86_64-pc-windows-gnu
  check cargo check --package pg_ulid --target-dir target/foreign --target x86_64-pc-windows-gnu
}

stage_crates() {
  prepare_cargo_tool cargo-deny 0.20.2
  # shellcheck disable=SC2086
  check cargo deny --locked check ${CHECKS:-}
}

stage_fuzz() {
  local corpus=target/fuzz/corpus
  prepare_cargo_tool cargo-fuzz 0.13.2
  mkdir -p $corpus
  cut -f1 pg_ulid/tests/data/{valid,typeid}.tsv | split -l 1 -a 3 --filter='tr -d "\n" > "$FILE"' - $corpus/
  check rustup run nightly cargo fuzz run --fuzz-dir pg_ulid/fuzz --target-dir target/fuzz --sanitizer none rules $corpus \
    -- -max_total_time="${FUZZ_SECONDS:-60}"
}

stage_mutants() {
  local status=0
  prepare_cargo_tool cargo-mutants 27.1.0
  cargo mutants --package pg_ulid --package ulid_horizon --output target --cargo-arg=--tests || status=$?
  case $status in 0 | 3) ;; *) failed=1 ;; esac        # 3: a test with a mutant reached its time limit
}

# -- The extension, in servers

stage_build() {
  install_extension
  # shellcheck disable=SC2046
  check scripts/check-library.sh "$(pg_config --pkglibdir)/ulid.so" "$BIN/postgres" $(compgen -G "$WORK/$major-*/bin/postgres")
  start_server build
  psql -X -q -v ON_ERROR_STOP=1 -c 'CREATE EXTENSION ulid'
  psql -X -A -t -c "SELECT 'ulid ' || extversion || ' in ' || version() FROM pg_extension WHERE extname = 'ulid'"
}

stage_sql() {
  local pgxs target
  install_extension
  start_server sql "max_prepared_transactions = 10"
  rm -rf target/regress target/isolation
  pgxs=$(find_framework)  # not every package of a server has the programs
  for target in installcheck isolationcheck; do
    if [ $target = isolationcheck ] && [ ! -x "$pgxs/test/isolation/pg_isolation_regress" ]; then
      left_out "tests/isolation, as no server here has pg_isolation_regress"
      continue
    fi
    make -s --no-print-directory $target PG_CONFIG="$BIN/pg_config" \
      ISOLATION_REGRESS="$pgxs/test/isolation/pg_isolation_regress" || failed=1
  done
  [ -z "$failed" ] || { cat target/*/regression.diffs; tail -n 30 "$SERVERS/sql/log"; } || true
}

stage_pgrx() {
  # pgrx starts its server as the user who runs it: in a namespace root is that of the servers, and
  # owns its files
  case $BECOME in setpriv*) echo "needs user namespaces, or another user than root"; exit 77 ;; esac
  export PGRX_FEATURES="pg$major pg_test" CARGO_PGRX=$ROOT/scripts/install-pg-tests.sh CARGO_PGRX_TEST_PGDATA=$SERVERS/pgrx
  # shellcheck disable=SC2086
  USER=$SERVER_USER check $BECOME cargo test --lib --test release --no-default-features \
    --features "$PGRX_FEATURES"
}

# TESTS names tests by their files without the numbers. prove runs them as the user of the servers.
# The logs are kept in target/prove.
stage_server() {
  local name log directory=$ROOT flags="--timer --directives --jobs=3 --reverse"  # the longest are the last
  [ -z "${TESTS:-}" ] || flags=--verbose
  make -s -n prove_installcheck PG_CONFIG="$BIN/pg_config" > /dev/null  # the tests that are named exist
  export INITDB_TEMPLATE=$SERVERS/template  # which the tests copy
  as_postgres "$BIN/initdb" -D "$INITDB_TEMPLATE" -A trust -E UTF8 --no-locale --no-sync > /dev/null
  prepare_prove
  install_extension
  prepare_extra_packages "$major"
  prepare_older_servers
  case " ${TESTS:-ulid_sql} " in
    *" ulid_sql "*) command -v npm > /dev/null || offer_packages npm ;;
  esac
  case "$BIN ${TESTS:-} " in
    */assert/*) offer_packages valgrind ;;
  esac
  if ! as_postgres test -r "$ROOT/tests/t/ULID.pm"; then
    directory=$SERVERS/checkout
    tar c --exclude=./target --exclude=./.git . | as_postgres tar x --one-top-level="$directory"
  fi
  as_postgres make -s --no-print-directory -C "$directory" prove_installcheck PG_CONFIG="$BIN/pg_config" \
    TESTDIR="$SERVERS/prove" PROVE_FLAGS="$flags" < /dev/null 2>&1 | tee "target/prove-$major.log" || failed=1
  rm -rf target/prove
  cp -r "$SERVERS/prove/tmp_check/log" target/prove
  # where a test failed, the framework has left the data of its servers
  for log in target/prove/regress_log_*; do
    name=${log##*regress_log_}
    ! compgen -G "$SERVERS/prove/tmp_check/t_${name}_*" > /dev/null || tail -n 30 target/prove/*"$name"*
  done
  # a test that was asked for and cannot run is not passed
  [ -z "${TESTS:-}" ] || ! grep -q '^Result: NOTESTS' "target/prove-$major.log" || exit 77
}

# Prepare the servers that FROM names, or else those that were tested before, for tests that upgrade
# from older ones.
prepare_older_servers() {
  local old
  export OLDER=${FROM:-$tested}
  [ "$OLDER" != all ] || OLDER=${MAJORS/15/15 15-main}
  for old in $OLDER; do
    [ "${old%-main}" -ge "$major" ] || (installed="" && prepare_postgres "$old" && install_extension) || left_out "PostgreSQL $old, which could not be had"
  done
}

stage_upgrade() {
  TESTS='upgrade upgrade_logical' PG=${PG:-18 19 17? 16?} FROM=${FROM:-all} check scripts/test.sh server
}

stage_docs() {
  install_extension
  prepare_extra_packages "$major"
  start_server docs "wal_level = logical"
  check perl scripts/test-docs.pl README.md SECURITY.md clients/README.md docs/*.md docs/migrating/*.md
  check clients/test-consumer
}

# clients/LANGUAGE/run-tests of every language, or of those that CLIENTS names ("python
# node#prisma"); what stands behind "#" is its argument. "quick" stands for what takes seconds, and
# installs no packages for it. The languages that were skipped are named at the end.
stage_clients() {
  local chosen=${CLIENTS:-all} packages=() name port password status skipped=""
  case $chosen in
    all) chosen=$(cd clients && dirname -- */run-tests) ;;
    quick) chosen=$(cd clients && dirname -- */run-tests | sed 's/$/#quick/') ;;
  esac
  for name in $chosen; do
    [ "${name#*#}" = quick ] || [ ! -e "clients/${name%#*}/debian-packages" ] || mapfile -t -O ${#packages[@]} packages < "clients/${name%#*}/debian-packages"
  done
  install_extension
  prepare_clients "${packages[@]}"

  # Not every driver can use a Unix socket. A password prevents other users of the machine from
  # connecting through loopback.
  port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1)->sockport')
  password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  start_server clients "password_encryption = 'scram-sha-256'"
  psql -X -q <<< "ALTER ROLE postgres PASSWORD '$password'"
  stop_server clients
  as_postgres sh -c "printf 'local all all trust\nlocal replication all trust\nhost all all 127.0.0.1/32 scram-sha-256\n' > '$SERVERS/clients/data/pg_hba.conf'"
  start_server clients "listen_addresses = '127.0.0.1'" "port = $port" "wal_level = logical"
  export PGPORT=$port
  start_standby standby clients
  export STANDBY=$SERVERS/standby PGHOST=127.0.0.1 PGPASSWORD=$password
  for name in $chosen; do
    say "$name"
    status=0
    if [[ $name = *#* ]]; then set -- "${name#*#}"; else set --; fi
    "clients/${name%#*}/run-tests" "$@" || status=$?
    case $status in
      0) ;;
      77) skipped+=" $name"; [ -z "${STRICT:-}" ] || [[ $name = *'#quick' ]] || failed=1 ;;
      *) failed=1 ;;
    esac
  done
  [ -z "$skipped" ] || say "skipped, for the reasons above:$skipped"
}

# -- Packages, and what contributors do

stage_deb() { tests/packages/deb.sh; }
stage_rpm() { tests/packages/rpm.sh; }
stage_image() { tests/packages/image.sh; }
stage_dist() { tests/packages/dist.sh; }
stage_contributing() { tests/contributing.sh; }

# -- What the stages need

# Prepare PostgreSQL's framework for tests with servers: sets PERL5LIB and PG_REGRESS. Not every
# package of a server has its modules; those of another version work too, because they distinguish
# versions.
prepare_prove() {
  local pgxs
  { command -v prove && perl -MIPC::Run -e 1; } > /dev/null 2>&1 || prepare_tools libipc-run-perl
  pgxs=$(find_framework)
  if [ -z "$pgxs" ]; then
    (prepare_postgres 18)
    pgxs=$(find_framework)
    [ -n "$pgxs" ] || die "no server here has PostgreSQL::Test::Cluster"
  fi
  export PERL5LIB=$pgxs/test/perl${PERL5LIB:+:$PERL5LIB} PG_REGRESS=$pgxs/test/regress/pg_regress
}

# Print a directory that contains the framework: of the server in PATH, or of another one.
find_framework() {
  local pgxs
  pgxs=$(readlink -f "$(dirname "$(pg_config --pgxs)")/..")
  for pgxs in "$pgxs" "$WORK"/*/usr/lib/postgresql/*/lib/pgxs/src /usr/lib/postgresql/*/lib/pgxs/src; do
    if [ -e "$pgxs/test/perl/PostgreSQL/Test/Cluster.pm" ] && [ -x "$pgxs/test/regress/pg_regress" ]; then
      echo "$pgxs"
      return
    fi
  done
}

# Put what else tests and examples use into the copy of the machine's own PostgreSQL $1.
prepare_extra_packages() {
  local tree=$WORK/$1 packages
  is_own "$1" || return 0
  mapfile -t packages < <(available_packages "postgresql-$1-partman" "postgresql-$1-timescaledb" pgbouncer)
  if [ "${packages[*]}" != "$(cat "$tree/extra_packages" 2> /dev/null)" ]; then
    # without them, the tests that need them are skipped
    say "unpack into it: ${packages[*]}"
    scripts/fetch-postgres.sh add "$tree" "${packages[@]}" && echo "${packages[*]}" > "$tree/extra_packages"
  fi
  # for programs and their libraries
  LD_LIBRARY_PATH=$(compgen -G "$tree/usr/lib/*-linux-gnu" || true) PATH=$PATH:$tree/usr/sbin
  export LD_LIBRARY_PATH
}

# Print those of some packages that the machine's apt has.
available_packages() {
  command -v apt-cache > /dev/null || return 0
  { apt-cache show "$@" 2> /dev/null || true; } | sed -n 's/^Package: //p' | sort -u
}

# Install the tools that install drivers, and those of some packages that apt has, as far as
# possible without asking.
prepare_clients() {
  local packages=()
  python3 -m pip --version > /dev/null 2>&1 || packages+=(python3-pip)
  python3 -c 'import ensurepip' 2> /dev/null || packages+=(python3-venv)
  command -v npm > /dev/null || packages+=(npm)
  [ $# = 0 ] || mapfile -t -O ${#packages[@]} packages < <(available_packages "$@")
  [ ${#packages[@]} = 0 ] || offer_packages "${packages[@]}"
}

# Make cargo build for musl, with a Rust of its own that compiles for it.
prepare_musl() {
  local tree=$ROOT/target/rust-musl triple name
  triple=$(uname -m)-unknown-linux-musl
  if [ ! -x "$tree/bin/rustc" ]; then
    say "get a Rust for $triple into $tree (a minute or two, once)"
    rm -rf "$tree"
    scripts/fetch-rust.sh "$tree" rustup "$triple" || { echo "needs a Rust for $triple, which rustup has"; exit 77; }
  fi
  PATH=$tree/bin:$PATH
  # Debian has no libgcc_s for musl; the unwinder that is part of Rust takes its place
  mkdir -p "$tree/unwind"
  ln -sf "$(rustc --print sysroot)/lib/rustlib/$triple/lib/self-contained/libunwind.a" "$tree/unwind/libgcc_s.a"
  name=CARGO_TARGET_$(tr a-z- A-Z_ <<< "$triple")
  export CARGO_BUILD_TARGET=$triple "${name}_LINKER=musl-gcc" "${name}_RUSTFLAGS=-Lnative=$tree/unwind"
}
