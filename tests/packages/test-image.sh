#!/usr/bin/env bash
# The images. The extension image: the same bytes twice, and a PostgreSQL 18 that loads the extension from the directory
# that it is passes the tests. Dockerfile: built from the source on stand-ins for the official images, a Debian with Debian's
# postgresql-18 and the Rust that is here, and used. With ARCH=arm64, the server of the extension image runs in an emulator, and the
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
quiet umoci raw unpack --image "$SERVERS/oci:$VERSION-$MAJOR" "$SERVERS/ulid"
diff <({ extension_files ./lib ./share/extension; echo "./licenses/postgresql-$MAJOR-ulid/copyright"; } | sort) \
  <(cd "$SERVERS/ulid" && find . -type f | sort)
scripts/check-library.sh "$SERVERS/ulid/lib/ulid.so"
make -s --no-print-directory uninstall PG_CONFIG="$BIN/pg_config" DESTDIR=
start_server image "extension_control_path = '\$system:$SERVERS/ulid/share'" "dynamic_library_path = '\$libdir:$SERVERS/ulid/lib'"
make -s --no-print-directory installcheck PG_CONFIG="$BIN/pg_config" > "$SERVERS/log" 2>&1 || { cat "$SERVERS/log"; exit 1; }
tail -n 1 "$SERVERS/log"
stop_server image
[ -z "$CROSS" ] || exit 0

rust=$(rustc --print sysroot)
[[ $rust = */toolchains/* ]] || skip "the Dockerfile takes a Rust of rustup, as the image rust has"
say "Dockerfile on stand-ins for the images postgres:$MAJOR and rust (five minutes)"
mkdir -p "$SERVERS/root/etc/postgresql-common" "$SERVERS/rust/usr/local/"{cargo/bin,rustup/toolchains/standin} "$SERVERS/context"
echo "create_main_cluster = false" > "$SERVERS/root/etc/postgresql-common/createcluster.conf"
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
quiet in_debian "$SERVERS/root" apt-get -qq update
quiet in_debian "$SERVERS/root" apt-get -qq -y --no-install-recommends install "postgresql-$MAJOR"
cp -a "$rust/bin" "$rust/lib" "$SERVERS/rust/usr/local/rustup/toolchains/standin"
for program in cargo rustc rustfmt; do
  ln -s "../../rustup/toolchains/standin/bin/$program" "$SERVERS/rust/usr/local/cargo/bin"
done

# Make the image $2 of the directory $1.
make_image() {
  local container
  container=$(buildah_in "$SERVERS" from scratch)
  quiet buildah_in "$SERVERS" copy "$container" "$1" /
  buildah_in "$SERVERS" config --env "PATH=$PATH:/usr/lib/postgresql/$MAJOR/bin" "$container"
  quiet buildah_in "$SERVERS" commit --rm "$container" "$2"
}
make_image "$SERVERS/root" "docker.io/library/postgres:$MAJOR-$suite"
make_image "$SERVERS/rust" "docker.io/library/rust:$RUST-$suite"
# with the crates, so that nothing is fetched but Debian's packages
git archive HEAD | tar x -C "$SERVERS/context"
tar x -C "$SERVERS/context" -f "$PACKAGES/$NAME-vendor.tar.xz"
quiet buildah_in "$SERVERS" build --pull-never --layers=false --build-arg PG_MAJOR="$MAJOR" --build-arg SYSTEM="$suite" \
  --tag ulid "$SERVERS/context"
container=$(buildah_in "$SERVERS" from localhost/ulid)
# shellcheck disable=SC2016
buildah_in "$SERVERS" run "$container" -- runuser -u postgres -- sh -c '
  export PGDATA=/tmp/data PGHOST=/tmp
  initdb -A trust > /dev/null && pg_ctl start -w -o "-c listen_addresses= -k /tmp" -l /tmp/log > /dev/null || exit
  psql -XAtq -v ON_ERROR_STOP=1 -c "CREATE EXTENSION ulid" -c "CREATE TABLE t (id ulid PRIMARY KEY DEFAULT gen_ulid(), n int)" \
    -c "INSERT INTO t (n) SELECT generate_series(1, 1000)" -c "SELECT count(*) FROM t WHERE id <@ tstzrange(now() - interval '\''1 minute'\'', NULL)"
  status=$?
  pg_ctl stop -m immediate > /dev/null
  rm -rf /tmp/data /tmp/log
  exit $status' > "$SERVERS/log"
cat "$SERVERS/log"
[ "$(cat "$SERVERS/log")" = 1000 ]
# it has the files of the extension, and nothing else of the build
files_of() {
  find "$1" -xdev \( -path "$1/tmp" -o -path "$1/run" -o -path "$1/proc" -o -path "$1/sys" -o -path "$1/dev" \) -prune -o -type f -printf '/%P\n' | sort
}
container=$(buildah_in "$SERVERS" mount "$container")
comm -13 <(files_of "$SERVERS/root") <(files_of "$container") |
  equal "$(extension_files "/usr/lib/postgresql/$MAJOR/lib" "/usr/share/postgresql/$MAJOR/extension")" "$(cat)"
