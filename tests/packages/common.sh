# Sourced by the tests of packages. MAJOR is the version that PG names, or the machine's own;
# SERVERS is removed at the end.
# shellcheck shell=bash
# shellcheck source=packaging/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../packaging/common.sh"
MAJOR=${PG:-$(default_major)}
export MAJOR VERSION REVISION
prepare_postgres "$MAJOR"
PATH=$BIN:$PATH
open_servers
make_sources

# Check that a directory has the files of the extension, below its own directories of libraries ($2)
# and extensions ($3).
has_files() {
  local control name
  diff <(cd "$1" && find . -type f -path '*ulid*' ! -path './usr/share/doc/*' ! -path '*/licenses/*' | sort) <({
    echo "./$2/ulid.so"
    for control in ulid.control sql/*.control; do
      name=$(basename "$control" .control)
      printf '%s\n' "./$3/$name.control" "./$3/$name--$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$control").sql"
    done
    find sql -name '*--*--*.sql' -printf "./$3/%f\n"
  } | sort)
  scripts/check-library.sh "$1/$2/ulid.so"
}

# Test the files of a package, whose directories of libraries and extensions these are, in the
# private copy of the server.
installcheck() {
  make -s --no-print-directory uninstall PG_CONFIG="$BIN/pg_config" DESTDIR=
  cp "$1/ulid.so" "$(pg_config --pkglibdir)"
  cp "$2"/ulid* "$(pg_config --sharedir)/extension"
  start_server packages
  make -s --no-print-directory installcheck PG_CONFIG="$BIN/pg_config"
}
