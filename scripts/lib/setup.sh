# Sourced: what every script needs of the machine. Its parts:
#
#   the environment    the same on every machine, and none of the user's servers
#   Debian's packages  installed as root or by sudo, without a cluster of Debian's postgresql
#   Rust               that of the machine, or a private one, by fetch-rust.sh
#   PostgreSQL         a private copy in target/postgres, by fetch-postgres.sh, since the machine's
#                      own is not touched; what has been prepared once is only looked at
#   the extension      built, and installed into that copy
#
# lib/server.sh starts servers, lib/archive.sh reads Debian's archive.
# shellcheck shell=bash disable=SC2034
set -euo pipefail
umask 022
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
ROOT=$PWD
# The version of Rust that builds the extension, which Cargo.toml names.
RUST=$(sed -n 's/^rustc = "\(.*\)"/\1/p' Cargo.toml)
MAJORS="19 18 17 16 15"

# The same output everywhere, and no server of the user: those that PG* variables name are not ours.
export LC_ALL=C.UTF-8
for name in $(compgen -e PG); do
  case $name in PG | PG_TEST_* | PGRX_*) ;; *) unset "$name" ;; esac
done
# cargo, npm, pip and the tools that are built here use the home directory, if it is writable.
HOME=${HOME-~}
if [ ! -w "$HOME" ]; then
  export RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
  HOME=$ROOT/target/home
  mkdir -p "$HOME"
fi
export HOME
. scripts/lib/server.sh
. scripts/lib/archive.sh

# This saves half of the compile time and most of the disk space.
export CARGO_PGRX_DISABLE_GC_SECTIONS_WORKAROUND=1 CARGO_PROFILE_DEV_DEBUG=0

# Print what happens next.
say() {
  printf -- '-- %s\n' "$*"
}

# Give up with a reason.
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# -- Debian's packages

# Run a command as root.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Run a command, showing its output only when it fails.
quiet() {
  local log
  log=$(mktemp)
  "$@" < /dev/null > "$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; return 1; }
  rm -f "$log"
}

# Run apt-get as root.
apt_get() {
  quiet as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}

# Install packages without letting Debian's postgresql create and start a cluster.
install_packages() {
  local ask="ask root for: apt-get install --no-install-recommends $*"
  command -v apt-get > /dev/null || die "missing, by the names of Debian's packages: $*"
  [ "$(id -u)" = 0 ] || command -v sudo > /dev/null || die "packages are missing, $ask"
  say "install $*"
  (
    no_cluster=/etc/postgresql-common/createcluster.d/zz-ulid.conf
    exec 9< /var/lib/dpkg && flock 9       # not while another one of us does this
    trap 'as_root rm -f "$no_cluster"; as_root rmdir -p --ignore-fail-on-non-empty "${no_cluster%/*}"' EXIT
    as_root mkdir -p "${no_cluster%/*}" &&
      echo 'create_main_cluster = false' | as_root tee "$no_cluster" > /dev/null &&
      # the lists of packages may be missing or old
      { apt_get install -y --no-upgrade --no-install-recommends "$@" 9<&- 2> /dev/null ||
        { apt_get update 9<&- && apt_get install -y --no-upgrade --no-install-recommends "$@" 9<&-; }; }
  ) || die "could not install packages, $ask"
}

# Install the packages that a command prints, until it prints none.
install_missing() {
  local before="" missing
  while missing=$("$@"); [ -n "$missing" ]; do
    [ "$missing" != "$before" ] || die "installed, but not found: $missing"
    before=$missing
    # shellcheck disable=SC2086
    install_packages $missing
  done
}

# Whether C can be compiled.
has_compiler() {
  echo '#include <stdio.h>' | cc -E - > /dev/null 2>&1
}

# Whether all of these Debian packages are installed.
are_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}\n' "$@" 2> /dev/null | grep -cx installed)" = $# ]
}

# Install Debian packages; skip the stage if only root could do it.
prepare_tools() {
  are_installed "$@" || (install_packages "$@") ||   # sudo may ask where nobody can answer
    { echo "needs these packages of Debian, and root to install them: $*"; exit 77; }
}

# Install optional packages of a test, as far as possible without asking.
offer_packages() {
  ! command -v apt-get > /dev/null || are_installed "$@" ||
    { [ "$(id -u)" != 0 ] && ! sudo -n true 2> /dev/null; } || (install_packages "$@") || true
}

# -- Rust

# Print the packages that are missing for a private Rust.
missing_for_rust() {
  has_compiler || echo gcc libc6-dev
  command -v patchelf > /dev/null || echo patchelf
}

# Whether the Rust in PATH is new enough, and has what rustup's minimal profile and the official
# images leave out.
has_rust() {
  { scripts/check-rust.sh && rustfmt --version && cargo clippy --version; } > /dev/null 2>&1
}

# Make sure that there is such a Rust; if necessary, use a private one.
prepare_rust() {
  local tree=$ROOT/target/rust reason
  ! has_rust || return 0
  if ! PATH=$tree/bin:$PATH has_rust; then
    reason=$(scripts/check-rust.sh 2>&1 | sed -n '1s/^error: //p') || true
    say "${reason:-rustfmt and clippy are needed}: get a Rust into $tree (half a minute, once)"
    rm -rf "$tree"
    if ! command -v rustup > /dev/null || ! scripts/fetch-rust.sh "$tree" rustup; then
      install_missing missing_for_rust
      scripts/fetch-rust.sh "$tree" debian || die "$(scripts/check-rust.sh 2>&1 | sed '1s/^error: //')"
    fi
  fi
  PATH=$tree/bin:$PATH
}

# -- PostgreSQL

# Print the packages that are missing for building, and for running PostgreSQL $1 if that is the
# machine's own.
missing_packages() {
  local programs=/usr/lib/postgresql/$1/bin headers=/usr/include/postgresql/$1/server program
  has_compiler || echo gcc libc6-dev
  command -v make > /dev/null || echo make
  [ -e /usr/include/unicode/ucol.h ] || echo libicu-dev       # the server's headers include it
  if is_own "$1"; then
    [ -x "$programs/postgres" ] || echo "postgresql-$1"
    if [ ! -x "$programs/pg_config" ] || [ ! -e "$headers/postgres.h" ]; then
      echo "postgresql-server-dev-$1"      # depends on clang and libclang
      return
    fi
  elif [ "$1" = 16 ]; then
    python3 -m pip --version > /dev/null 2>&1 || echo python3-pip
  elif [ "$1" = assert ]; then
    for program in bison flex valgrind; do command -v "$program" > /dev/null || echo "$program"; done
  elif [ "$1" = musl ]; then
    for program in bison flex musl-gcc; do command -v "$program" > /dev/null || echo "${program/musl-gcc/musl-tools}"; done
  else
    command -v patchelf > /dev/null || echo patchelf
  fi
  scripts/check-libclang.sh 2> /dev/null || echo libclang-dev
}

# Whether PostgreSQL $1 is installed on the machine, or is the version that its apt would install.
is_own() {
  [ ! -x "/usr/lib/postgresql/$1/bin/postgres" ] || return 0
  ask_apt_major
  [ "$1" = "$APT_MAJOR" ]
}

# Set APT_MAJOR, the major version that apt calls postgresql. It may take apt seconds to answer, so
# it is asked once.
ask_apt_major() {
  [ -z "${APT_MAJOR:-}" ] || return 0
  APT_MAJOR=$(apt-cache depends postgresql 2> /dev/null | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -n 1) || true
  export APT_MAJOR
}

# Print the machine's own major version: the newest that is installed with its headers, otherwise
# that of apt.
default_major() {
  local major
  for major in $MAJORS; do
    if [ -x "/usr/lib/postgresql/$major/bin/postgres" ] && [ -e "/usr/include/postgresql/$major/server/postgres.h" ]; then
      echo "$major"
      return
    fi
  done
  ask_apt_major
  if [ -z "$APT_MAJOR" ]; then
    apt_get update || die "could not ask apt for its PostgreSQL"
    ask_apt_major
  fi
  echo "$APT_MAJOR"
}

# Print the major version of what prepare_postgres prepares.
major_of() {
  case $1 in
    assert | musl) echo 18 ;;
    *) echo "${1%-main}" ;;
  esac
}

# Prepare PostgreSQL $1 in a private directory: a major version; assert or musl, which are builds of
# 18; or 15-main, the one of Debian 12 without updates. Sets BIN, the directory of its programs.
prepare_postgres() {
  local tree version packages=()
  case " $MAJORS assert musl 15-main " in *" $1 "*) ;; *) die "PostgreSQL \"$1\" is not one of $MAJORS" ;; esac
  prepare_rust
  install_missing missing_packages "$1"
  choose_server_user
  case $1 in 17 | 18) packages=("postgresql-$1-cron" "postgresql-$1-partman" "postgresql-$1-timescaledb") ;; esac  # the documentation uses them
  # with its path, which programs and settings contain: a copy of the checkout prepares its own
  tree=$WORK/$1 version="unpacked${packages[*]:+ ${packages[*]}}"
  ! is_own "$1" || version=$("/usr/lib/postgresql/$1/bin/postgres" --version)
  version+=" in $tree"
  if [ ! -x "$tree/bin/postgres" ] || [ "$version" != "$(cat "$tree/version" 2> /dev/null)" ]; then
    say "put PostgreSQL $1 into $tree (up to a minute, once; assert and musl: ten)"
    rm -rf "$tree"
    scripts/fetch-postgres.sh "$1" "$tree" "${packages[@]}" || return  # -e may have no effect here
  fi
  BIN=$(readlink -f "$tree/bin")
  export BIN PGRX_PG_CONFIG_PATH=$BIN/pg_config PGRX_HOME=$tree/pgrx
  if [ ! -e "$PGRX_HOME/config.toml" ]; then
    # what "cargo pgrx init" would write; only once, because pgrx is compiled again whenever this
    # file changes
    mkdir -p "$PGRX_HOME"
    printf '[configs]\npg%s = "%s"\n' "$(major_of "$1")" "$PGRX_PG_CONFIG_PATH" > "$PGRX_HOME/config.toml"
  fi
  # last, in case of an interruption; only if new, as other stages read it
  echo "$version" | cmp -s - "$tree/version" || echo "$version" > "$tree/version"
}

# -- The extension

# Build the extension as it is released and install it into the private PostgreSQL.
install_extension() {
  [ -z "${installed:-}" ] || return 0
  say "build the extension (a minute or two the first time) and install it into that copy"
  CARGO_TERM_QUIET=true make -s --no-print-directory uninstall install PG_CONFIG="$BIN/pg_config" DESTDIR=
}

# Prepare the cargo tool $1 in version $2, separate from any other on the machine, so that cargo
# finds it. Further arguments are passed to cargo install.
prepare_cargo_tool() {
  local home=${XDG_CACHE_HOME:-~/.cache}/ulid/$1-$2
  if [ ! -x "$home/bin/$1" ]; then
    say "install $1 $2 into $home (some minutes, once)"
    env -u CARGO_BUILD_TARGET cargo install --quiet --locked --debug --root "$home" --version "$2" "$1" "${@:3}"
  fi
  PATH=$home/bin:$PATH
}
