#!/usr/bin/env bash
# Make the extension image for a PostgreSQL major version (PG=NN; 18 by default) out of Debian's package, in
# target/packages as an OCI archive: /lib, /share/extension and /licenses, to be mounted into a server of any image. With
# ARCH=arm64, it is for that machine.
#
# The same commit makes the same bytes with the same tools.
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

major=${PG:-18}
[ "$major" -ge 18 ] || die "PostgreSQL $major cannot load an extension from a directory of its own, 18 and newer can"
package=$PACKAGES/postgresql-$major-ulid_$VERSION-1_$ARCHITECTURE.deb
archive=$PACKAGES/$NAME-pg$major-$ARCHITECTURE.oci.tar
prepare_tools buildah
make_sources
[ -e "$package" ] || PG=$major packaging/deb.sh
work=$(mktemp -d "${TMPDIR:-/tmp}/ulid-image.XXXXXX")
trap 'rm -rf "$work"' EXIT

dpkg-deb -x "$package" "$work/package"
mkdir -p "$work/image/share" "$work/image/licenses/ulid"
mv "$work/package/usr/lib/postgresql/$major/lib" "$work/image/lib"
mv "$work/package/usr/share/postgresql/$major/extension" "$work/image/share/extension"
mv "$work/package/usr/share/doc/postgresql-$major-ulid/copyright" "$work/image/licenses/ulid"
say "build the extension image for PostgreSQL $major"
container=$(buildah_in "$work" from scratch)
quiet buildah_in "$work" copy "$container" "$work/image" /
buildah_in "$work" config --os linux --arch "$ARCHITECTURE" --label org.opencontainers.image.title=ulid \
  --label org.opencontainers.image.description="$(sed -n "s/^comment = '\(.*\)'/\1/p" ulid.control)" \
  --label org.opencontainers.image.version="$VERSION" --label org.opencontainers.image.licenses=MIT \
  ${REPOSITORY:+--label "org.opencontainers.image.source=$REPOSITORY"} "$container"
quiet buildah_in "$work" commit --timestamp "$SOURCE_DATE_EPOCH" "$container" "oci:$work/oci:$VERSION-pg$major"
make_tar -C "$work/oci" . > "$archive"     # in an archive of buildah's own, files have the time of writing
say "made $archive"
