# Sourced: installs what building and testing need, and provides a private copy of PostgreSQL to
# install into.
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
      { apt_get install -y --no-install-recommends "$@" 9<&- 2> /dev/null ||
        { apt_get update 9<&- && apt_get install -y --no-install-recommends "$@" 9<&-; }; }
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
    if ! command -v rustup > /dev/null || ! scripts/fetch-rust.sh "$tree" rustup; then
      install_missing missing_for_rust
      scripts/fetch-rust.sh "$tree" debian || die "$(scripts/check-rust.sh 2>&1 | sed '1s/^error: //')"
    fi
  fi
  PATH=$tree/bin:$PATH
}

# Make cargo build for musl, with a Rust of its own that compiles for it.
prepare_musl() {
  local tree=$ROOT/target/rust-musl triple name
  triple=$(uname -m)-unknown-linux-musl
  if [ ! -x "$tree/bin/rustc" ]; then
    say "get a Rust for $triple into $tree (a minute or two, once)"
    scripts/fetch-rust.sh "$tree" rustup "$triple" || { echo "needs a Rust for $triple, which rustup has"; exit 77; }
  fi
  PATH=$tree/bin:$PATH
  # Debian has no libgcc_s for musl; the unwinder that is part of Rust takes its place
  mkdir -p "$tree/unwind"
  ln -sf "$(rustc --print sysroot)/lib/rustlib/$triple/lib/self-contained/libunwind.a" "$tree/unwind/libgcc_s.a"
  name=CARGO_TARGET_$(tr a-z- A-Z_ <<< "$triple")
  export CARGO_BUILD_TARGET=$triple "${name}_LINKER=musl-gcc" "${name}_RUSTFLAGS=-Lnative=$tree/unwind"
}

# Install those of some Debian packages that are missing; skip the stage if only root can.
prepare_tools() {
  local name missing=()
  for name; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2> /dev/null)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} != 0 ] || return 0
  if [ "$(id -u)" = 0 ]; then
    install_packages "${missing[@]}"
  elif ! command -v sudo > /dev/null || ! (install_packages "${missing[@]}"); then  # sudo may ask where nobody can answer
    echo "needs these packages of Debian, and root to install them: ${missing[*]}"
    exit 77
  fi
}

# Whether C can be compiled.
has_compiler() {
  echo '#include <stdio.h>' | cc -E - > /dev/null 2>&1
}

# Install optional packages of a test, as far as possible without asking.
offer_packages() {
  if command -v apt-get > /dev/null && ! dpkg -s "$@" > /dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] || sudo -n true 2> /dev/null; then (install_packages "$@") || true; fi
  fi
}

# Install the tools that install drivers, and those of some packages that apt has, as far as
# possible without asking.
prepare_clients() {
  local packages=()
  python3 -m pip --version > /dev/null 2>&1 || packages+=(python3-pip)
  python3 -c 'import ensurepip' 2> /dev/null || packages+=(python3-venv)
  command -v npm > /dev/null || packages+=(npm)
  [ $# = 0 ] || mapfile -t -O ${#packages[@]} packages < <(available_packages "$@")
  [ ${#packages[@]} = 0 ] || offer_packages "${packages[@]}"
}

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
  if [ "$1" = musl ]; then prepare_musl; else prepare_rust; fi
  install_missing missing_packages "$1"
  choose_server_user
  case $1 in 17 | 18) packages=("postgresql-$1-partman" "postgresql-$1-timescaledb") ;; esac  # the documentation uses them
  # with its path, which programs and settings contain: a copy of the checkout prepares its own
  tree=$WORK/$1 version="unpacked${packages[*]:+ ${packages[*]}}"
  ! is_own "$1" || version=$("/usr/lib/postgresql/$1/bin/postgres" --version)
  version+=" in $tree"
  if [ ! -x "$tree/bin/postgres" ] || [ "$version" != "$(cat "$tree/version" 2> /dev/null)" ]; then
    if is_own "$1"; then
      copy_postgres "$1" "$tree" || return  # -e may have no effect here
    else
      case $1 in
        assert) say "build PostgreSQL 18 with assertions in $tree (about ten minutes, once)" ;;
        musl) say "build PostgreSQL 18 with musl in $tree (a few minutes, once)" ;;
        *) say "unpack PostgreSQL $1 into $tree (up to a minute, once)" ;;
      esac
      scripts/fetch-postgres.sh "${1%-main}" "$tree" "${packages[@]}" || return
    fi
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

# Unpack what else tests and examples use into the copy of the machine's own PostgreSQL $1.
prepare_extra_packages() {
  local tree=$WORK/$1 packages
  is_own "$1" || return 0
  mapfile -t packages < <(extra_packages "$1")
  if [ "${packages[*]}" != "$(cat "$tree/extra_packages" 2> /dev/null)" ]; then
    # without them, the tests that need them are skipped
    unpack_extra_packages "$tree" "${packages[@]}" && echo "${packages[*]}" > "$tree/extra_packages"
  fi
  # for programs and their libraries
  LD_LIBRARY_PATH=$(compgen -G "$tree/usr/lib/*-linux-gnu" || true) PATH=$PATH:$tree/usr/sbin
  export LD_LIBRARY_PATH
}

# Print the other packages that tests and examples use with PostgreSQL $1, as far as the machine's
# apt has them.
extra_packages() {
  local names=(partman timescaledb)
  available_packages "${names[@]/#/postgresql-$1-}" pgbouncer
}

# Print those of some packages that the machine's apt has.
available_packages() {
  command -v apt-cache > /dev/null || return 0
  { apt-cache show "$@" 2> /dev/null || true; } | sed -n 's/^Package: //p' | sort -u
}

# Unpack packages of the machine's apt, with the libraries that they need, into the copy of
# PostgreSQL in $1. Nothing is installed.
unpack_extra_packages() {
  local tree=$1 archives file status=0
  shift
  [ $# -gt 0 ] || return 0
  say "unpack into it: $*"
  archives=$(mktemp -d)
  mkdir "$archives/partial"
  apt-get -qq -o Debug::NoLocking=true -o Dir::Cache::Archives="$archives" -o APT::Sandbox::User=root \
    install -y --reinstall --no-install-recommends --download-only "$@" > "$archives/log" 2>&1 < /dev/null ||
    { status=$?; cat "$archives/log" >&2; }
  for file in "$archives"/*.deb; do
    case ${file##*/} in postgresql-common* | postgresql-client*) continue ;; esac
    case ${file##*/} in postgresql-* | pgbouncer_* | lib*) dpkg-deb -x "$file" "$tree" || status=$? ;; esac
  done
  rm -rf "$archives"
  return $status
}

# Prepare PostgreSQL's framework for tests with servers: sets PERL5LIB and PG_REGRESS. Not every
# package of a server has its modules; those of another version work too, because they distinguish
# versions.
prepare_prove() {
  local pgxs
  { command -v prove && perl -MIPC::Run -e 1; } > /dev/null 2>&1 || prepare_tools libipc-run-perl
  pgxs=$(find_framework)
  if [ -z "$pgxs" ]; then
    (prepare_postgres 18)
    pgxs=$(find_framework)
    [ -n "$pgxs" ] || die "no server here has PostgreSQL::Test::Cluster"
  fi
  export PERL5LIB=$pgxs/test/perl${PERL5LIB:+:$PERL5LIB} PG_REGRESS=$pgxs/test/regress/pg_regress
}

# Print a directory that contains the framework: of the server in PATH, or of another one.
find_framework() {
  local pgxs
  pgxs=$(readlink -f "$(dirname "$(pg_config --pgxs)")/..")
  for pgxs in "$pgxs" "$WORK"/*/usr/lib/postgresql/*/lib/pgxs/src /usr/lib/postgresql/*/lib/pgxs/src; do
    if [ -e "$pgxs/test/perl/PostgreSQL/Test/Cluster.pm" ] && [ -x "$pgxs/test/regress/pg_regress" ]; then
      echo "$pgxs"
      return
    fi
  done
}

# Copy the machine's PostgreSQL $1 to the directory $2. It finds its files relative to its programs.
copy_postgres() {
  say "copy PostgreSQL $1 to $2"
  rm -rf "$2"
  mkdir -p "$2"/usr/{lib,share,include}/postgresql &&
    cp -a "/usr/lib/postgresql/$1" "$2/usr/lib/postgresql" &&
    cp -a "/usr/share/postgresql/$1" "$2/usr/share/postgresql" &&
    cp -a /usr/include/postgresql/. "$2/usr/include/postgresql" &&
    ln -s "usr/lib/postgresql/$1/bin" "$2/bin"
}

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
