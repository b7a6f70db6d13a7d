# Sourced: private servers. Each has a directory under $SERVERS with its data, its log and its Unix
# socket, so `psql -h $SERVERS/NAME` connects to it, without a password; the system lets only its
# user and root use the socket, and nothing listens on the network. pg_virtualenv of Debian does as
# much only for servers where Debian's packages install them, and not for the copies that are tested
# here.
# shellcheck shell=bash

# Choose the user that the servers run as, since PostgreSQL refuses to run as root. Sets WORK, the
# directory they run from.
choose_server_user() {
  WORK=$ROOT/target/postgres
  if [ "$(id -u)" != 0 ]; then
    SERVER_USER=$(id -un) BECOME=
  else
    SERVER_USER=$(id -un postgres 2> /dev/null || echo nobody)
    local uid gid
    uid=$(id -u "$SERVER_USER") gid=$(id -g "$SERVER_USER")
    # A user namespace in which root has another name keeps everything in the checkout, but
    # containers often forbid it.
    BECOME="unshare -U --map-user=$uid --map-group=$gid --"
    if ! $BECOME test -x "$ROOT" 2> /dev/null; then
      BECOME="setpriv --reuid=$uid --regid=$gid --clear-groups --"
      WORK=/var/tmp/ulid-$(echo "$ROOT" | cksum | cut -d' ' -f1)
    fi
  fi
  mkdir -p "$WORK"
  if [ -L "$WORK" ] || [ ! -O "$WORK" ]; then
    echo "error: $WORK belongs to somebody else" >&2
    exit 1
  fi
  export ROOT WORK SERVER_USER BECOME
}

# Create $SERVERS. When the calling script ends, every server in it is stopped and the directory is
# removed.
open_servers() {
  SERVERS=$(mktemp -d "${TMPDIR:-/tmp}/ulid.XXXXXX")
  export SERVERS
  trap 'close_servers "$SERVERS"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  chmod 755 "$SERVERS"
  case $BECOME in setpriv*) chown "$SERVER_USER" "$SERVERS" ;; esac
}

# Stop the servers below a directory and remove it.
close_servers() {
  local pidfile
  find "$1" -name postmaster.pid | while read -r pidfile; do
    as_postgres "$BIN/pg_ctl" stop -w -m immediate -D "${pidfile%/*}" < /dev/null > /dev/null || true
  done
  rm -rf "$1"
}

# Run a command as the servers' user, in a directory that this user can enter: paths must be
# absolute.
as_postgres() {
  # shellcheck disable=SC2086
  (cd "$SERVERS" && exec $BECOME "$@")
}

# Create a directory that the servers can write to.
server_directory() {
  as_postgres mkdir "$1"
}

# Start the server $1, creating it if it is new, with additional lines for its postgresql.conf; the
# PG* variables then point to it.
start_server() {
  local home=$SERVERS/$1
  shift
  if [ ! -e "$home" ]; then
    server_directory "$home"
    as_postgres "$BIN/initdb" -D "$home/data" -U postgres -A trust -E UTF8 --no-locale --no-sync > /dev/null
    printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$home'" "port = 5432" "timezone = 'UTC'" \
      "unix_socket_permissions = 0700" \
      "fsync = off" "log_line_prefix = '%m [%p] '" >> "$home/data/postgresql.conf"
  fi
  printf '%s\n' "$@" >> "$home/data/postgresql.conf"
  if ! as_postgres "$BIN/pg_ctl" start -w -D "$home/data" -l "$home/log" < /dev/null > /dev/null; then
    cat "$home/log" >&2
    return 1
  fi
  export PGHOST=$home PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
}

# Start the server $1 as a standby of the server $2, which runs.
start_standby() {
  local home=$SERVERS/$1
  server_directory "$home"
  as_postgres "$BIN/pg_basebackup" -h "$SERVERS/$2" -p "$PGPORT" -U postgres -D "$home/data" -R -c fast --no-sync
  printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$home'" "hot_standby_feedback = on" >> "$home/data/postgresql.conf"
  as_postgres "$BIN/pg_ctl" start -w -D "$home/data" -l "$home/log" < /dev/null > /dev/null
}

# Stop the server $1.
stop_server() {
  as_postgres "$BIN/pg_ctl" stop -w -m fast -D "$SERVERS/$1/data" > /dev/null
}
