#!/usr/bin/env bash
# Check whether the commit that is checked out can be released: its versions and dates, its dependencies, and every package,
# which is built and tested. The files to publish are then in target/packages, with their checksums. A failure does not stop
# the later checks. A second clone, in another directory, makes and tests the packages for ARM at the same time, and what both
# of them make must be the same bytes. Needs about an hour with two processors, and root.
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

first=${PUBLISHED%% *}
export STRICT=yes                          # what was skipped has checked nothing
check() {
  local title=$1 start=$SECONDS status
  shift
  printf '\n=== %s\n' "$title"
  set +e                                   # in a condition, -e would have no effect inside
  (set -e; "$@")
  status=$?
  set -e
  if [ $status = 0 ]; then title="passed: $title"; else title="FAILED: $title"; fi
  echo "$title ($((SECONDS - start)) s)" >> "$LANES/$LANE.summary"
}

everything_is_committed() {
  local changed
  changed=$(git status --porcelain)
  [ -z "$changed" ] || { echo "$changed"; return 1; }
}

# The tests accept "unreleased" instead.
changelog_has_the_date() {
  grep "^## $VERSION - [0-9]" CHANGELOG.md || { echo "CHANGELOG.md has no date for $VERSION"; return 1; }
}

# The packages of one major version, which are made in both clones.
packages_to_compare() {
  export PG=$first
  packaging/deb.sh
  packaging/rpm.sh
}

# Those of the other major versions, which are made without a test.
other_packages() {
  local major
  for major in ${PUBLISHED#* }; do
    PG=$major packaging/deb.sh
    PG=$major packaging/rpm.sh
  done
}

# What this clone does.
first_lane() {
  check "everything is committed" everything_is_committed
  check "date in the changelog" changelog_has_the_date
  check "crates, scripts and workflows" scripts/test.sh crates lint
  PG=$first check "source archives" scripts/test.sh dist
  PG=$PUBLISHED check "Debian and RPM packages" scripts/test.sh deb rpm
  PG=18 check "images" scripts/test.sh image
  ARCH=arm64 check "packages for ARM, to compare" packages_to_compare
}

# What the second clone does.
second_lane() {
  check "packages, to compare" packages_to_compare
  export ARCH=arm64
  PG=$first check "Debian and RPM packages for ARM" scripts/test.sh deb rpm
  check "packages of other major versions for ARM" other_packages
  PG=18 check "image for ARM" scripts/test.sh image
}

# The archives, and the packages of one major version, have the same bytes in both clones.
build_is_reproducible() {
  local name
  cd "$PACKAGES"
  for name in "$NAME".* "$NAME"-vendor.* ulid_sql-* pg-ulid-* postgresql-ulid_* ./*"-$first-"*.deb "ulid_$first"-*.rpm; do
    case $name in *.changes | *.buildinfo) continue ;; esac  # they describe the machine
    cmp "$name" "$SECOND/target/packages/$name"
    sha256sum "$name"
  done
}

# Take what only the second clone has made.
all_files() {
  local file
  for file in "$SECOND"/target/packages/*; do
    [ -e "$PACKAGES/${file##*/}" ] || cp "$file" "$PACKAGES"
  done
  make -s --no-print-directory sums
}

if [ -n "${LANE:-}" ]; then
  prepare_rust
  second_lane
  exit
fi

LANES=$(mktemp -d "${TMPDIR:-/var/tmp}/ulid-release.XXXXXX") LANE=first SECOND=$LANES/ulid second=""
finish() {
  if [ -n "$second" ] && kill -- "-$second" 2> /dev/null; then  # and wait until it has ended its servers
    wait "$second" || true
    timeout 60 sh -c 'while kill -0 -- "-$0" 2> /dev/null; do sleep 1; done' "$second" || true
  fi
  [ ! -e "$SECOND/scripts/clean.sh" ] || "$SECOND/scripts/clean.sh" || true
  rm -rf "$LANES"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
chmod 755 "$LANES"
prepare_rust
rm -rf "$PACKAGES"
git clone --quiet . "$SECOND"
mkdir "$SECOND/target"
[ ! -e target/rust ] || ln -s "$(readlink -f target/rust)" "$SECOND/target/rust"
LANE=second LANES=$LANES setsid "$SECOND/packaging/release-check.sh" > "$LANES/log" 2>&1 &
second=$!
first_lane
wait "$second" || echo "FAILED: the second clone" >> "$LANES/second.summary"
second=""
printf '\n=== in the second clone\n'
cat "$LANES/log"
check "the same bytes twice" build_is_reproducible
check "all files, with their sums" all_files

printf '\n=== summary\n'
cat "$LANES/second.summary" "$LANES/first.summary"
echo "$((SECONDS / 60)) minutes"
! grep -q '^FAILED' "$LANES"/*.summary
