#!/usr/bin/env bash
# The source archives: what PGXN asks of META.json, and PGXN's client, which builds, installs,
# loads, tests and removes the extension without reaching the network.
# shellcheck source=tests/packages/common.sh
. "$(dirname "$0")/common.sh"
prepare_tools pgxnclient unzip
prepare_cargo_tool pgxn_meta 0.7.0
unzip -q "$PACKAGES/$NAME.zip" -d "$SERVERS"
source=$SERVERS/$NAME
pgxn_meta "$source/META.json"
tar x -C "$source" -f "$PACKAGES/$NAME-vendor.tar.xz"
# Debian's form; the second licence is that of a table in Rust's standard library
head -n 1 "$source/vendor/COPYRIGHT" | grep -qx 'Format: .*/copyright-format/1.0/'
grep -q 'The Rust Project contributors' "$source/vendor/COPYRIGHT"
[ "$(sed -n 's/^License: //p' "$source/vendor/COPYRIGHT" | sort -u | xargs)" = "MIT Unicode-3.0" ] || die "other licences"
grep -q '"purl": "pkg:cargo/pgrx@' "$PACKAGES/$NAME.cdx.json"
grep -q '"serialNumber": "urn:uuid:' "$PACKAGES/$NAME.cdx.json"

# PGXN's archive alone takes crates from the network; here from those above, which are compiled
# already.
export CARGO_HOME=$SERVERS/cargo CARGO_TARGET_DIR=$SERVERS/target CARGO_TERM_QUIET=true
mkdir "$CARGO_HOME"
sed "s#^directory = .*#directory = \"$source/vendor\"#" "$source/vendor/config.toml" > "$CARGO_HOME/config.toml"
unset DESTDIR
make -s --no-print-directory uninstall PG_CONFIG="$BIN/pg_config"
mkdir -p "$(pg_config --libdir)"           # where pgxn wants to be able to write, and a copy of PostgreSQL has nothing
start_server dist
cd "$SERVERS"
for step in "install --nosudo" "load --yes" check "unload --yes" "uninstall --nosudo"; do
  say "pgxn $step"
  # shellcheck disable=SC2086
  unshare --map-root-user --net pgxn $step --pg_config "$BIN/pg_config" "$PACKAGES/$NAME.zip"
done
[ -z "$(find "$(pg_config --sharedir)/extension" "$(pg_config --pkglibdir)" -name '*ulid*')" ]
