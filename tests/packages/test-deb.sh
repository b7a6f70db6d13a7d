#!/usr/bin/env bash
# The Debian package: made, judged by lintian, and installed, used, upgraded and purged in a Debian that has nothing else.
# The major version MAJOR decides which Debian that is; with ARCH=arm64, it runs in an emulator.
set -euo pipefail
cd "$ROOT"
. packaging/common.sh

. tests/packages/lib/bare.sh
root=$SERVERS/root
suite=$(suite_of "$MAJOR") || skip "no Debian has PostgreSQL $MAJOR"
make_debian "$root" "$suite"

prepare_tools lintian
new=postgresql-$MAJOR-ulid_$VERSION-1_$ARCHITECTURE.deb
make_sources
[ -e "$PACKAGES/$new" ] || PG=$MAJOR packaging/deb.sh
say "lintian"
accepted=(
  initial-upload-closes-no-bugs            # it is not uploaded to Debian, where a first version closes the wish for it
  debian-watch-file-is-missing             # it is made from a checkout, not from what is published elsewhere
  no-homepage-field                        # the project has no address yet
  hardening-no-fortify-functions           # these are for C
  package-does-not-install-examples        # core/fuzz/examples is a program of the tests
  spelling-error-in-binary                 # it takes four bytes of machine code for a word
  repeated-path-segment                    # PostgreSQL looks in /usr/lib/postgresql/NN/lib
)
lintian --allow-root --display-info --pedantic --fail-on error,warning,info,pedantic \
  --suppress-tags "$(IFS=,; echo "${accepted[*]}")" "$PACKAGES/${new%.deb}.changes" "$PACKAGES/postgresql-ulid_$VERSION-1_source.changes"

mkdir -p "$root"/etc/postgresql-common/ "$root/test/core/tests"
echo "create_main_cluster = false" > "$root/etc/postgresql-common/createcluster.conf"
cp -R core/tests/data "$root/test/core/tests"
cp scripts/demo.sql "$PACKAGES/$new" "$root/test"

say "its architecture, dependencies, files and library"
dpkg-deb -R "$PACKAGES/$new" "$SERVERS/old"
field() { dpkg-deb -f "$PACKAGES/$new" "$1"; }
equal "$(field Package) $(field Source) $(field Version) $(field Architecture)" \
  "postgresql-$MAJOR-ulid postgresql-ulid $VERSION-1 $ARCHITECTURE"
equal "$(field Depends | sed 's/ (>= [0-9.]*)//g')" "postgresql-$MAJOR, libc6, libgcc-s1"
libc=$(field Depends | sed 's/.*libc6 (>= \([0-9.]*\)).*/\1/')
equal "$(printf '%s\n' "$libc" 2.34 | sort -V | tail -n 1)" 2.34
equal "$(cd "$SERVERS/old" && find usr -type f ! -path 'usr/share/doc/*' | sort)" \
  "$(extension_files "usr/lib/postgresql/$MAJOR/lib" "usr/share/postgresql/$MAJOR/extension")"
scripts/check-library.sh "$SERVERS/old/usr/lib/postgresql/$MAJOR/lib/ulid.so"

# The package as an older version: the same with another number.
sed -i "s/^Version: .*/Version: 0-1/" "$SERVERS/old/DEBIAN/control"
quiet dpkg-deb --root-owner-group -b "$SERVERS/old" "$root/test/old.deb"

cat > "$root/test/run" << 'END'
#!/bin/bash
# Inside. Nothing listens on the network.
set -euo pipefail
cd /test
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
trap '[ $? = 0 ] || cat log /var/log/postgresql/*.log' EXIT
say() { echo "-- $*"; }
install() { apt-get -qq -y --no-install-recommends install "$@" > log 2>&1; }
sql() { runuser -u postgres -- psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
equal() { [ "$1" = "$2" ] || { echo "got \"$1\" in place of \"$2\""; exit 1; }; }

equal "$(command -v rustc cargo cc || true)" ""
apt-get -qq update > log 2>&1
say "apt install ./old.deb"
install ./old.deb
pg_createcluster "$MAJOR" main -o listen_addresses= -o fsync=off -- --no-locale -E UTF8 > log
pg_ctlcluster "$MAJOR" main start
sql -c 'CREATE DATABASE kept' -c 'CREATE DATABASE demo'
sql -d kept << 'SQL'
CREATE EXTENSION ulid;
CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ulid(), n int);
INSERT INTO event (n) SELECT generate_series(1, 1000);
SQL
rows=$(sql -d kept -c 'SELECT * FROM event ORDER BY id' | sha256sum)

say "apt install ./$NEW over it"
install "./$NEW"
equal "$(sql -d kept -c 'SELECT * FROM event ORDER BY id' | sha256sum)" "$rows"
equal "$(sql -d kept -c "SELECT extversion FROM pg_extension WHERE extname = 'ulid'")" "$VERSION"
equal "$(sql -d kept -c 'SET enable_seqscan = off' -c 'SELECT * FROM event ORDER BY id' | sha256sum)" "$rows"
sql -d kept -c 'INSERT INTO event (n) VALUES (1001)'
equal "$(sql -d kept -c 'SELECT max(n) FROM event WHERE id > (SELECT max(id) FROM event WHERE n <= 1000)')" 1001

say "a server of the PostgreSQL project's repository in place of Debian's"
mkdir pgdg
(cd pgdg && apt-get -qq download "postgresql-$MAJOR" "postgresql-client-$MAJOR" > /dev/null 2>&1)
for file in pgdg/*.deb; do                 # a stand-in: the same names, and versions of that form
  dpkg-deb -R "$file" pgdg/package
  version=$(sed -n 's/^Version: //p' pgdg/package/DEBIAN/control)
  # since 18, one of them depends on exactly this version of the other
  sed -i "s/^Version: .*/&.pgdg99+1/; s/(= $version)/(= $version.pgdg99+1)/" pgdg/package/DEBIAN/control
  dpkg-deb --root-owner-group -b pgdg/package "$file" > log
  rm -r pgdg/package
done
install ./pgdg/*.deb
equal "$(dpkg-query -W -f '${Version} ${Status}\n' "postgresql-$MAJOR" "postgresql-$MAJOR-ulid" | sed 's/^[^ ]*pgdg99+1 /pgdg /')" \
  "pgdg install ok installed"$'\n'"$VERSION-1 install ok installed"
pg_ctlcluster "$MAJOR" main restart
equal "$(sql -d kept -c 'SELECT count(*) FROM event WHERE id <@ tstzrange(now() - interval '"'1 hour'"', NULL)')" 1001
say "apt install ./$NEW beside it"
apt-get -qq -y remove "postgresql-$MAJOR-ulid" > log 2>&1
install "./$NEW"
equal "$(dpkg-query -W -f '${Version}' "postgresql-$MAJOR" | sed 's/.*pgdg/pgdg/')" pgdg99+1

say "scripts/demo.sql"
sql -d demo -f demo.sql > log
equal "$(sql -d demo -c 'SELECT count(*) > 0, bool_and(id = bytes AND ulid_extract_unix_ms(id) = ms) FROM vector')" 't|t'
equal "$(sql -d demo -c 'SELECT count(*) FROM item')" 1000000

say "apt purge"
pg_ctlcluster "$MAJOR" main stop
apt-get -qq -y purge "postgresql-$MAJOR-ulid" > log 2>&1
equal "$(dpkg-query -W -f '${Package}' "postgresql-$MAJOR-ulid" 2> /dev/null || true)" ""
equal "$(find / -xdev -name '*ulid*' ! -path '/test/*' ! -path '/proc/*')" ""
pg_dropcluster "$MAJOR" main
END
chmod 755 "$root/test/run"
say "install, use, upgrade and purge it in a bare $suite"
export NEW=$new VERSION MAJOR
PATH=/usr/sbin:/usr/bin:/sbin:/bin in_debian "$root" /test/run
