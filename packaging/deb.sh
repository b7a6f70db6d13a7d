#!/usr/bin/env bash
# Make the Debian package for a PostgreSQL major version (PG=NN; the machine's own by default) out
# of the archives of dist.sh, in target/packages. DEBFULLNAME and DEBEMAIL name who makes it.
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

major=${PG:-$(default_major)}
prepare_postgres "$major"
prepare_tools debhelper dpkg-dev postgresql-server-dev-all
make_sources
build=$(mktemp -d "${TMPDIR:-/tmp}/ulid-deb.XXXXXX")
trap 'rm -rf "$build"' EXIT
mkdir "$build/source" "$build/bin"
git archive HEAD | tar x -C "$build/source"
cd "$build/source"
tar xf "$PACKAGES/$NAME-vendor.tar.xz"
mv packaging/debian debian
MAINTAINER=$MAINTAINER RUST=$RUST REPOSITORY=$REPOSITORY perl -pi -e 's/@(RUST|MAINTAINER|REPOSITORY)@/$ENV{$1}/g' debian/control.in
cp vendor/COPYRIGHT debian/copyright
cat > debian/changelog << END
postgresql-ulid ($REVISION) unstable; urgency=medium

  * Version $VERSION, see changelog.gz.

 -- $MAINTAINER  $(date -R -d "@$SOURCE_DATE_EPOCH")
END
# pg_buildext looks for a server where Debian's packages have it. Where this one is elsewhere, its
# pg_config says that it is there.
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
export PATH=$build/bin:$PATH PG_SUPPORTED_VERSIONS=$major
pg_buildext updatecontrol
: > debian/minor_versions                  # the package is for any minor version of the server
say "dpkg-buildpackage for PostgreSQL $major (a few minutes)"
# neither Rust nor the server's headers need to be those of Debian's packages
DEB_BUILD_OPTIONS=nocheck quiet dpkg-buildpackage -us -uc -b -d
mv "$build"/*.deb "$PACKAGES"
say "made $(cd "$PACKAGES" && echo "postgresql-$major-ulid_$REVISION"_*.deb) in $PACKAGES"
