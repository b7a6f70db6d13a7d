#!/usr/bin/env bash
# The RPM package: its name, its files, what it needs and runs, by rpm's own tools; installed into and removed from an empty
# root; and what it installs, used by a server. There is no system of Red Hat's to install it on.
set -euo pipefail
cd "$ROOT"
. tests/packages/lib/bare.sh
[ "$(id -u)" = 0 ] || skip "takes root"
. packaging/common.sh

prepare_tools rpm rpmlint
package=$PACKAGES/ulid_$MAJOR-$VERSION-1PGDG.$MACHINE.rpm
make_sources
[ -e "$package" ] || PG=$MAJOR packaging/rpm.sh
query() { rpm --query --package "$@" "$package"; }

say "rpm --query: files, dependencies, scripts"
equal "$(query --queryformat '%{NAME} %{VERSION} %{RELEASE} %{ARCH}')" "ulid_$MAJOR $VERSION 1PGDG $MACHINE"
equal "$(query --list | grep -v -e ^/usr/share/doc/ -e ^/usr/share/licenses/ | sort)" \
  "$(extension_files "/usr/pgsql-$MAJOR/lib" "/usr/pgsql-$MAJOR/share/extension")"
equal "$(query --licensefiles | sed 's/.*\///')" $'COPYRIGHT\nLICENSE'
# beside the server only what libc and libgcc are
equal "$(query --requires | grep -vE '^(rpmlib|rtld|libc\.so\.6|libm\.so\.6|libgcc_s\.so\.1|ld-linux-[^(]*)\(.*\)')" "postgresql$MAJOR-server"
equal "$(query --requires | sed -n 's/^libc\.so\.6(GLIBC_\(.*\))(.*/\1/p' | sort -V | tail -n 1)" 2.34
equal "$(query --scripts)$(query --triggers)" ""
rpm --checksig "$package"
accepted=(
  no-url-tag                               # the project has no address yet
  invalid-url                              # nor have the archives
  no-signature                             # who publishes it signs it
  no-group-tag no-buildroot-tag            # of old versions of rpm
  non-standard-dir-in-usr no-soname        # as in all packages of that repository
  invalid-soname                           # that rustc 1.97 gives the library, which is not loaded by it
  invalid-license                          # they are those of SPDX
  package-with-huge-docs                   # the documentation is larger than the library
  missing-hash-section                     # it has the newer one, of GNU
)
printf 'Filters = ["%s"]\n' "$(IFS='|'; echo "${accepted[*]}")" > "$SERVERS/rpmlint.toml"
rpmlint --strict --config "$SERVERS/rpmlint.toml" "$package" "${package%."$MACHINE".rpm}.src.rpm"

say "rpm --install, --verify and --erase in an empty root"
root=$SERVERS/root
mkdir "$root"
rpm --root "$root" --initdb
rpm --root "$root" --nodeps ${CROSS:+--ignorearch} --install "$package"
rpm --root "$root" --nodeps --verify "ulid_$MAJOR"
"$ROOT/scripts/check-library.sh" "$root/usr/pgsql-$MAJOR/lib/ulid.so"
make -s --no-print-directory uninstall PG_CONFIG="$BIN/pg_config"
cp "$root/usr/pgsql-$MAJOR/lib/ulid.so" "$(pg_config --pkglibdir)"
cp "$root/usr/pgsql-$MAJOR"/share/extension/* "$(pg_config --sharedir)/extension"
rpm --root "$root" --erase "ulid_$MAJOR"
equal "$(find "$root" -name '*ulid*')" ""

say "make installcheck, with the files that it had installed"
start_server rpm
make -s --no-print-directory installcheck PG_CONFIG="$BIN/pg_config"
