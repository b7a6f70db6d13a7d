#!/bin/sh
# Make sure that the files to be overwritten or removed are ours: check-installed.sh LIBRARY
# EXTENSIONDIR
#
# Packages of pgx_ulid install an extension of the same name with another type. Databases that use
# it would stop working.
set -eu
cd "$(dirname "$0")/.."
foreign=""
# the first words of the comment, which are the same in every version, and a function that every
# version exports
for control in ulid.control sql/*.control; do
  name=$(basename "$control" .control) file=$2/${control##*/}
  [ ! -e "$file" ] || grep -qF "$(sed -n "s/^\(comment = '$name: [^ ]* [^ ]*\).*/\1/p" "$control")" "$file" || foreign="$name: $file"
done
[ ! -e "$1" ] || grep -q pg_finfo_ulid_lower_bound "$1" || foreign="ulid: $1"
[ -n "$foreign" ] || exit 0
cat >&2 << END
error: this file belongs to another extension named $foreign
Databases of this server may use that extension, so nothing has been changed. See docs/migrating.md:
convert those databases, remove the package or the files of that extension, and try again.
END
exit 1
