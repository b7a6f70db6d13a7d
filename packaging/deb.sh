#!/usr/bin/env bash
# Make the Debian package for a PostgreSQL major version (PG=NN; the machine's own by default) out
# of the archives of dist.sh, in target/packages.
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

major=${PG:-$(default_major)}
prepare_postgres "$major"
prepare_tools debhelper dpkg-dev
make_sources
build=$(mktemp -d "${TMPDIR:-/tmp}/ulid-deb.XXXXXX")
trap 'rm -rf "$build"' EXIT
mkdir "$build/source"
git archive HEAD | tar x -C "$build/source"
cd "$build/source"
tar xf "$PACKAGES/$NAME-vendor.tar.xz"
mv packaging/debian debian
PGVERSION=$major MAINTAINER=$MAINTAINER RUST=$RUST REPOSITORY=$REPOSITORY perl -p -e \
  's/\@?(PGVERSION|RUST|MAINTAINER|REPOSITORY)\@?/$ENV{$1}/g; s/^Homepage: \n//' debian/control.in > debian/control
cp vendor/COPYRIGHT debian/copyright
cat > debian/changelog << END
postgresql-ulid ($REVISION) unstable; urgency=medium

  * Version $VERSION, see changelog.gz.

 -- $MAINTAINER  $(date -R -d "@$SOURCE_DATE_EPOCH")
END
say "dpkg-buildpackage for PostgreSQL $major (a few minutes)"
# neither Rust nor the server's headers need to be those of Debian's packages
PG_CONFIG=$PGRX_PG_CONFIG_PATH quiet dpkg-buildpackage -us -uc -b -d
mv "$build"/*.deb "$PACKAGES"
say "made $(cd "$PACKAGES" && echo "postgresql-$major-ulid_$REVISION"_*.deb) in $PACKAGES by $MAINTAINER"
