#!/bin/sh
# Make sure that the files to be overwritten or removed are ours: check-installed.sh LIBRARY EXTENSIONDIR
#
# Packages of pgx_ulid install an extension of the same name, with another type. Databases that use it would lose it.
set -eu
foreign=""
# the comment of every version, and a function that every version exports
[ ! -e "$2/ulid.control" ] || grep -q "^comment = 'ulid: a 16-byte ULID type" "$2/ulid.control" || foreign=$2/ulid.control
[ ! -e "$1" ] || grep -q pg_finfo_ulid_lower_bound "$1" || foreign=$1
[ -n "$foreign" ] || exit 0
cat >&2 << END
error: this file belongs to another extension named ulid: $foreign
Databases of this server may use that extension, so nothing has been changed. Read the section "pgx_ulid" of
docs/migrating.md: bring those databases along, remove the package or the files of that extension, and try again.
END
exit 1
