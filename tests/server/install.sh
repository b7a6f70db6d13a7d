#!/usr/bin/env bash
# `make install` and `make uninstall`: over files of ours, of any version, and not over those of another extension named
# ulid. Into a directory that is nobody's.
set -euo pipefail
make() {
  CARGO_TERM_QUIET=true command make -s --no-print-directory -C "$ROOT" "$@" PG_CONFIG="$BIN/pg_config" DESTDIR="$PWD/root"
}
control=$PWD/root$(pg_config --sharedir)/extension/ulid.control
library=$PWD/root$(pg_config --pkglibdir)/ulid.so

make all                                   # as pgxn does
make install
make install
sed -i "s/^default_version = .*/default_version = '1.0.0'/" "$control"
make install
diff "$ROOT/ulid.control" "$control"

# Change the file $1 into what is on stdin: nothing is overwritten or removed, and the message names the file.
refuses() {
  local target
  cat > "$1"
  find root -type f -exec sha256sum {} + > before
  for target in install uninstall; do
    if make $target > message 2>&1; then
      echo "not refused: $target over $1"
      exit 1
    fi
    cat message
    grep -qxF "error: this file belongs to another extension named ulid: $1" message
    grep -q 'docs/migrating\.md' message
    find root -type f -exec sha256sum {} + | diff before -
  done
}
refuses "$control" << 'END'
comment = 'ulid type and methods'
default_version = '0.2.2'
module_pathname = '$libdir/pgx_ulid'
relocatable = false
superuser = true
END
rm "$control"
refuses "$library" <<< 'pg_finfo_gen_ulid_wrapper'
rm "$library"
make install
make uninstall
find root -type f | diff /dev/null -
