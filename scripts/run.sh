#!/usr/bin/env bash
# Show what the extension does, in a temporary server. On a terminal, psql then opens in it.
# shellcheck source=scripts/lib/setup.sh
. "$(dirname "$0")/lib/setup.sh"

major=${PG:-$(default_major)}
prepare_postgres "$major"
install_extension
open_servers
say "start a private server in $SERVERS"
start_server demo
say "run scripts/demo.sql"
"$BIN/psql" -X -a -P pager=off -v ON_ERROR_STOP=1 -f scripts/demo.sql

if [ -t 0 ] && [ -t 1 ]; then
  say "this is psql in the same server; \\q stops the server and removes it"
  trap : INT                               # Ctrl-C belongs to psql
  "$BIN/psql" || true
  trap 'exit 130' INT
fi
say "stop the server and remove it"
