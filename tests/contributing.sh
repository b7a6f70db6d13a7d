#!/usr/bin/env bash
# Run what CONTRIBUTING.md names for cargo, editors and gdb once, in a fresh clone. As root, it
# makes an ordinary user for it, who is removed afterwards.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(id -u)" = 0 ]; then
  user=ulid-contributor
  rust=$(PATH=$PWD/target/rust/bin:$PATH rustc --print sysroot)
  trap 'userdel --force --remove "$user" > /dev/null 2>&1' EXIT
  trap 'exit 130' INT TERM HUP
  userdel --force --remove "$user" > /dev/null 2>&1 || true    # of a run that was killed
  useradd --create-home --shell /bin/bash "$user"
  home=$(eval echo "~$user")
  git -c safe.directory='*' clone --quiet --no-hardlinks . "$home/ulid"
  cp -R "$rust" "$home/rust"
  mkdir -p "$home/.cargo"
  [ ! -e ~/.cargo/registry ] || cp -R ~/.cargo/registry "$home/.cargo"
  chown -R "$user:" "$home"
  cd "$home/ulid"
  env -i HOME="$home" USER="$user" PATH="$home/rust/bin:$home/.cargo/bin:/usr/bin:/bin" \
    setpriv --reuid="$user" --regid="$user" --init-groups tests/contributing.sh
  exit
fi

run() {
  printf '== %s\n' "$*"
  "$@" < /dev/null
}
run make setup
run cargo check
run cargo clippy
run cargo check --all-targets --message-format=json > target/messages.json
grep -q '"build-finished","success":true' target/messages.json
run cargo test
run cargo pgrx test pg17 each_c_function_has_the_signature_that_rust_exports
run cargo pgrx test pg17
printf '== cargo pgrx run pg17\n'
echo 'CREATE EXTENSION IF NOT EXISTS ulid; SELECT gen_ulid();' | cargo pgrx run pg17 |
  tee target/run.log
grep -qE '[0-9A-HJKMNP-TV-Z]{26}' target/run.log
run cargo pgrx stop pg17

pg_config=$(sed -n 's/^pg17 = "\(.*\)"/\1/p' ~/.pgrx/config.toml)
run make install profile=debugging PG_CONFIG="$pg_config"
run gdb --batch --eval-command='break ulid_in' "$("$pg_config" --pkglibdir)/ulid.so" |
  tee target/gdb.log
grep -qE 'Breakpoint 1 at .*: file src/.*\.rs, line [0-9]+' target/gdb.log
