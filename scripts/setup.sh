#!/usr/bin/env bash
# Set up what cargo, cargo-pgrx and editors need in this checkout, as an ordinary user. What exists
# is used. It says what it puts into the home directory.
# shellcheck source=scripts/lib/setup.sh
. "$(dirname "$0")/lib/setup.sh"

[ "$(id -u)" != 0 ] || die "run this as an ordinary user: pgrx starts no server as root"
pgrx=$(sed -n 's/^pgrx = .*"=\(.*\)".*/\1/p' Cargo.toml) home=${PGRX_HOME:-$HOME/.pgrx}
if ! scripts/check-rust.sh 2> /dev/null && command -v rustup > /dev/null; then
  say "let rustup use Rust $RUST in this directory"
  rustup toolchain install "$RUST" --profile minimal \
    --component rustfmt,clippy,rust-analyzer,rust-src
  rustup override set "$RUST"
fi
scripts/check-rust.sh
if [ "$(cargo pgrx --version 2> /dev/null)" != "cargo-pgrx $pgrx" ]; then
  say "install cargo-pgrx $pgrx into ${CARGO_HOME:-$HOME/.cargo}/bin (some minutes, once)"
  cargo install --quiet --locked --debug --version "=$pgrx" cargo-pgrx
fi
if grep -q '^pg17 *=' "$home/config.toml" 2> /dev/null; then
  say "$home/config.toml has a PostgreSQL 17, which is used"
else
  prepare_postgres 17
  say "enter $BIN/pg_config into $home/config.toml, as cargo pgrx init does"
  mkdir -p "$home"
  grep -q '^\[configs\]' "$home/config.toml" 2> /dev/null || echo '[configs]' >> "$home/config.toml"
  sed -i "/^\[configs\]/a pg17 = \"$BIN/pg_config\"" "$home/config.toml"
fi
