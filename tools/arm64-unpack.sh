#!/bin/bash
# Fetches Debian's packages for 64-bit Arm, with all that they depend on, and unpacks them into a folder.
#   tools/arm64-unpack.sh FOLDER PACKAGE...
# apt works on a state of its own in the folder: the host's packages and architectures stay as they are, and root is not needed.
set -euo pipefail

folder=$(realpath "$1")
shift
work=$folder/apt
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
touch "$work/status"  # nothing is installed there, so apt fetches whatever the packages depend on
apt() {
  apt-get -q -y -o Dpkg::Use-Pty=0 -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User= \
    -o Dir::State="$work/state" -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" "$@" < /dev/null
}
echo "arm64-unpack.sh: fetching into $folder: $*"
apt update
apt install --no-install-recommends --download-only "$@"
for package in "$work"/cache/archives/*.deb; do dpkg-deb --extract "$package" "$folder"; done
rm -rf "$work"
