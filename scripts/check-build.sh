#!/bin/sh
# Check that everything a build needs is installed, and report each missing part in a line:
# check-build.sh PG_CONFIG
set -eu
failed=""
missing() {
  echo "error: $1" >&2
  failed=yes
}

# Whether the C compiler finds this header.
has_header() {
  # shellcheck disable=SC2046,SC2086
  echo "#include <$1>" | ${CC:-cc} $("$pg_config" --cppflags) ${BINDGEN_EXTRA_CLANG_ARGS:-} -E - > /dev/null 2>&1
}

pg_config=$1
headers=$("$pg_config" --includedir-server)
if ! "$(dirname "$0")/check-rust.sh"; then
  failed=yes                               # rustup brings all three
else
  command -v cargo > /dev/null || missing 'cargo is needed (Debian, Red Hat and Alpine: cargo)'
  "${RUSTFMT:-rustfmt}" --version > /dev/null 2>&1 || missing 'rustfmt is needed (rustup component add rustfmt)'
fi
"$(dirname "$0")/check-libclang.sh" || failed=yes
[ -e "$headers/postgres.h" ] ||
  missing "the server's headers are needed in $headers (Debian: postgresql-server-dev-NN; Red Hat: postgresqlNN-devel)"
if ! has_header stdio.h; then
  missing "a C compiler with the headers of libc is needed (Debian: gcc libc6-dev; Red Hat: gcc; Alpine: gcc musl-dev)"
elif grep -qs '^#define USE_ICU 1' "$headers"/pg_config*.h && ! has_header unicode/ucol.h; then
  missing "ICU's headers are needed, which the server's headers include (Debian: libicu-dev; Red Hat: libicu-devel; Alpine: icu-dev)"
fi
[ -z "$failed" ] || exit 1

# What src/fmgr.rs declares: a declaration that differs from that of the header is an error.
# shellcheck disable=SC2046,SC2086
${CC:-cc} $("$pg_config" --cppflags) -I"$headers" ${BINDGEN_EXTRA_CLANG_ARGS:-} -fsyntax-only -x c - << 'END' ||
#include <postgres.h>
extern bool errstart(int level, const char *domain);
extern void errfinish(const char *file, int line, const char *function);
extern int errcode(int sqlstate);
extern int errmsg(const char *format, ...);
extern int errdetail(const char *format, ...);
extern int errhint(const char *format, ...);
END
  missing "the server's headers declare ereport() otherwise than src/fmgr.rs"
[ -z "$failed" ]
