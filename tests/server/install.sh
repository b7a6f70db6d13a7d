#!/usr/bin/env bash
# `make install` and `make uninstall` replace our files of any version, but not those of another extension named ulid,
# and do not run with a compiler that is too old. Tested in a directory that nobody uses.
set -euo pipefail
make() {
  CARGO_TERM_QUIET=true command make -s --no-print-directory -C "$ROOT" "$@" PG_CONFIG="$BIN/pg_config" DESTDIR="$PWD/root"
}
control=$PWD/root$(pg_config --sharedir)/extension/ulid.control
library=$PWD/root$(pg_config --pkglibdir)/ulid.so

# an older compiler: the message names the required one and how to get it
mkdir old
printf '#!/bin/sh\necho "rustc 1.85.0 (4d91de4e4 2025-02-17)"\n' > old/rustc
chmod 755 old/rustc
for target in build install; do
  if PATH=$PWD/old:$PATH make $target > message 2>&1; then
    echo "not refused: $target with an old compiler"
    exit 1
  fi
  needed=$(sed -n 's/^rustc = "\(.*\)"/\1/p' "$ROOT/Cargo.toml")
  grep -qx "error: Rust $needed or newer is needed, and this is 1.85.0" message || { cat message; exit 1; }
  grep -q 'scripts/fetch-rust\.sh' message
done

make all                                   # as pgxn does
make install
make install
sed -i "s/^default_version = .*/default_version = '1.0.0'/" "$control"
make install
diff "$ROOT/ulid.control" "$control"

# Replace the file $1 with stdin: nothing is overwritten or removed, and the message names the file.
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
