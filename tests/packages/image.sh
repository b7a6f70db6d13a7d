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
# Each label of CloudNativePG's catalogue is in the configuration of the image, and the annotation
# in its manifest.
created=$(date --iso-8601=seconds -d "@$SOURCE_DATE_EPOCH")
labels=(title="ulid $VERSION $MAJOR $distro" description="$(sed -n "s/^comment = '\(.*\)'/\1/p" ulid.control)"
  version="$VERSION" revision="$(git rev-parse HEAD)" created="$created" licenses="MIT" base.name=scratch authors="$MAINTAINER"
  vendor="${MAINTAINER%% <*}" ${REPOSITORY:+source="$REPOSITORY" url="$REPOSITORY" documentation="$REPOSITORY"})
labels=("${labels[@]/#/org.opencontainers.image.}" "io.cloudnativepg.image.base.os=$distro"
  "io.cloudnativepg.image.base.name=ghcr.io/cloudnative-pg/postgresql:$MAJOR-minimal-$distro"
  "io.cloudnativepg.image.base.pgmajor=$MAJOR" "io.cloudnativepg.image.sql.version=$VERSION")
for label in "${labels[@]}"; do
  perl -MJSON::PP -0777 -e '
    my ($name, $value) = split /=/, shift, 2;
    my @has = grep { ($_ // "") eq $value } map { open my $in, "<", $_ or die; my $text = <$in>;
      my $json = $text =~ /^\{/ ? eval { decode_json($text) } : undef;
      $json ? (($json->{annotations} // {})->{$name}, ($json->{config}{Labels} // {})->{$name}) : () } @ARGV;
    exit(@has == 2 ? 0 : 1)' "$label" "$SERVERS"/oci/blobs/sha256/* || die "the image lacks the label $label"
done
quiet umoci raw unpack --image "$SERVERS/oci:$VERSION-$MAJOR-$distro" "$SERVERS/ulid"
has_files "$SERVERS/ulid" lib share/extension
head -n 1 "$SERVERS/ulid/licenses/postgresql-$MAJOR-ulid/copyright" | grep -qx 'Format: .*/copyright-format/1.0/'
make -s --no-print-directory uninstall PG_CONFIG="$BIN/pg_config" DESTDIR=
start_server image "extension_control_path = '\$system:$SERVERS/ulid/share'" "dynamic_library_path = '\$libdir:$SERVERS/ulid/lib'"
make -s --no-print-directory installcheck PG_CONFIG="$BIN/pg_config"
