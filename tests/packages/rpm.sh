#!/usr/bin/env bash
# The RPM package: its files and what it needs, by rpm's own tools; and its files, tested in a
# server. There is no system of Red Hat's to install it on.
# shellcheck source=tests/packages/common.sh
. "$(dirname "$0")/common.sh"
prepare_tools rpm cpio
package=$PACKAGES/ulid_$MAJOR-$VERSION-1PGDG.$(uname -m).rpm
[ -e "$package" ] || PG=$MAJOR packaging/rpm.sh
query() { rpm --query --package "$@" "$package"; }

say "rpm --query: files, licences, dependencies, scripts"
mkdir "$SERVERS/root"
(cd "$SERVERS/root" && rpm2cpio "$package" | cpio --quiet --extract --make-directories)
has_files "$SERVERS/root" "usr/pgsql-$MAJOR/lib" "usr/pgsql-$MAJOR/share/extension"
[ "$(query --licensefiles | sed 's/.*\///')" = $'COPYRIGHT\nLICENSE' ] || die "other licences"
# beside the server only what libc and libgcc are
[ "$(query --requires | grep -vE '^(rpmlib|rtld|libc\.so\.6|libm\.so\.6|libgcc_s\.so\.1|ld-linux-[^(]*)\(.*\)')" = "postgresql$MAJOR-server" ] || die "it needs more"
[ -z "$(query --scripts)$(query --triggers)" ] || die "it has scripts"
rpm --checksig "$package"

say "make installcheck, with its files"
installcheck "$SERVERS/root/usr/pgsql-$MAJOR/lib" "$SERVERS/root/usr/pgsql-$MAJOR/share/extension"
