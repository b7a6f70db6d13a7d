#!/usr/bin/env bash
# The programs of docs/clients: those of CLIENTS ("python nodejs#prisma", or all), otherwise those that take seconds.
# What is not installed and cannot be installed is skipped, and named at the end.
set -euo pipefail
. "$ROOT/scripts/server.sh"
quick="python#psycopg-3 python#psycopg2 python#asyncpg nodejs#node-postgres nodejs#postgresjs ruby#pg php#pdo others"
[ "${CLIENTS:-}" != all ] || CLIENTS="python nodejs rust jvm go ruby php others"
pages=()
for page in ${CLIENTS:-$quick}; do
  anchor=${page#"${page%%#*}"}
  pages+=("$ROOT/docs/clients/${page%%#*}.md$anchor")
done

# Not every driver can use a Unix socket. Other users of the machine must not connect through loopback, so there is a
# password. It is not a number, because EclipseLink would decipher that.
port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1)->sockport')
password=ulid-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
start_server clients "wal_level = logical" "password_encryption = 'scram-sha-256'"
psql -X -q <<< "ALTER ROLE postgres PASSWORD '$password'"
stop_server clients
as_postgres sh -c "printf 'local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n' > '$SERVERS/clients/data/pg_hba.conf'"
start_server clients "listen_addresses = '127.0.0.1'" "port = $port"
export PGHOST=127.0.0.1 PGPORT=$port PGPASSWORD=$password
# Prisma's generate looks for its engine, which npm does not have, but does not run it.
export PRISMA_SCHEMA_ENGINE_BINARY=/bin/true
exec perl "$ROOT/scripts/test-clients.pl" "${pages[@]}"
