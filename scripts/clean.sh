#!/usr/bin/env bash
# Remove the private copies of PostgreSQL and everything else that the scripts keep for this checkout.
# shellcheck source=scripts/setup.sh
. "$(dirname "$0")/setup.sh"
choose_server_user
rm -rf "$WORK" target
