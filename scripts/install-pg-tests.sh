#!/usr/bin/env bash
# What the framework of pgrx's tests calls instead of cargo-pgrx: install the extension with the functions of src/pg_test.rs.
set -euo pipefail
cd "$(dirname "$0")/.."
library=$CARGO_TARGET_DIR/debug/libulid.so extension=$("$PGRX_PG_CONFIG_PATH" --sharedir)/extension
cargo build --quiet --lib --features "$PGRX_FEATURES"
cp "$library" "$("$PGRX_PG_CONFIG_PATH" --pkglibdir)/ulid.so"
cp ulid.control "$extension"
{
  cat sql/ulid.sql
  echo 'CREATE SCHEMA tests;'
  nm --dynamic --defined-only "$library" |
    sed -n "s/.* pg_finfo_\(.*\)_wrapper$/CREATE FUNCTION tests.\1() RETURNS void LANGUAGE c AS 'MODULE_PATHNAME', '\1_wrapper';/p"
} > "$extension/ulid--$(sed -n "s/^default_version = '\(.*\)'/\1/p" ulid.control).sql"
