# Sourced by what makes packages: names, places, and what several of them do.
# shellcheck shell=bash disable=SC2034
# shellcheck source=scripts/lib/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib/setup.sh"

VERSION=$(sed -n "s/^default_version = '\(.*\)'/\1/p" ulid.control)
NAME=ulid-$VERSION
PACKAGES=$ROOT/target/packages
ARCHITECTURE=${CROSS:-$(dpkg --print-architecture)}  # that packages are made for, by Debian's name
# The major versions that packages are published for: those that some Debian has, to try them in.
PUBLISHED="15 17 18"
# Who makes them, and where the project is to be found, if anywhere: an address without a slash at its end.
MAINTAINER="${DEBFULLNAME:-The ulid developers} <${DEBEMAIL:-ulid@localhost.example}>"
REPOSITORY=${REPOSITORY:-}
# The time of everything in the packages is that of the commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) || die "packages are made in a checkout of git"
export SOURCE_DATE_EPOCH TZ=UTC
mkdir -p "$PACKAGES"

# Run a command, showing its output only when it fails.
quiet() {
  local log
  log=$(mktemp)
  "$@" < /dev/null > "$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; return 1; }
  rm -f "$log"
}

# Run a command without network access, if namespaces are available.
without_network() {
  if unshare --map-root-user --net true 2> /dev/null; then unshare --map-root-user --net "$@"; else "$@"; fi
}

# Print a tar archive that depends on nothing but names and contents of what it takes in.
make_tar() {
  tar c --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+w,go+rX,go-w "$@"
}

# Print the META.json of the archive, which also says where the project is.
print_meta() {
  git show HEAD:META.json | REPOSITORY=$REPOSITORY perl -MJSON::PP -0777 -ne '
    my ($meta, $address) = (decode_json($_), $ENV{REPOSITORY});
    $meta->{resources} = {homepage => $address, bugtracker => {web => "$address/issues"},
      repository => {url => "$address.git", web => $address, type => "git"}} if $address;
    print JSON::PP->new->canonical->pretty->encode($meta)'
}

# Make the source archives, if those that are here were made of something else.
MADE_OF="$(git rev-parse HEAD) $REPOSITORY"
make_sources() {
  [ "$(cat "$PACKAGES/.commit" 2> /dev/null)" = "$MADE_OF" ] || packaging/dist.sh
}

# Run buildah with images and containers in the directory $1 alone.
buildah_in() {
  BUILDAH_ISOLATION=chroot buildah --root "$1/storage" --runroot "$1/run" --storage-driver vfs "${@:2}"
}
