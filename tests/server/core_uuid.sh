#!/usr/bin/env bash
# PostgreSQL's own regression test of uuid, unchanged, in a database that has the extension. It comes from the source
# package of the server's Debian suite.
set -euo pipefail
# shellcheck source=scripts/lib/archive.sh
. "$ROOT/scripts/lib/archive.sh"
major=$(pg_config --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
case $major in
  13) suites=bullseye ;;
  15) suites=bookworm ;;
  17) suites=trixie ;;
  18) suites=forky ;;
  19) suites="forky experimental" ;;
  *) echo "skipped: Debian has no source of PostgreSQL $major"; exit 77 ;;
esac

# Get sql/uuid.sql and expected/uuid.out into a directory.
fetch() {
  # shellcheck disable=SC2086
  open_archive "$PWD/apt" deb-src $suites &&
    (cd apt && apt-get "${APT[@]}" source --download-only --tar-only "postgresql-$major") &&
    mkdir -p "$1" &&
    tar x -f apt/postgresql-*.orig.tar.* -C "$1" --strip-components=4 --wildcards \
      '*/src/test/regress/sql/uuid.sql' '*/src/test/regress/expected/uuid.out'
}

core=$ROOT/target/core-regress/$major
if [ ! -e "$core/expected/uuid.out" ]; then
  command -v bzip2 > /dev/null || { echo "skipped: bzip2 is not there to unpack the source of PostgreSQL"; exit 77; }
  fetch "$core.new" || { echo "skipped: could not fetch the source of PostgreSQL $major"; exit 77; }
  rm -rf "$core"
  mv "$core.new" "$core"
fi
psql -X -q -c 'CREATE EXTENSION ulid'
"$(dirname "$(pg_config --pgxs)")/../test/regress/pg_regress" --bindir="$(pg_config --bindir)" --use-existing \
  --dbname="$PGDATABASE" --inputdir="$core" --outputdir=. uuid || { cat regression.diffs; exit 1; }
