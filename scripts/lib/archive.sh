# Sourced: gets the contents of packages of a Debian suite without installing them. The machine's
# apt is not changed; root is not needed. Needs apt and dpkg-deb, and patchelf for programs.
# shellcheck shell=bash

# Make the directory $1, unless there is something.
make_directory() {
  [ ! -e "$1" ] || rmdir "$1" 2> /dev/null ||
    { echo "error: $1 exists: remove it, or name another directory" >&2; return 1; }
  mkdir -p "$1"
}

# Print the machine's mirror of Debian: apt knows which one that is once it has read the lists.
debian_mirror() {
  { apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian'
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages'; } |
    awk '/debian/ && !/security/ && !found { found = 1; print } END { exit !found }'
}

# Read the lists of Debian suites into the directory $1, for packages of the type $2 (deb or
# deb-src); sets APT, apt's options to use them. If $1/preferences exists, apt uses it. The packages
# are for the machine ARCHITECTURE, by default this one.
open_archive() {
  local state=$1 type=$2 keys='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]' mirror suite
  shift 2
  mirror=$(debian_mirror) ||
    { echo "error: apt has no mirror of Debian" >&2; return 1; }
  mkdir -p "$state"/lists/partial "$state"/cache/archives/partial
  : > "$state/status"                      # an empty machine, so that every library is fetched
  for suite; do
    echo "$type $keys $mirror $suite main"
  done > "$state/sources"
  APT=(-qq -o Dir::Etc::sourcelist="$state/sources" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::Etc::preferences="$state/preferences" -o Dir::Etc::preferencesparts=/dev/null
    -o Dir::State::Lists="$state/lists" -o Dir::State::status="$state/status" -o Dir::Cache="$state/cache"
    ${ARCHITECTURE:+-o APT::Architecture="$ARCHITECTURE" -o APT::Architectures="$ARCHITECTURE"}
    -o APT::Sandbox::User=root -o Acquire::Languages=none -o APT::Install-Recommends=false)
  apt-get "${APT[@]}" update
}

# Unpack packages into the directory $1.
unpack() {
  local root=$1 file
  shift
  for file; do
    dpkg-deb --fsys-tarfile "$file" | tar x -C "$root" ./usr ./lib ./lib64 2> /dev/null || true  # some lack one of them
  done
}

# Print the dynamic loader that was unpacked into the directory $1.
loader_of() {
  readlink -f "$(find "$1" -name 'ld-linux-*.so.*' | head -n 1)"
}

# Make the programs and libraries listed on stdin use the loader $1 and the libraries in the
# directories $2.
patch_programs() {
  local file
  while read -r file; do
    patchelf --set-interpreter "$1" "$file" 2> /dev/null || true                 # libraries and scripts have none
    patchelf --force-rpath --set-rpath "$2" "$file" 2> /dev/null || true         # scripts
  done
}
