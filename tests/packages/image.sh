#!/usr/bin/env bash
# The extension image: a PostgreSQL 18 that loads the extension from the directory that it is passes
# the tests.
# shellcheck source=tests/packages/common.sh
export PG=${PG:-18}
. "$(dirname "$0")/common.sh"
prepare_tools umoci
packaging/image.sh
mkdir "$SERVERS/oci"
distro=$(. /etc/os-release && echo "$VERSION_CODENAME")
tar x -C "$SERVERS/oci" -f "$PACKAGES/$NAME-$MAJOR-$distro-$(dpkg --print-architecture).oci.tar"
# the label is in the configuration of the image, the annotation in its manifest
[ "$(grep -rlF "\"io.cloudnativepg.image.base.os\":\"$distro\"" "$SERVERS/oci/blobs" | wc -l)" = 2 ] ||
  die "the image does not name its distribution"
quiet umoci raw unpack --image "$SERVERS/oci:$VERSION-$MAJOR-$distro" "$SERVERS/ulid"
has_files "$SERVERS/ulid" lib share/extension
make -s --no-print-directory uninstall PG_CONFIG="$BIN/pg_config" DESTDIR=
start_server image "extension_control_path = '\$system:$SERVERS/ulid/share'" "dynamic_library_path = '\$libdir:$SERVERS/ulid/lib'"
make -s --no-print-directory installcheck PG_CONFIG="$BIN/pg_config"
