#!/usr/bin/env bash
# PostgreSQL's own regression test of uuid, unchanged, in a database that has the extension. It comes from the source
# package of the server's Debian suite.
set -euo pipefail
major=$(pg_config --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
case $major in
  13) suite=bullseye ;;
  15) suite=bookworm ;;
  17) suite=trixie ;;
  18) suite=forky ;;
  *) echo "skipped: Debian has no source of PostgreSQL $major"; exit 77 ;;
esac

# Get sql/uuid.sql and expected/uuid.out into a directory.
fetch() {
  local apt mirror
  mkdir -p apt/lists/partial apt/cache
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | grep -m 1 debian)
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" > apt/sources
  apt=(-qq -o Dir::Etc::sourcelist="$PWD/apt/sources" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::Lists="$PWD/apt/lists"
    -o Dir::Cache="$PWD/apt/cache" -o APT::Sandbox::User=root)
  apt-get "${apt[@]}" update
  (cd apt && apt-get "${apt[@]}" source --download-only --tar-only "postgresql-$major")
  mkdir -p "$1"
  tar x -f apt/postgresql-*.orig.tar.* -C "$1" --strip-components=4 --wildcards '*/src/test/regress/sql/uuid.sql' '*/src/test/regress/expected/uuid.out'
}

core=$ROOT/target/core-regress/$major
if [ ! -e "$core/expected/uuid.out" ]; then
  fetch "$core.new" || { echo "skipped: could not fetch the source of PostgreSQL $major"; exit 77; }
  rm -rf "$core"
  mv "$core.new" "$core"
fi
psql -X -q -c 'CREATE EXTENSION ulid'
"$(dirname "$(pg_config --pgxs)")/../test/regress/pg_regress" --bindir="$(pg_config --bindir)" --use-existing \
  --dbname="$PGDATABASE" --inputdir="$core" --outputdir=. uuid || { cat regression.diffs; exit 1; }
