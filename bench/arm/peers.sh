#!/bin/bash
# Makes the folder that bench/arm/instructions.py runs ncnn in under the emulator: Debian's Python for arm64, and ncnn's and numpy's
# packages for it from PyPI. Nothing of the host changes. Says nothing where the folder is there already.
#   bench/arm/peers.sh [FOLDER]   default build/arm64-peers
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=${1:-build/arm64-peers}
stamp=$(cat "$0" bench/peers/requirements.txt | sha256sum | cut -d ' ' -f 1)
[ "$(cat "$folder/stamp" 2> /dev/null)" = "$stamp" ] && exit 0

rm -rf "$folder"
mkdir -p "$folder/wheels"
folder=$(realpath "$folder")
work=$folder/apt
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
touch "$work/status"  # nothing is installed there, so apt fetches whatever the packages depend on
apt() {
  apt-get -q -y -o Dpkg::Use-Pty=0 -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User= \
    -o Dir::State="$work/state" -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" "$@" < /dev/null
}
apt update
apt install --no-install-recommends --download-only python3 libstdc++6
for package in "$work"/cache/archives/*.deb; do dpkg-deb --extract "$package" "$folder"; done
rm -rf "$work"

mapfile -t wanted < <(grep -E '^(numpy|ncnn)==' bench/peers/requirements.txt)
build/peers/venv/bin/pip download --quiet --no-deps --only-binary=:all: --python-version 3.11 --dest "$folder/wheels" \
  --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux_2_24_aarch64 "${wanted[@]}"
for wheel in "$folder"/wheels/*.whl; do python3 -m zipfile -e "$wheel" "$folder/site"; done
echo "$stamp" > "$folder/stamp"
