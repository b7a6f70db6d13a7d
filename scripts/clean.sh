#!/usr/bin/env bash
# Remove the private copies of PostgreSQL and what else the scripts keep for this checkout.
# shellcheck source=scripts/setup.sh
. "$(dirname "$0")/setup.sh"
choose_server_user
rm -rf "$WORK" target
