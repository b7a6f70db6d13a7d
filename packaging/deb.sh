#!/usr/bin/env bash
# Make the Debian package for a PostgreSQL major version (PG=NN; the machine's own by default), and the source package that
# all of them come from, out of the archives of dist.sh, without network, in target/packages. With ARCH=arm64, the package is
# for that machine; the source package is the same.
#
# DEBFULLNAME and DEBEMAIL name who makes it. The same commit makes the same bytes with the same tools.
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

major=${PG:-$(default_major)}
prepare_postgres "$major"
prepare_tools debhelper dpkg-dev postgresql-server-dev-all
source=postgresql-ulid package=postgresql-$major-ulid
build=$(mktemp -d "${TMPDIR:-/tmp}/ulid-deb.XXXXXX")
trap 'rm -rf "$build"' EXIT
make_sources
git archive --prefix="$source-$VERSION/" HEAD | xz -3 -T 1 > "$build/${source}_$VERSION.orig.tar.xz"
cp "$PACKAGES/$NAME-vendor.tar.xz" "$build/${source}_$VERSION.orig-vendor.tar.xz"
cd "$build"
tar xf "${source}_$VERSION.orig.tar.xz"
cd "$source-$VERSION"
tar xf "$PACKAGES/$NAME-vendor.tar.xz"
cp -R packaging/debian debian
sed -i "s/@RUST@/$RUST/; s/@MAINTAINER@/$(for_sed "$MAINTAINER")/; s#@REPOSITORY@#$(for_sed "$REPOSITORY")#; /^Homepage: $/d" debian/control.in
cp vendor/COPYRIGHT debian/copyright
cat > debian/changelog << END
$source ($VERSION-1) unstable; urgency=medium

  * Version $VERSION, see changelog.gz.

 -- $MAINTAINER  $(date -R -d "@$SOURCE_DATE_EPOCH")
END

# pg_buildext looks for a server where Debian's packages have it. If it is elsewhere, pg_buildext is told where, and the server's
# pg_config says that it is where it would be.
if ! is_own "$major"; then
  mkdir "$build/bin"
  cat > "$build/bin/pg_config" << END
#!/bin/sh
case \$1 in
  --pkglibdir) echo /usr/lib/postgresql/$major/lib ;;
  --sharedir) echo /usr/share/postgresql/$major ;;
  *) exec '$PGRX_PG_CONFIG_PATH' "\$@" ;;
esac
END
  sed "s#^\( *pgc=\).*#\1'$build/bin/pg_config'#" "$(command -v pg_buildext)" > "$build/bin/pg_buildext"
  chmod 755 "$build/bin"/*
  PATH=$build/bin:$PATH
fi
# Neither Rust nor the server's headers need to be those of Debian's packages; the tests run where it is installed.
buildpackage() {
  DEB_BUILD_OPTIONS=nocheck quiet without_network dpkg-buildpackage -us -uc \
    -Pnocheck,pkg.postgresql-ulid.rustup,pkg.postgresql-ulid.elsewhere "$@"
}
say "dpkg-buildpackage: the source package"
export PG_SUPPORTED_VERSIONS=$PUBLISHED
pg_buildext updatecontrol
buildpackage -S
# The package is for any minor version of the server; newer pg_buildexts otherwise demand at least those of this file.
: > debian/minor_versions
say "dpkg-buildpackage for PostgreSQL $major (a few minutes)"
export PG_SUPPORTED_VERSIONS=$major
pg_buildext updatecontrol
buildpackage -b --host-arch "$ARCHITECTURE" --buildinfo-file="../${package}_$VERSION-1_$ARCHITECTURE.buildinfo" \
  --changes-file="../${package}_$VERSION-1_$ARCHITECTURE.changes"
mv "$build"/*.deb "$build"/*.dsc "$build"/*.tar.xz "$build"/*.buildinfo "$build"/*.changes "$PACKAGES"
say "made $(cd "$PACKAGES" && ls "$package"_"$VERSION"-1_*.deb) in $PACKAGES"
