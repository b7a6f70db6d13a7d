# Sourced by the tests of packages: what they share, and a Debian that has nothing else, in a directory.
# shellcheck shell=bash

# What is left undone, and why.
skip() {
  echo "$1"
  exit 77
}

# Compare what is found with what should be, and show the difference.
equal() {
  diff <(printf '%s\n' "$1") <(printf '%s\n' "$2")
}

# Print, in order, the files that a package installs into the server's directories of libraries ($1) and extensions ($2).
extension_files() {
  local file name
  {
    echo "$1/ulid.so"
    for file in ulid.control sql/*.control; do
      name=$(basename "$file" .control)
      printf '%s\n' "$2/$name.control" "$2/$name--$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$file").sql"
    done
    for file in sql/*--*--*.sql; do echo "$2/${file##*/}"; done
  } | sort
}

# Print the suite of Debian that has PostgreSQL $1.
suite_of() {
  case $1 in
    15) echo bookworm ;;
    17) echo trixie ;;
    18) echo forky ;;
    *) return 1 ;;
  esac
}

# Make the directory $1 such a system, of the suite $2; it is kept as an archive for the next time.
make_debian() {
  local root=$1 suite=$2 archive=$WORK/$2${CROSS:+-$CROSS}.tar mirror script=/usr/share/debootstrap/scripts
  [ "$(id -u)" = 0 ] || skip "takes root"
  command -v apt-get > /dev/null || skip "takes Debian"
  unshare --mount --pid --fork --mount-proc true 2> /dev/null || skip "takes namespaces for mounts and processes"
  prepare_tools debootstrap
  mkdir "$root" || return                  # -e may have no effect here
  if [ -e "$archive" ]; then
    tar x -C "$root" -f "$archive" || return
  else
    say "debootstrap $suite"
    mirror=$(apt-get indextargets --format "\$(REPO_URI)" 'Created-By: Packages' | grep -v security | grep -m 1 debian) ||
      skip "takes a mirror of Debian"
    script=$script/$([ -e "$script/$suite" ] && echo "$suite" || echo sid)  # it may be newer than debootstrap
    mkdir "$root/dev"
    # container: it finds the devices that it may be unable to make
    container=lxc quiet with_devices "$root" debootstrap --arch="$ARCHITECTURE" --variant=minbase "$suite" "$root" "$mirror" "$script" ||
      skip "debootstrap failed"
    rm -f "$root"/var/cache/apt/archives/*.deb
    tar c -C "$root" --one-file-system . > "$archive.new"
    mv "$archive.new" "$archive"
  fi
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  apt-config dump | grep -E '^Acquire::(https?::|Check-)' > "$root/etc/apt/apt.conf.d/host" || true
  echo force-unsafe-io > "$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
}

# Run a command that finds this machine's devices in the directory $1, where it may have no right to make them; whatever it
# starts ends with it.
with_devices() {
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child --mount-proc sh -c '
    mount -t tmpfs -o mode=755 tmpfs "$0/dev" && mkdir -m 1777 "$0/dev/shm" && ln -s /proc/self/fd "$0/dev" || exit
    for device in full null random tty urandom zero; do
      : > "$0/dev/$device" && mount --bind "/dev/$device" "$0/dev/$device" || exit
    done
    exec "$@"' "$@"
}

# Run a command in such a system.
in_debian() {
  # shellcheck disable=SC2016
  with_devices "$1" sh -c 'mount -t proc proc "$0/proc" && exec env -u TMPDIR chroot "$0" "$@"' "$@"
}
