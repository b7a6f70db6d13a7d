# Sourced by the scripts that build packages: names and directories.
# shellcheck shell=bash disable=SC2034
# shellcheck source=scripts/lib/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib/setup.sh"

VERSION=$(sed -n "s/^default_version = '\(.*\)'/\1/p" ulid.control)
NAME=ulid-$VERSION
PACKAGES=$ROOT/target/packages
# The version of the Debian package: those of several distributions have the same files, by name.
REVISION=$VERSION-1~$(. /etc/os-release && echo "${ID/debian/deb}${VERSION_ID:-$VERSION_CODENAME}")
# The maintainer of the packages: whoever makes them, by the variables of Debian's tools, by git, or
# by the machine.
MAINTAINER="${DEBFULLNAME:-$(git config user.name || id -un)} <${DEBEMAIL:-$(git config user.email || echo "$(id -un)@$(uname -n)")}>"
# The project's address, which the packages lack as long as META.json does.
REPOSITORY=$(perl -MJSON::PP -0777 -ne 'print decode_json($_)->{resources}{homepage} // ""' META.json)
# All times in the packages are that of the commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) || die "packages are made in a checkout of git"
export SOURCE_DATE_EPOCH TZ=UTC
mkdir -p "$PACKAGES"

# Make the source archives, unless those that exist were made of this commit.
make_sources() {
  [ "$(cat "$PACKAGES/.commit" 2> /dev/null)" = "$(git rev-parse HEAD)" ] || packaging/dist.sh
}
