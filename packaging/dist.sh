#!/usr/bin/env bash
# Make the source archives of the commit that is checked out, in target/packages:
#
#   ulid-VERSION.zip              the source, in the form that PGXN accepts
#   ulid-VERSION-vendor.tar.xz    the crates it is built from: unpacked in the source, they allow a build without network
#   ulid-VERSION.cdx.json         the SBOM, in the format of CycloneDX: the crates that are linked into the library
#   ulid_sql-*-pg_tle.sql         the command that installs the extension ulid_sql into a database with pg_tle
#   pg-ulid-LANGUAGE-*.tar.gz     the package of each language in clients/; pip and npm install it as it is
#
# REPOSITORY=https://... is the project's address; META.json and the packages contain it. The same commit gives the same
# bytes. Needs git and xz, and the network for crates that cargo has not fetched yet.
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

source=$PACKAGES/source
rm -rf "$PACKAGES"                         # so that all its files are of one commit
mkdir -p "$source"
[ -z "$(git status --porcelain)" ] || say "the archives do not contain uncommitted changes"
print_meta > "$source/META.json"
git archive --format=zip --prefix="$NAME/" --add-file="$source/META.json" --output="$PACKAGES/$NAME.zip" HEAD -- . ':!META.json'
git archive HEAD | tar x -C "$source"
for package in clients/*/CHANGELOG.md; do
  language=$(basename "${package%/*}")
  package=pg-ulid-$language-$VERSION
  make_tar -C "$source/clients" --transform="s,^$language,$package," "$language" | gzip -n > "$PACKAGES/$package.tar.gz"
done

prepare_rust
cd "$source"
say "cargo vendor"
cargo vendor --locked --quiet --versioned-dirs vendor
sed -i 's/^{"$comment":"[^"]*",/{/' vendor/*/.cargo-checksum.json  # written by cargo 1.97 and later
cat > vendor/config.toml << 'END'
[source.crates-io]
replace-with = "vendor"

[source.vendor]
directory = "vendor"
END

# Print the crates that the extension depends on, on any Linux, with their licences; $1 is the kinds of dependencies.
crates() {
  local cpu
  for cpu in x86_64 aarch64 powerpc64le s390x riscv64gc i686; do
    cargo tree --quiet --offline --locked --config vendor/config.toml --target "$cpu-unknown-linux-gnu" \
      --edges "$1" --features pg18 --prefix none --no-dedupe --format '{p}|{l}'
  done | grep -v ' (/' | sort -u
}

crates normal,build > compiled
crates normal,no-proc-macro > linked
packaging/copyright.pl compiled linked > vendor/COPYRIGHT
packaging/sbom.pl "$VERSION" linked Cargo.lock > "$PACKAGES/$NAME.cdx.json"
tle=ulid_sql-$(sed -n "s/^default_version = '\(.*\)'/\1/p" sql/ulid_sql.control)-pg_tle.sql
packaging/pg_tle.sh > "$PACKAGES/$tle"
# Of the crates for tests and other systems, cargo needs only the manifest.
sed -i 's/^\([^ ]*\) v\([^ |]*\).*/\1-\2/' compiled
for crate in vendor/*/; do
  crate=${crate%/}
  ! grep -qxF "${crate#vendor/}" compiled || continue
  find "$crate" -type f ! -path "$crate/Cargo.toml" ! -path "$crate/.cargo-checksum.json" -delete
  find "$crate" -type d -empty -delete
  mkdir "$crate/src"
  : > "$crate/src/lib.rs"
  # programs and tests, whose files are missing
  perl -0pi -e 's/^\[\[(?:bin|bench|example|test)\]\]\n(?:[^\[\n].*\n|\n)*//gm' "$crate/Cargo.toml"
  sed -i 's/"files":{[^}]*}/"files":{}/' "$crate/.cargo-checksum.json"
done
# Nor does it need the files for Windows.
find vendor -name '*.dll' | while IFS=/ read -r _ crate file; do
  rm "vendor/$crate/$file"
  sed -i "s#\"$file\":\"[0-9a-f]*\",\?##; s#,}#}#" "vendor/$crate/.cargo-checksum.json"
done
say "$(wc -l < compiled) crates are compiled, $(wc -l < linked) are linked in"
make_tar vendor | xz -3 -T 1 > "$PACKAGES/$NAME-vendor.tar.xz"
cd "$ROOT"
rm -rf "$source"
echo "$MADE_OF" > "$PACKAGES/.commit"
say "made $PACKAGES/$NAME.zip, $NAME-vendor.tar.xz, $NAME.cdx.json, $tle and pg-ulid-*-$VERSION.tar.gz"
