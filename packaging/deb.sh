#!/usr/bin/env bash
# Make the Debian package for a PostgreSQL major version (PG=NN; the machine's own by default) and its source package from
# the archives of dist.sh, without network, in target/packages. With ARCH=arm64, the package is for that machine; the source
# package is the same.
#
# DEBFULLNAME and DEBEMAIL name who makes it. The same commit makes the same bytes with the same tools.
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

major=${PG:-$(default_major)}
prepare_postgres "$major"
prepare_tools debhelper dpkg-dev
package=postgresql-$major-ulid
build=$(mktemp -d "${TMPDIR:-/tmp}/ulid-deb.XXXXXX")
trap 'rm -rf "$build"' EXIT
make_sources
git archive --prefix="$package-$VERSION/" HEAD | xz -3 -T 1 > "$build/${package}_$VERSION.orig.tar.xz"
cp "$PACKAGES/$NAME-vendor.tar.xz" "$build/${package}_$VERSION.orig-vendor.tar.xz"
cd "$build"
tar xf "${package}_$VERSION.orig.tar.xz"
cd "$package-$VERSION"
tar xf "$PACKAGES/$NAME-vendor.tar.xz"
cp -R packaging/debian debian
rust=$(sed -n 's/^rustc = "\(.*\)"/\1/p' Cargo.toml)
sed "s/@PG@/$major/g; s/@RUST@/$rust/; s/@MAINTAINER@/$MAINTAINER/; s#@REPOSITORY@#$REPOSITORY#; /^Homepage: $/d" debian/control.in > debian/control
rm debian/control.in
cp vendor/COPYRIGHT debian/copyright
cat > debian/changelog << END
$package ($VERSION-1) unstable; urgency=medium

  * Version $VERSION, see changelog.gz.

 -- $MAINTAINER  $(date -R -d "@$SOURCE_DATE_EPOCH")
END
# Neither Rust nor the server's headers need to be those of Debian's packages.
profiles=pkg.ulid.rustup,pkg.ulid.elsewhere
say "dpkg-buildpackage for PostgreSQL $major (a few minutes)"
PG_CONFIG=$PGRX_PG_CONFIG_PATH quiet without_network dpkg-buildpackage -us -uc --host-arch "$ARCHITECTURE" -P"$profiles"
mv "$build"/*.deb "$build"/*.dsc "$build"/*.tar.xz "$build"/*.buildinfo "$build"/*.changes "$PACKAGES"
say "made $(cd "$PACKAGES" && ls "$package"_"$VERSION"-1_*.deb) in $PACKAGES"
