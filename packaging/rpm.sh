#!/usr/bin/env bash
# Build the RPM package for a PostgreSQL major version (PG=NN; by default the machine's own) and its source package in
# target/packages, with the layout of the PostgreSQL project's yum repository, from the archives of dist.sh, without network.
# With ARCH=arm64, the package is for that architecture; the source package is the same.
#
# DEBFULLNAME and DEBEMAIL name the packager. The build is reproducible: the same commit gives the same bytes with the same
# tools.
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

major=${PG:-$(default_major)}
prepare_postgres "$major"
prepare_tools rpm unzip
make_sources
build=$(mktemp -d "${TMPDIR:-/tmp}/ulid-rpm.XXXXXX")
trap 'rm -rf "$build"' EXIT
mkdir "$build/SOURCES"
cp "$PACKAGES/$NAME.zip" "$PACKAGES/$NAME-vendor.tar.xz" "$build/SOURCES"
sed "s/@PG@/$major/g; s/@VERSION@/$VERSION/g; s/@RUST@/$RUST/g; s/@MAINTAINER@/$(for_sed "$MAINTAINER")/
  s#@REPOSITORY@#$(for_sed "$REPOSITORY")#; /^URL: *$/d
  s/@DATE@/$(date -d "@$SOURCE_DATE_EPOCH" '+%a %b %d %Y')/" packaging/ulid.spec.in > "$build/ulid_$major.spec"
# The source package contains the path of the build, which is always the same if namespaces are available.
topdir=$build place=()
if unshare --map-root-user --mount mount --bind "$build" /var/opt 2> /dev/null; then
  # shellcheck disable=SC2016
  topdir=/var/opt place=(unshare --map-root-user --mount sh -c 'mount --bind "$0" /var/opt && exec "$@"' "$build")
fi
definitions=(
  "_topdir $topdir"
  "packager $MAINTAINER"
  "_buildhost localhost"
  "use_source_date_epoch_as_buildtime 1"
  "clamp_mtime_to_source_date_epoch 1"
)
make_rpm() {
  # --nodeps: the build dependencies are not installed here as RPM packages
  PG_CONFIG=$PGRX_PG_CONFIG_PATH quiet without_network "${place[@]}" rpmbuild --nodeps "${definitions[@]/#/--define=}" "$@" \
    "$topdir/ulid_$major.spec"
}
say "rpmbuild for PostgreSQL $major (a few minutes)"
make_rpm -bs --target noarch-linux
# definitions for an architecture come after the source package, which contains the definitions
[ -z "$CROSS" ] || definitions+=("__strip $MACHINE-linux-gnu-strip")
make_rpm -bb --target "$MACHINE-linux"
mv "$build"/RPMS/*/*.rpm "$build"/SRPMS/*.rpm "$PACKAGES"
say "made $(cd "$PACKAGES" && printf "%s " "ulid_$major-$VERSION"-*.rpm)in $PACKAGES"
