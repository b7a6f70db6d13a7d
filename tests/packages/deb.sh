#!/usr/bin/env bash
# The Debian package: made, judged by lintian, and installed, used, upgraded and purged in a Debian
# that has nothing else. The major version decides which Debian that is.
# shellcheck source=tests/packages/common.sh
. "$(dirname "$0")/common.sh"
declare -A suites=([15]=bookworm [17]=trixie [18]=forky)
suite=${suites[$MAJOR]:-}
[ -n "$suite" ] || die "no Debian has PostgreSQL $MAJOR"
prepare_tools lintian mmdebstrap
new=postgresql-$MAJOR-ulid_${REVISION}_$(dpkg --print-architecture).deb
[ -e "$PACKAGES/$new" ] || PG=$MAJOR packaging/deb.sh

say "lintian; files, dependencies, library"
# the package is not uploaded to Debian; Rust is not hardened as C is
lintian --allow-root --fail-on error,warning --suppress-tags \
  initial-upload-closes-no-bugs,hardening-no-fortify-functions "$PACKAGES/$new"
dpkg-deb -R "$PACKAGES/$new" "$SERVERS/old"
mv "$SERVERS/old/DEBIAN" "$SERVERS/control"
has_files "$SERVERS/old" "usr/lib/postgresql/$MAJOR/lib" "usr/share/postgresql/$MAJOR/extension"
[ "$(sed -n 's/^Depends: //p' "$SERVERS/control/control" | sed 's/ (>= [0-9.]*)//g')" = "postgresql-$MAJOR, libc6, libgcc-s1" ] ||
  die "the package depends on $(sed -n 's/^Depends: //p' "$SERVERS/control/control")"
# an older version: the same with another number
mv "$SERVERS/control" "$SERVERS/old/DEBIAN"
sed -i "s/^Version: .*/Version: 0-1/" "$SERVERS/old/DEBIAN/control"
quiet dpkg-deb --root-owner-group -b "$SERVERS/old" "$SERVERS/old.deb"

cat > "$SERVERS/inside" << 'END'
set -eu
cd /
sql() { runuser -u postgres -- psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
[ -z "$(command -v rustc cc)" ]
apt-get -qq -y --no-install-recommends install ./old.deb > log 2>&1 || { cat log; exit 1; }
pg_ctlcluster "$MAJOR" main start
sql -c 'CREATE EXTENSION ulid' -c 'CREATE TABLE event (id ulid PRIMARY KEY DEFAULT gen_ulid(), n int)' \
  -c 'INSERT INTO event (n) SELECT generate_series(1, 1000)'
rows=$(sql -c 'SELECT * FROM event ORDER BY id' | sha256sum)
apt-get -qq -y install ./new.deb > log 2>&1 || { cat log; exit 1; }
[ "$(dpkg-query -W -f '${Version}' "postgresql-$MAJOR-ulid")" = "$REVISION" ]
[ "$(sql -c 'SET enable_seqscan = off' -c 'SELECT * FROM event ORDER BY id' | sha256sum)" = "$rows" ]
sql -c 'INSERT INTO event (n) VALUES (1001)'
[ "$(sql -c "SELECT count(*) FROM event WHERE id <@ tstzrange(now() - interval '1 hour', NULL)")" = 1001 ]
pg_ctlcluster "$MAJOR" main stop
apt-get -qq -y purge "postgresql-$MAJOR-ulid" > log 2>&1
[ -z "$(find /usr /etc /var/lib -name '*ulid*' ! -path '/var/lib/postgresql/*')" ]
END
say "install, use, upgrade and purge it in a bare $suite"
mirror=$(debian_mirror)    # may be behind, as long as it is signed
quiet mmdebstrap --variant=apt --include="postgresql-$MAJOR" --aptopt='Acquire::Check-Valid-Until "no"' \
  --customize-hook="copy-in '$SERVERS/old.deb' /" --customize-hook="upload '$PACKAGES/$new' /new.deb" \
  --customize-hook="upload '$SERVERS/inside' /inside" --customize-hook="chroot \"\$1\" sh /inside" \
  "$suite" /dev/null "$mirror"
