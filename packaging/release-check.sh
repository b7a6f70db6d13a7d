#!/usr/bin/env bash
# Check whether the commit that is checked out can be released: its versions and dates, its dependencies, and every package,
# which is built and tested. The files to publish are then in target/packages, with their checksums. A failure does not stop
# the later checks. Needs almost two hours, and root.
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

summary=() failed=""
check() {
  local title=$1 status
  shift
  printf '\n=== %s\n' "$title"
  set +e                                   # in a condition, -e would have no effect inside
  (set -e; "$@")
  status=$?
  set -e
  if [ $status = 0 ]; then summary+=("passed: $title"); else summary+=("FAILED: $title") failed=yes; fi
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

# Run stages of the tests, for each major version of PG; a skipped stage is a failure, as it has checked nothing.
stages() {
  scripts/test.sh "$@" | tee "$log"
  ! grep '^skipped: .* s)$' "$log"
}

# Those of the first major version, and the image, are also tested in an emulator.
packages_for_arm() {
  local major
  export ARCH=arm64
  PG=${PUBLISHED%% *} stages deb rpm
  for major in ${PUBLISHED#* }; do
    PG=$major packaging/deb.sh
    PG=$major packaging/rpm.sh
  done
  PG=18 stages image
}

# The archives and packages have the same bytes when they are built in another directory at another time.
build_is_reproducible() {
  local elsewhere
  export PG=${PUBLISHED%% *}
  elsewhere=$(mktemp -d "${TMPDIR:-/tmp}/ulid-elsewhere.XXXXXX")
  git clone --quiet . "$elsewhere/ulid"
  # shellcheck disable=SC2064
  trap "'$elsewhere/ulid/scripts/clean.sh'; rm -rf '$elsewhere'" EXIT
  cd "$elsewhere/ulid"
  mkdir target
  [ ! -e "$ROOT/target/rust" ] || ln -s "$(readlink -f "$ROOT/target/rust")" target/rust
  packaging/deb.sh
  packaging/rpm.sh
  ARCH=arm64 packaging/deb.sh
  ARCH=arm64 packaging/rpm.sh
  cd target/packages
  # .buildinfo and .changes describe the machine
  sha256sum -- * | grep -v -e '\.buildinfo$' -e '\.changes$' > "$elsewhere/sums"
  cd "$PACKAGES"
  sha256sum --check "$elsewhere/sums"
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
prepare_rust
rm -rf "$PACKAGES"
check "everything is committed" everything_is_committed
check "date in the changelog" changelog_has_the_date
check "crates, scripts and workflows" stages crates lint
PG=${PUBLISHED%% *} check "source archives" stages dist
PG=$PUBLISHED check "Debian and RPM packages" stages deb rpm
PG=18 check "images" stages image
check "packages and image for ARM" packages_for_arm
check "the same bytes again" build_is_reproducible
check "sums" make -s --no-print-directory sums

printf '\n=== summary\n'
printf '%s\n' "${summary[@]}"
[ -z "$failed" ]
