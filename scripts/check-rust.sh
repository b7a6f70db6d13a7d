#!/bin/sh
# Make sure that the Rust in PATH is at least the one that the extension needs.
set -eu
cd "$(dirname "$0")/.."
wanted=$(sed -n 's/^rustc = "\(.*\)"/\1/p' Cargo.toml)
# Whether the version that this compiler prints is enough.
is_enough() {
  found=$("$1" --version 2> /dev/null | cut -d ' ' -f 2) || true
  [ "$(printf '%s\n' "$wanted" "${found:-0}" | sort -V | head -n 1)" = "$wanted" ]
}
get="rm -rf target/rust && scripts/fetch-rust.sh target/rust && "
if is_enough target/rust/bin/rustc; then get=""; fi
if is_enough rustc; then exit; fi
cat >&2 << END
error: Rust $wanted or newer is needed, ${found:+and this is }${found:-and there is none}
Get it with "rustup update stable" (https://rustup.rs), or beside your own, which stays as it is:
    ${get}export PATH="\$PWD/target/rust/bin:\$PATH"
END
exit 1
