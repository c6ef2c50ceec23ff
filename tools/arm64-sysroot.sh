#!/bin/bash
# Unpacks the arm64 versions of the libraries that building needs into a folder, for the preset `arm64`.
#   tools/arm64-sysroot.sh [FOLDER]   default build/sysroot-arm64
# apt works on a state of its own there: the host's packages and architectures stay as they are, and root is not needed.
# Says nothing where the folder is there already.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  libc6-dev libstdc++6
  libhwy-dev libprotobuf-dev libonnx-dev
  nlohmann-json3-dev libtomlplusplus-dev libcli11-dev libfmt-dev
  libgrpc++-dev protobuf-compiler-grpc  # the latter's program is not run, but looked for
  libjpeg-dev libpng-dev libssl-dev libxxhash-dev libgtest-dev libbenchmark-dev
)
sysroot=${1:-build/sysroot-arm64}
stamp=$(sha256sum "$0" | cut -d ' ' -f 1)
[ "$(cat "$sysroot/stamp" 2> /dev/null)" = "$stamp" ] && exit 0

rm -rf "$sysroot"
mkdir -p "$sysroot"
sysroot=$(realpath "$sysroot")
work=$sysroot/apt
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
touch "$work/status"  # nothing is installed there, so apt fetches whatever the packages depend on
apt() {
  apt-get -q -y -o Dpkg::Use-Pty=0 -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User= \
    -o Dir::State="$work/state" -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" "$@" < /dev/null
}
echo "arm64-sysroot.sh: fetching into $sysroot: ${packages[*]}"
apt update
apt install --no-install-recommends --download-only "${packages[@]}"
for package in "$work"/cache/archives/*.deb; do dpkg-deb --extract "$package" "$sysroot"; done

# Links to absolute paths would lead to the host's files.
find "$sysroot" -type l -lname '/*' | while read -r link; do
  ln -sfn "$(realpath --relative-to "$(dirname "$link")" --no-symlinks "$sysroot$(readlink "$link")")" "$link"
done
rm -rf "$work"
echo "$stamp" > "$sysroot/stamp"
