# Sourced by the scripts that build packages: names, directories, and common functions.
# shellcheck shell=bash disable=SC2034
# shellcheck source=scripts/lib/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib/setup.sh"

VERSION=$(sed -n "s/^default_version = '\(.*\)'/\1/p" ulid.control)
NAME=ulid-$VERSION
PACKAGES=$ROOT/target/packages
ARCHITECTURE=${CROSS:-$(dpkg --print-architecture)}  # of the packages, by Debian's name
# The major versions that packages are published for: those of a Debian release, in which they are tested.
PUBLISHED="15 17 18"
# The maintainer of the packages, and the project's address, if there is one, without a slash at its end.
MAINTAINER="${DEBFULLNAME:-The ulid developers} <${DEBEMAIL:-ulid@localhost.example}>"
REPOSITORY=${REPOSITORY:-}
# All times in the packages are that of the commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) || die "packages are made in a checkout of git"
export SOURCE_DATE_EPOCH TZ=UTC
mkdir -p "$PACKAGES"

# Escape a text for the right side of sed's s/// and s###.
for_sed() {
  printf '%s\n' "$1" | sed 's,[\\&#/],\\&,g'
}

# Run a command without network access, if namespaces are available.
without_network() {
  if unshare --map-root-user --net true 2> /dev/null; then unshare --map-root-user --net "$@"; else "$@"; fi
}

# Print a tar archive that depends only on the names and contents of its files.
make_tar() {
  tar c --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+w,go+rX,go-w "$@"
}

# Print the META.json of the archive, with the project's address.
print_meta() {
  git show HEAD:META.json | REPOSITORY=$REPOSITORY perl -MJSON::PP -0777 -ne '
    my ($meta, $address) = (decode_json($_), $ENV{REPOSITORY});
    $meta->{resources} = {homepage => $address, bugtracker => {web => "$address/issues"},
      repository => {url => "$address.git", web => $address, type => "git"}} if $address;
    print JSON::PP->new->canonical->pretty->encode($meta)'
}

# Make the source archives, unless those that exist were made of this commit.
MADE_OF="$(git rev-parse HEAD) $REPOSITORY"
make_sources() {
  [ "$(cat "$PACKAGES/.commit" 2> /dev/null)" = "$MADE_OF" ] || packaging/dist.sh
}

# Run buildah with images and containers in the directory $1 alone.
buildah_in() {
  BUILDAH_ISOLATION=chroot buildah --root "$1/storage" --runroot "$1/run" --storage-driver vfs "${@:2}"
}
