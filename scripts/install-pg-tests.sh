#!/usr/bin/env bash
# What the framework of pgrx's tests calls instead of cargo-pgrx: install the extension with the
# functions of src/pg_test.rs.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --lib --no-default-features --features "$PGRX_FEATURES"
# without cargo, make installs what is there
make -s --no-print-directory install PG_CONFIG="$PGRX_PG_CONFIG_PATH" DESTDIR= CARGO= library='$(target)/debug/libulid$(built_suffix)'
version=$(sed -n "s/^default_version = '\(.*\)'/\1/p" ulid.control)
{
  echo 'CREATE SCHEMA tests;'
  nm --dynamic --defined-only "$("$PGRX_PG_CONFIG_PATH" --pkglibdir)/ulid.so" |
    sed -n "s/.* pg_finfo_\(.*\)_wrapper$/CREATE FUNCTION tests.\1() RETURNS void LANGUAGE c AS 'MODULE_PATHNAME', '\1_wrapper';/p"
} >> "$("$PGRX_PG_CONFIG_PATH" --sharedir)/extension/ulid--$version.sql"
