#!/usr/bin/env bash
# The source archives: what PGXN asks of them, a build from them that reaches no network, and PGXN's client, which
# installs, loads, tests and removes the extension.
set -euo pipefail
cd "$ROOT"
. packaging/common.sh

prepare_tools pgxnclient python3-venv unzip
make_sources
say "the archive, and its META.json"
unzip -q "$PACKAGES/$NAME.zip" -d "$SERVERS/archive"
test "$(ls -A "$SERVERS/archive")" = "$NAME"
source=$SERVERS/archive/$NAME
test "$(cd "$source" && echo .[!.]*)" = ".cargo .dockerignore"  # what builds need
prepare_cargo_tool pgxn_meta 0.7.0
pgxn_meta "$source/META.json"
REPOSITORY=https://example.com/ulid print_meta > "$SERVERS/META.json"
pgxn_meta "$SERVERS/META.json"
grep -q '"url" : "https://example.com/ulid.git"' "$SERVERS/META.json"

say "the SBOM, by the schema of CycloneDX 1.5"
python3 -m venv "$SERVERS/python"
"$SERVERS/python/bin/pip" --quiet --disable-pip-version-check install 'cyclonedx-python-lib[json-validation]==11.6.0'
"$SERVERS/python/bin/python" - "$PACKAGES/$NAME.cdx.json" << 'END'
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
fault = JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read())
sys.exit(fault and str(fault))
END

say "the packages of clients, installed by pip and npm"
test "$(cd "$PACKAGES" && echo pg-ulid-*)" = "$(for name in clients/*/CHANGELOG.md; do echo "pg-ulid-$(basename "${name%/*}")-$VERSION.tar.gz"; done | xargs)"
"$SERVERS/python/bin/pip" --quiet --disable-pip-version-check install --no-deps "$PACKAGES/pg-ulid-python-$VERSION.tar.gz"
test "$("$SERVERS/python/bin/python" -c 'from pg_ulid import canonical; print(canonical("01aryz6s41tsv4rrffq69g5fav"))')" = 01ARYZ6S41TSV4RRFFQ69G5FAV
command -v npm > /dev/null || prepare_tools npm
npm install --silent --no-audit --no-fund --omit=peer --prefix "$SERVERS/node" "$PACKAGES/pg-ulid-node-$VERSION.tar.gz"
(cd "$SERVERS/node" && echo 'import { canonical } from "pg-ulid"; console.log(canonical("01aryz6s41tsv4rrffq69g5fav"))' > main.mjs &&
  test "$(node main.mjs)" = 01ARYZ6S41TSV4RRFFQ69G5FAV)

say "build without network, and without any crate that cargo has fetched"
tar x -C "$source" -f "$PACKAGES/$NAME-vendor.tar.xz"
export CARGO_HOME=$SERVERS/cargo CARGO_TARGET_DIR=$SERVERS/target CARGO_TERM_QUIET=true
without_network make -s -C "$source" build PG_CONFIG="$BIN/pg_config"
scripts/check-library.sh "$CARGO_TARGET_DIR/pg$MAJOR/ulid.so"

# PGXN's archive alone takes crates from the network; here from those above, which are compiled already.
sed "s#^directory = .*#directory = \"$source/vendor\"#" "$source/vendor/config.toml" > "$CARGO_HOME/config.toml"
make -s --no-print-directory uninstall PG_CONFIG="$BIN/pg_config"
mkdir -p "$(pg_config --libdir)"           # where pgxn wants to be able to write, and a copy of PostgreSQL has nothing
start_server dist
cd "$SERVERS"
client() {
  say "pgxn $*"
  without_network pgxn "$1" --pg_config "$BIN/pg_config" "${@:2}" "$PACKAGES/$NAME.zip"
}
client install --nosudo
client load --yes
test "$(psql -XAtc "SELECT extversion FROM pg_extension WHERE extname = 'ulid'")" = "$VERSION"
client check
client unload --yes
test -z "$(psql -XAtc "SELECT extversion FROM pg_extension WHERE extname = 'ulid'")"
client uninstall --nosudo
test -z "$(find "$(pg_config --sharedir)/extension" "$(pg_config --pkglibdir)" -name '*ulid*')"
