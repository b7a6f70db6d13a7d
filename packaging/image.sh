#!/usr/bin/env bash
# Build the extension image for a PostgreSQL major version (PG=NN; 18 by default) from the Debian package, as an OCI archive in
# target/packages: /lib, /share/extension and /licenses, to be mounted into a server of any image. With ARCH=arm64, it is for
# that architecture. Layout, labels, user and tag are those of CloudNativePG's own extension images.
#
# The build is reproducible: the same commit gives the same bytes with the same tools.
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
licenses=$work/image/licenses/postgresql-$major-ulid
mkdir -p "$work/image/share" "$licenses"
mv "$work/package/usr/lib/postgresql/$major/lib" "$work/image/lib"
mv "$work/package/usr/share/postgresql/$major/extension" "$work/image/share/extension"
mv "$work/package/usr/share/doc/postgresql-$major-ulid/copyright" "$licenses"
say "build the extension image for PostgreSQL $major"
container=$(buildah_in "$work" from scratch)
quiet buildah_in "$work" copy "$container" "$work/image" /
described=(title="ulid $VERSION for PostgreSQL $major" description="$(sed -n "s/^comment = '\(.*\)'/\1/p" ulid.control)"
  version="$VERSION" revision="$(git rev-parse HEAD)" licenses="MIT AND Unicode-3.0 AND Zlib" base.name=scratch
  ${REPOSITORY:+source="$REPOSITORY" url="$REPOSITORY" documentation="$REPOSITORY"})
described=("${described[@]/#/org.opencontainers.image.}" "io.cloudnativepg.image.base.pgmajor=$major"
  "io.cloudnativepg.image.sql.version=$VERSION")
for text in "${described[@]}"; do labels+=(--label "$text" --annotation "$text"); done
buildah_in "$work" config --os linux --arch "$ARCHITECTURE" --user 65532:65532 "${labels[@]}" "$container"
quiet buildah_in "$work" commit --timestamp "$SOURCE_DATE_EPOCH" "$container" "oci:$work/oci:$VERSION-$major"
make_tar -C "$work/oci" . > "$archive"     # in an archive made by buildah, the time of files is that of writing
say "made $archive"
