#!/usr/bin/env bash
# Make sure that a library can be shipped: check-library.sh LIBRARY [POSTGRES...]
#
# It exports exactly the functions that the SQL scripts name, so that its symbols do not clash with
# those of other libraries; it runs with the libc of every system that packages are built for; and
# it wants nothing of the server that the programs named lack, or that in PATH: one built for a
# newer minor release may not load in an older one. Each crate with code in it is under MIT, as
# packaging/image.sh says, which a library without symbols does not show. One for macOS (.dylib)
# needs llvm-nm.
set -euo pipefail
cd "$(dirname "$0")/.."
library=$1 oldest_libc=2.34                # of Red Hat Enterprise Linux 9; Debian 12 and Ubuntu 22.04 have newer ones
failed=""

named=$(sed -n "s/.*'MODULE_PATHNAME', '\([a-z0-9_]*\)'.*/\1\npg_finfo_\1/p" sql/*.sql | sort -u)
case $library in
  *.dylib) found=$(llvm-nm --defined-only --extern-only --format=just-symbols "$library" | sed -n 's/^_//p') ;;
  *) found=$(nm --dynamic --defined-only --format=posix "$library" | cut -d ' ' -f 1) ;;
esac
diff <({ echo Pg_magic_func; echo "$named"; } | sort) <(sort <<< "$found") ||
  { echo "error: these symbols are missing (<) or exported (>) by mistake"; failed=1; }
case $library in *.dylib) [ -z "$failed" ]; exit ;; esac

newest=$(nm --dynamic --undefined-only "$library" | sed -n 's/.*@GLIBC_\([0-9.]*\)$/\1/p' | sort -V | tail -n 1)
if [ "$(printf '%s\n' "$newest" $oldest_libc | sort -V | tail -n 1)" != $oldest_libc ]; then
  echo "error: it needs glibc $newest; $oldest_libc is to be enough"
  failed=1
fi
libraries=$(objdump -p "$library" | sed -n 's/^ *NEEDED *//p' | { grep -vE '^(libc|libm|libgcc_s|ld-linux-.*)\.so' || true; })
[ -z "$libraries" ] || { echo "error: it needs $libraries"; failed=1; }
others=$(cargo tree --locked --edges normal,no-proc-macro --prefix none --no-default-features --features pg18 \
  --format '{p}|{l}' |
  sed -n '/|.* AND /p; /|.*MIT/!p' | sed 's/ .*//; s/-/_/g' | sort -u | paste -sd '|')
[ -n "$others" ] || { echo "error: no crate has another licence than MIT: is this check of any use?"; failed=1; }
nm --demangle "$library" 2>&1 | grep -E "(^|[^a-z0-9_:])($others)::" &&
  { echo "error: this is not under MIT; $others are thought to be used only while pgrx is compiled"; failed=1; }
[ $# -gt 1 ] || set -- "$1" "$(pg_config --bindir)/postgres"
for server in "${@:2}"; do
  # with musl, the interpreter is libc, whose symbols have no versions
  interpreter=$(readelf --program-headers "$server" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
  lacks=$(comm -23 <(nm --dynamic --undefined-only --format=posix "$library" | sed -n 's/^\([^@ ]*\) U.*/\1/p' | sort) \
    <(nm --dynamic --defined-only --format=posix "$server" "$interpreter" | sed 's/[@ ].*//' | sort) | tr '\n' ' ')
  [ -z "$lacks" ] || { echo "error: $server lacks $lacks"; failed=1; }
done
[ -z "$failed" ] && echo "$(echo "$found" | wc -l) symbols, glibc $newest"
