#!/usr/bin/env bash
# Make the RPM package for a PostgreSQL major version (PG=NN; the machine's own by default) out of
# the archives of dist.sh, in target/packages, on a Debian machine.
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

major=${PG:-$(default_major)}
prepare_postgres "$major"
prepare_tools rpm unzip
make_sources
build=$(mktemp -d "${TMPDIR:-/tmp}/ulid-rpm.XXXXXX")
trap 'rm -rf "$build"' EXIT
say "rpmbuild for PostgreSQL $major (a few minutes)"
# --nodeps: the build dependencies are not installed here as RPM packages
quiet rpmbuild -bb --nodeps --define "_topdir $build" --define "_sourcedir $PACKAGES" --define "_rpmdir $PACKAGES" \
  --define "_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" --define "packager $MAINTAINER" \
  --define "pgmajorversion $major" --define "pg_config $PGRX_PG_CONFIG_PATH" --define "ulid_version $VERSION" \
  ${REPOSITORY:+--define "repository $REPOSITORY"} --define "rust_version $RUST" packaging/ulid.spec
say "made $(cd "$PACKAGES" && echo "ulid_$major-$VERSION"-*.rpm) in $PACKAGES by $MAINTAINER"
