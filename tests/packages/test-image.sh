#!/usr/bin/env bash
# The images. The extension image: the same bytes twice, and a PostgreSQL 18 that loads the extension from the directory
# that it is passes the tests. packaging/Dockerfile: built on a stand-in of the official image's layout, a Debian with
# Debian's postgresql-18, and used. With ARCH=arm64, the server of the extension image runs in an emulator, and the
# Dockerfile is left out.
set -euo pipefail
cd "$ROOT"
. packaging/common.sh
. tests/packages/lib/bare.sh
[ "$MAJOR" -ge 18 ] || skip "extension images are for PostgreSQL 18 and newer"
suite=$(suite_of "$MAJOR") || skip "no Debian has PostgreSQL $MAJOR"
[ -n "$CROSS" ] || make_debian "$SERVERS/root" "$suite"
prepare_tools buildah umoci

PG=$MAJOR packaging/image.sh
archive=$PACKAGES/$NAME-pg$MAJOR-$ARCHITECTURE.oci.tar
cp "$archive" "$SERVERS/first.tar"
PG=$MAJOR packaging/image.sh > /dev/null
cmp "$SERVERS/first.tar" "$archive"

say "the tests, in a server that has the extension from its image alone"
mkdir "$SERVERS/oci"
tar x -C "$SERVERS/oci" -f "$archive"
[ "$(grep -rho '"architecture":"[^"]*"' "$SERVERS/oci/blobs")" = "\"architecture\":\"$ARCHITECTURE\"" ]
quiet umoci raw unpack --image "$SERVERS/oci:$VERSION-pg$MAJOR" "$SERVERS/ulid"
diff - <(cd "$SERVERS/ulid" && find . -type f ! -path './share/extension/ulid--*.sql' | sort) << 'END'
./lib/ulid.so
./licenses/ulid/copyright
./share/extension/ulid.control
END
scripts/check-library.sh "$SERVERS/ulid/lib/ulid.so"
make -s --no-print-directory uninstall PG_CONFIG="$BIN/pg_config" DESTDIR=
start_server image "extension_control_path = '\$system:$SERVERS/ulid/share'" "dynamic_library_path = '\$libdir:$SERVERS/ulid/lib'"
make -s --no-print-directory installcheck PG_CONFIG="$BIN/pg_config" > "$SERVERS/log" 2>&1 || { cat "$SERVERS/log"; exit 1; }
tail -n 1 "$SERVERS/log"
stop_server image
[ -z "$CROSS" ] || exit 0

say "packaging/Dockerfile on a stand-in for postgres:$MAJOR"
mkdir -p "$SERVERS/root/etc/postgresql-common"
echo "create_main_cluster = false" > "$SERVERS/root/etc/postgresql-common/createcluster.conf"
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
quiet in_debian "$SERVERS/root" apt-get -qq update
quiet in_debian "$SERVERS/root" apt-get -qq -y --no-install-recommends install "postgresql-$MAJOR"
base=$(buildah_in "$SERVERS" from scratch)
quiet buildah_in "$SERVERS" copy "$base" "$SERVERS/root" /
buildah_in "$SERVERS" config --env "PATH=$PATH:/usr/lib/postgresql/$MAJOR/bin" "$base"
quiet buildah_in "$SERVERS" commit --rm "$base" standin
quiet buildah_in "$SERVERS" build --from localhost/standin --build-arg PG="$MAJOR" --file packaging/Dockerfile --tag ulid "$PACKAGES"
container=$(buildah_in "$SERVERS" from localhost/ulid)
# shellcheck disable=SC2016
buildah_in "$SERVERS" run "$container" -- runuser -u postgres -- sh -c '
  export PGDATA=/tmp/data PGHOST=/tmp
  initdb -A trust > /dev/null && pg_ctl start -w -o "-c listen_addresses= -k /tmp" -l /tmp/log > /dev/null || exit
  psql -XAtq -v ON_ERROR_STOP=1 -c "CREATE EXTENSION ulid" -c "CREATE TABLE t (id ulid PRIMARY KEY DEFAULT gen_ulid(), n int)" \
    -c "INSERT INTO t (n) SELECT generate_series(1, 1000)" -c "SELECT count(*) FROM t WHERE id <@ tstzrange(now() - interval '\''1 minute'\'', NULL)"
  status=$?
  pg_ctl stop -m immediate > /dev/null
  exit $status' > "$SERVERS/log"
cat "$SERVERS/log"
[ "$(cat "$SERVERS/log")" = 1000 ]
