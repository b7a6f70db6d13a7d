#!/usr/bin/env bash
# Get the Rust that Cargo.toml asks for, installing nothing: fetch-rust.sh DIRECTORY [SOURCE
# [TARGET...]]
#
# Its programs are then in DIRECTORY/bin: cargo, rustc, rustdoc, clippy and rustfmt. DIRECTORY must
# be a new one, and cannot be moved. The source is rustup, if it is installed and can fetch them,
# otherwise debian (forky), which needs apt, dpkg-deb, gcc and patchelf. With TARGETs
# (s390x-unknown-linux-gnu) it compiles for these too.
set -euo pipefail
root=$(realpath -m "$1")
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib/archive.sh
. scripts/lib/archive.sh
targets=("${@:3}")
make_directory "$root"
download=$(mktemp -d "$root.XXXXXX")
version=$(sed -n 's/^rustc = "\(.*\)"/\1/p' Cargo.toml)
fetched=""
trap '[ -n "$fetched" ] || rm -rf "$root"; rm -rf "$download"' EXIT

fetch_rustup() {
  RUSTUP_HOME=$root/rustup timeout 600 rustup toolchain install "$version" --no-self-update --profile minimal \
    --component clippy --component rustfmt "${targets[@]/#/--target=}" || return
  ln -s "$root"/rustup/toolchains/*/bin "$root/bin"
}

# Debian's newest version. The machine's own compiler and libc are used for linking.
fetch_debian() {
  local triplet file target packages=()
  open_archive "$download" deb forky
  apt-get "${APT[@]}" install -y --download-only rustc cargo libstd-rust-dev rust-clippy rustfmt
  for file in "$download"/cache/archives/*.deb; do
    case ${file##*/} in
      libc6-dev_* | libc-dev-bin_* | libgcc-*-dev_*) ;;
      rustc_* | cargo_* | rust-clippy_* | rustfmt_* | lib* | zlib1g_*) packages+=("$file") ;;
    esac
  done
  unpack "$root" "${packages[@]}"
  triplet=$(gcc -dumpmachine)
  find "$root/usr/bin" "$root/usr/lib" -type f \( -path '*/bin/*' -o -name 'lib*.so*' \) ! -path "*/$triplet/libc.so*" |
    patch_programs "$(loader_of "$root")" "$root/usr/lib/$triplet:$root/lib/$triplet"
  for target in "${targets[@]}"; do
    mkdir "$download/$target"
    ARCHITECTURE=$(sed 's/^aarch64-.*/arm64/; s/^i686-.*/i386/; s/-.*//' <<< "$target") open_archive "$download/$target" deb forky
    (cd "$download/$target" && apt-get "${APT[@]}" download libstd-rust-dev)
    unpack "$root" "$download/$target"/*.deb
  done
  ln -s "$root/usr/bin" "$root/bin"
}

failed=""
for source in ${2:-rustup debian}; do
  [ "$source" != rustup ] || command -v rustup > /dev/null || continue
  rm -rf "$root" "$download"
  mkdir -p "$root" "$download"
  set +e                                   # in a condition, -e would have no effect inside
  (set -e; "fetch_$source") > "$download/log" 2>&1
  status=$?
  set -e
  if [ $status = 0 ]; then
    fetched=yes
    break
  fi
  failed+="$(cat "$download/log")"$'\n'
done
[ -n "$fetched" ] || { printf '%s' "$failed" >&2; exit 1; }
"$root/bin/rustc" --version
