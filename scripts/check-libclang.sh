#!/bin/sh
# Make sure that bindgen finds libclang: where LIBCLANG_PATH tells it to, or where it looks.
# libclang-cpp is another library.
set -eu

# Whether one of these directories has it.
is_in() {
  for directory; do
    for file in "$directory"/libclang.so* "$directory"/libclang-[0-9]*.so* "$directory"/libclang.dylib; do
      [ ! -e "$file" ] || return 0
    done
  done
  return 1
}

if [ -n "${LIBCLANG_PATH:-}" ]; then
  if [ -f "$LIBCLANG_PATH" ] || is_in "$LIBCLANG_PATH"; then exit 0; fi
elif is_in "$(llvm-config --libdir 2> /dev/null)" "$(xcode-select -p 2> /dev/null)"/usr/lib \
  "$(xcode-select -p 2> /dev/null)"/Toolchains/*/usr/lib /usr/lib /usr/lib64 /usr/lib/*-linux-* /usr/lib*/llvm*/lib* \
  /usr/local/lib /usr/local/llvm*/lib /opt/homebrew/opt/llvm*/lib; then
  exit 0
fi
echo "error: libclang is needed (Debian: libclang-dev; Red Hat: clang-devel; Alpine: clang-dev)${LIBCLANG_PATH:+, and LIBCLANG_PATH has none}" >&2
exit 1
