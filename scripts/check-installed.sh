#!/usr/bin/env bash
# Make sure that the files to be overwritten or removed are ours: check-installed.sh LIBDIR EXTENSIONDIR
#
# Packages of pgx_ulid install an extension of the same name, with another type. Databases that use it would lose it.
set -euo pipefail
foreign=()
# the comment of every version, and a function that every version exports
[ ! -e "$2/ulid.control" ] || grep -q "^comment = 'ulid: a 16-byte ULID type" "$2/ulid.control" || foreign+=("$2/ulid.control")
[ ! -e "$1/ulid.so" ] || grep -q pg_finfo_ulid_lower_bound "$1/ulid.so" || foreign+=("$1/ulid.so")
[ ${#foreign[@]} -gt 0 ] || exit 0
{
  printf 'error: this file belongs to another extension named ulid: %s\n' "${foreign[@]}"
  echo "Databases of this server may use that extension, so nothing has been changed. Read the section \"pgx_ulid\" of"
  echo "docs/migrating.md: bring those databases along, remove the package or the files of that extension, and try again."
} >&2
exit 1
