#!/usr/bin/env bash
# Remove the private copies of PostgreSQL and everything else that the scripts keep for this
# checkout.
# shellcheck source=scripts/lib/setup.sh
. "$(dirname "$0")/lib/setup.sh"
choose_server_user
rm -rf "$WORK" target pg_ulid/fuzz/artifacts
