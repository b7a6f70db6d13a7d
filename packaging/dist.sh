#!/usr/bin/env bash
# Make the source archives of the commit that is checked out, in target/packages:
#
#   ulid-VERSION.zip              the source, in the form that PGXN accepts
#   ulid-VERSION-vendor.tar.xz    the crates it is built from, and their licences: unpacked in the
#                                 source, they allow a build without network
#   ulid-VERSION.cdx.json         the SBOM, in the format of CycloneDX: the crates of the library
#   ulid_sql-*-pg_tle.sql         the command that installs the extension ulid_sql into a database
#                                 with pg_tle
#   pg-ulid-LANGUAGE.tar.gz       the package of each language in clients/; pip and npm install it
#                                 as it is
#
# Needs git and xz, and the network for crates and tools that cargo has not fetched yet.
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

prepare_rust
prepare_cargo_tool cargo-about 0.9.0 --features cli
prepare_cargo_tool cargo-cyclonedx 0.5.9
source=$PACKAGES/source commit=$(git rev-parse HEAD)
rm -rf "$PACKAGES"                         # so that all its files are of one commit
mkdir -p "$source"
[ -z "$(git status --porcelain)" ] || say "the archives do not contain uncommitted changes"
git archive --format=zip --prefix="$NAME/" --output="$PACKAGES/$NAME.zip" "$commit"
git archive "$commit" | tar x -C "$source"
for package in clients/*/CHANGELOG.md; do
  language=$(basename "${package%/*}")
  git archive --format=tar.gz --prefix="pg-ulid-$language/" --output="$PACKAGES/pg-ulid-$language.tar.gz" "$commit:clients/$language"
done
packaging/pg_tle.sh > "$PACKAGES/ulid_sql-$(sed -n "s/^default_version = '\(.*\)'/\1/p" sql/ulid_sql.control)-pg_tle.sql"

cd "$source"
say "cargo vendor, cargo about, cargo cyclonedx"
cargo vendor --locked --quiet --versioned-dirs vendor > /dev/null
printf '[source.crates-io]\nreplace-with = "vendor"\n\n[source.vendor]\ndirectory = "vendor"\n' > vendor/config.toml
# pgrx uses pgrx-sql-entity-graph, and what that needs, only while it is compiled
CRATES=$(for target in x86_64 aarch64; do
  cargo tree --locked --edges normal,no-proc-macro --prune pgrx-sql-entity-graph --prefix none \
    --no-default-features --features pg18 --target $target-unknown-linux-gnu
done | sed -n 's/^\([^ ]*\) v\([^ ]*\)\( (\*)\)\?$/\1-\2/p' | sort -u)
export CRATES
cargo about generate --locked --no-default-features --features pg18 --config packaging/about.toml --format json |
  perl packaging/copyright.pl "$REPOSITORY" vendor/unicode-ident-*/LICENSE-UNICODE > vendor/COPYRIGHT
cargo cyclonedx --quiet --no-build-deps --format json --spec-version 1.5 --no-default-features --features pg18 --target x86_64-unknown-linux-gnu --override-filename "$NAME.cdx"
# GitHub attests only an SBOM with a serial number, which the tool omits where times are given: that
# of the commit.
serial=urn:uuid:${commit:0:8}-${commit:8:4}-5${commit:13:3}-a${commit:17:3}-${commit:20:12}
sed "0,/\"specVersion\"/s//\"serialNumber\": \"$serial\",\n  &/" "$NAME.cdx.json" > "$PACKAGES/$NAME.cdx.json"
tar c --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner vendor | xz -3 -T 0 > "$PACKAGES/$NAME-vendor.tar.xz"
cd "$ROOT"
rm -rf "$source"
echo "$commit" > "$PACKAGES/.commit"
say "made in $PACKAGES: $(cd "$PACKAGES" && echo *)"
