#!/usr/bin/env bash
# Run the tests: test.sh [STAGE...]; "test.sh help" prints the lines below that begin with "#:".
# Without arguments, it runs what `make test` promises, each stage in its short form: docs with
# small tables, clients and rust only what takes seconds. If a stage fails, the later ones run
# nevertheless.
#
# This file chooses the stages and the servers, runs them and sums up. What a stage does is in
# lib/stages.sh and lib/lint.sh; lib/setup.sh prepares Rust and PostgreSQL.
#
#: Stages of make test, in this order:
#:   rust          the library without PostgreSQL, with its drivers, models of its threads, as a
#:                 package, and Miri if it is installed
#:   build         build, install into a private copy of PostgreSQL, start it
#:   sql           tests/pg_regress and tests/isolation (TESTS="io horizon")
#:   docs          the SQL examples of README.md and docs/, with large tables (ROWS=10000: small)
#:   clients       drivers and ORMs, a language each (CLIENTS="python node#prisma")
#:   server        tests/t: servers that are started, killed, replicated (TESTS="dump crash")
#:   pgrx          the Rust tests that run inside a server
#: Other stages:
#:   lint          what make lint runs
#:   upgrade       pg_upgrade, dump and restore, logical replication, from each PostgreSQL to each
#:                 newer one
#:   minimal       the library with the oldest crates that pg_ulid/Cargo.toml permits, and with the
#:                 oldest Rust, by rustup
#:   foreign       the library on emulated s390x (big-endian), i686 and aarch64, and compiled for
#:                 Windows; needs their gcc, qemu-user-static, which apt has, and rustup
#:   crates        licences, sources and advisories of the crates, by cargo-deny
#:                 (CHECKS="licenses bans sources": without network)
#:   fuzz          random inputs for the library, by cargo-fuzz and a nightly Rust (FUZZ_SECONDS=60)
#:   mutants       mutation testing of the library: a surviving mutant means a missing test
#:   contributing  what CONTRIBUTING.md says of cargo and gdb, as an ordinary user in a fresh clone
#:   deb           the Debian package, installed, upgraded, purged in a bare Debian (PG=15, 17, 18)
#:   rpm           the RPM package: checked with rpm's own tools, its files used in a server
#:   image         the extension image: loaded by a PostgreSQL 18 that has nothing else
#:   dist          the source archives: built without network; installed and tested by PGXN's client
#: Some tests of the stage server for longer (make flood is another one):
#:   TESTS=planner_fuzz FUZZ_SECONDS=3600   random queries for the planner's hooks (FUZZ_SEED=1)
#:   TESTS=hostile CASES=100000             random bytes for every function, in three encodings
#:   TESTS=crash ROUNDS=100                 kill a server while clients write, then compare
#:   TESTS=valgrind PG=assert               every function under valgrind
#: Variables, beside those of a stage:
#:   PG      the PostgreSQL, instead of that of the machine: 15 to 19; assert or musl, which are
#:           builds of 18; a list, in which "17?" may be missing; or all
#:   FROM    the older ones from which tests upgrade, or all
#:   STRICT  if it is not empty, what is left out because something is missing has failed, except
#:           for Miri, tests with servers that skip themselves, and single tools of a language
[ "${1:-}" != help ] || { sed -n 's/^#: \{0,1\}//p' "$0"; exit; }
# shellcheck source=scripts/lib/setup.sh
. "$(dirname "$0")/lib/setup.sh"
. scripts/lib/stages.sh
. scripts/lib/lint.sh

# Run one stage, and add its result to the summary. Sets passed; if it failed, empties all_passed.
run_stage() {
  local status title="$1${2:+ on PostgreSQL $2}" start=$SECONDS
  printf '\n== %s\n' "$title"
  set +e
  (
    set -e
    failed="" major=${2:-}
    if [ -n "$major" ]; then
      [ "$major" != musl ] || prepare_musl
      prepare_postgres "$major"
      PATH=$BIN:$PATH major=$(major_of "$major")
      open_servers
    fi
    "stage_$1"
    [ -z "$failed" ]
  )
  status=$?
  set -e
  passed=""
  case $status in
    0) passed=yes title="passed: $title" ;;
    77) title="skipped: $title"; [ -z "${STRICT:-}" ] || all_passed="" ;;
    130 | 143) exit "$status" ;;
    *) title="FAILED: $title" all_passed="" ;;
  esac
  title+=" ($((SECONDS - start)) s)"
  echo "== $title"
  echo "$title" >> "$summary"
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
stages=("$@") on_server=() all_passed=yes tested=""
if [ $# = 0 ]; then
  [ -z "${TESTS:-}" ] || die "TESTS names tests of the stage sql or server: scripts/test.sh STAGE"
  stages=(rust build) CLIENTS=${CLIENTS:-quick}    # and those that follow build below
  export ROWS=${ROWS:-10000}
fi
mkdir -p target
summary=$(mktemp target/summary.XXXXXX)
trap 'rm -f "$summary"' EXIT
prepare_rust
if is_pinned_rust; then lints=(-D warnings); else lints=(--cap-lints warn); fi
[ $# != 0 ] || prepare_clients libipc-run-perl &  # what later stages need, while the first one compiles
for stage in "${stages[@]}"; do
  declare -F "stage_$stage" > /dev/null || die "no stage is called $stage; see scripts/test.sh help"
  case $stage in
    build | sql | docs | clients | server | pgrx | lint) on_server+=("$stage") ;;
    *) run_stage "$stage" ;;
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
    echo "could not be had: PostgreSQL $major" >> "$summary"
    [ -n "$optional" ] && [ -z "${STRICT:-}" ] || all_passed=""
    continue
  fi
  installed=""
  for stage in "${on_server[@]}"; do run_stage "$stage" "$major"; done
  if [ $# = 0 ]; then
    [ -z "$passed" ] || installed=yes
    [ "$major" != assert ] || export FUZZ_SECONDS=${FUZZ_SECONDS:-600}
    # docs and clients need one core, what follows the other
    (run_stage docs "$major"; run_stage clients "$major"; [ -n "$all_passed" ]) > target/beside.log 2>&1 &
    beside=$!
    run_stage sql "$major"
    run_stage server "$major"
    run_stage pgrx "$major"
    wait "$beside" || all_passed=""
    cat target/beside.log
  fi
  [[ ! $major =~ ^[0-9]+$ ]] || tested+=" $major"
done

printf '\n== summary\n'
cat "$summary"
[ -n "$all_passed" ]
