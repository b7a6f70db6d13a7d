#!/usr/bin/env bash
# Build the extension image for a PostgreSQL major version (PG=NN; 18 by default) from the Debian
# package, as an OCI archive in target/packages: /lib, /share/extension and /licenses, to be mounted
# into a server of the same distribution. Layout, tag, labels and user are those of CloudNativePG's
# own extension images.
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

major=${PG:-18}
[ "$major" -ge 18 ] || die "PostgreSQL $major cannot load an extension from a directory of its own, 18 and newer can"
distro=$(. /etc/os-release && echo "$VERSION_CODENAME")
architecture=$(dpkg --print-architecture)
package=$PACKAGES/postgresql-$major-ulid_${REVISION}_$architecture.deb
archive=$PACKAGES/$NAME-$major-$distro-$architecture.oci.tar
prepare_tools umoci
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
say "build the extension image for PostgreSQL $major on $distro"
# The licence is that of the extension and of each crate in its library, in which
# scripts/check-library.sh looks for others.
created=$(date --iso-8601=seconds -d "@$SOURCE_DATE_EPOCH")
described=(title="ulid $VERSION $major $distro" description="$(sed -n "s/^comment = '\(.*\)'/\1/p" ulid.control)"
  version="$VERSION" revision="$(git rev-parse HEAD)" created="$created" licenses="MIT" base.name=scratch
  authors="$MAINTAINER" vendor="${MAINTAINER%% <*}" ${REPOSITORY:+source="$REPOSITORY" url="$REPOSITORY" documentation="$REPOSITORY"})
described=("${described[@]/#/org.opencontainers.image.}"
  "io.cloudnativepg.image.base.name=ghcr.io/cloudnative-pg/postgresql:$major-minimal-$distro"
  "io.cloudnativepg.image.base.pgmajor=$major" "io.cloudnativepg.image.base.os=$distro"
  "io.cloudnativepg.image.sql.version=$VERSION")
for text in "${described[@]}"; do labels+=(--config.label "$text" --manifest.annotation "$text"); done
image=$work/oci:$VERSION-$major-$distro
umoci init --layout "$work/oci"
umoci new --image "$image"
for directory in lib share licenses; do
  umoci insert --rootless --image "$image" --history.created "$created" "$work/image/$directory" "/$directory"
done
umoci config --image "$image" --os linux --architecture "$architecture" --config.user 65532:65532 --created "$created" \
  --history.created "$created" "${labels[@]}"
umoci gc --layout "$work/oci"
tar c -C "$work/oci" . > "$archive"
say "made $archive"
