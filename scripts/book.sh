#!/usr/bin/env bash
# Build the documentation as a site in target/book/html, with mdBook, from the same files that are
# read on the repository's host. docs/README.md is the table of contents.
# shellcheck source=scripts/lib/setup.sh
. "$(dirname "$0")/lib/setup.sh"
prepare_rust
prepare_cargo_tool mdbook 0.5.4 --no-default-features --features search
source=target/book/src
rm -rf target/book
mkdir -p "$source"
# the links between these are relative, so they stay as they are
cp -a README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE docs "$source"
cp --parents benches/README.md src/README.md tests/README.md pg_ulid/README.md clients/README.md clients/*/README.md "$source"
# mdBook renames the page of a README.md to index.html, but does not change links to it
find "$source" -name '*.md' -exec sed -i 's#\(](\([^)]*/\)\?\)README\.md#\1index.md#g' {} +
perl -n -e '
  BEGIN { print "[Documentation](docs/README.md)\n\n" }
  print "# $1\n\n" if /^## (.*)/;
  if (/^( *- \[[^]]*\]\()([^)#]*)\)/) {
    my ($item, $page) = ($1, "docs/$2");
    1 while $page =~ s{[^/]+/\.\./}{};
    print "$item$page)\n";
  }' docs/README.md > "$source/SUMMARY.md"
cat > target/book/book.toml << 'EOF'
[book]
title = "ulid for PostgreSQL"
language = "en"

[output.html]
smart-punctuation = false
no-section-label = true
additional-css = ["tables.css"]
EOF
# a table has the width of the page, even of a telephone, where what is code breaks
cat > target/book/tables.css << 'END'
:root { --content-max-width: 980px }
table { font-size: 0.75em }
table td, table thead th { padding: 3px 6px }
@media (max-width: 600px) {
  table { font-size: 0.65em }
  table td, table thead th { padding: 2px 3px }
  table code { padding: 0; overflow-wrap: anywhere; white-space: pre-wrap }
  table:has(th:nth-child(7)) { font-size: 0.55em; overflow-wrap: anywhere }
}
END
mdbook build target/book
mv target/book/book target/book/html
echo "target/book/html/index.html"
