#!/usr/bin/env bash
# Make sure that a library can be shipped: check-library.sh LIBRARY
#
# It exports exactly the functions that src/lib.rs lists, so that its symbols do not clash with those of other libraries;
# the SQL scripts refer to no others; and it runs with the libc of every system that packages are built for.
set -euo pipefail
cd "$(dirname "$0")/.."
library=$1 oldest_libc=2.34                # of Red Hat Enterprise Linux 9; Debian 12 and Ubuntu 22.04 have newer ones
failed=""

listed=$(sed -n '/^frame::export! {/,/^}/s/^ *\([a-z0-9_]*\)(.*/\1/p' src/lib.rs)
# shellcheck disable=SC2086
wanted=$({ echo Pg_magic_func; printf '%s\n' $listed; printf 'pg_finfo_%s\n' $listed; } | sort)
found=$(nm --dynamic --defined-only --format=posix "$library" | cut -d ' ' -f 1 | sort)
diff <(echo "$wanted") <(echo "$found") || { echo "error: these symbols are missing (<) or exported (>) by mistake"; failed=1; }
named=$(cat sql/*.sql tests/t/data/*.sql | sed -n "s/.*'MODULE_PATHNAME', '\([a-z0-9_]*\)'.*/\1/p" | sort -u)
comm -23 <(echo "$named") <(echo "$listed" | sort) | grep . && { echo "error: scripts name these symbols"; failed=1; }

newest=$(nm --dynamic --undefined-only "$library" | sed -n 's/.*@GLIBC_\([0-9.]*\)$/\1/p' | sort -V | tail -n 1)
if [ "$(printf '%s\n' "$newest" $oldest_libc | sort -V | tail -n 1)" != $oldest_libc ]; then
  echo "error: it needs glibc $newest; $oldest_libc is to be enough"
  failed=1
fi
libraries=$(objdump -p "$library" | sed -n 's/^ *NEEDED *//p' | grep -vE '^(libc|libm|libgcc_s|ld-linux-.*)\.so' || true)
[ -z "$libraries" ] || { echo "error: it needs $libraries"; failed=1; }
[ -z "$failed" ] && echo "$(echo "$found" | wc -l) symbols, glibc $newest"
