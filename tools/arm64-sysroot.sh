#!/bin/bash
# Unpacks the arm64 versions of the libraries that building needs into a folder, for the preset `arm64`.
#   tools/arm64-sysroot.sh [FOLDER]   default build/sysroot-arm64
# Says nothing where the folder is there already.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  libc6-dev libstdc++6
  libhwy-dev libprotobuf-dev libonnx-dev libflatbuffers-dev
  nlohmann-json3-dev libtomlplusplus-dev libcli11-dev libfmt-dev
  libgrpc++-dev protobuf-compiler-grpc  # the latter's program is not run, but looked for
  libboost-dev prometheus-cpp-dev
  libjpeg-dev libpng-dev libssl-dev libxxhash-dev libutf8proc-dev libncurses-dev libgtest-dev libbenchmark-dev
  opencl-c-headers
)
sysroot=${1:-build/sysroot-arm64}
stamp=$(cat "$0" tools/arm64-unpack.sh | sha256sum | cut -d ' ' -f 1)
[ "$(cat "$sysroot/stamp" 2> /dev/null)" = "$stamp" ] && exit 0

rm -rf "$sysroot"
mkdir -p "$sysroot"
sysroot=$(realpath "$sysroot")
tools/arm64-unpack.sh "$sysroot" "${packages[@]}"

# Links to absolute paths would lead to the host's files.
find "$sysroot" -type l -lname '/*' | while read -r link; do
  ln -sfn "$(realpath --relative-to "$(dirname "$link")" --no-symlinks "$sysroot$(readlink "$link")")" "$link"
done
echo "$stamp" > "$sysroot/stamp"
