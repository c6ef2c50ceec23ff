#!/bin/bash
# Makes the folder that bench/arm/instructions.py runs the peers in under the emulator: Debian's Python for arm64, and ONNX Runtime's, ncnn's
# and numpy's packages for it from PyPI. Nothing of the host changes. Says nothing where the folder is there already.
#   bench/arm/peers.sh [FOLDER]   default build/arm64-peers
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=${1:-build/arm64-peers}
stamp=$(cat "$0" tools/arm64-unpack.sh bench/peers/requirements.txt | sha256sum | cut -d ' ' -f 1)
[ "$(cat "$folder/stamp" 2> /dev/null)" = "$stamp" ] && exit 0

rm -rf "$folder"
mkdir -p "$folder/wheels"
folder=$(realpath "$folder")
tools/arm64-unpack.sh "$folder" python3 libstdc++6

mapfile -t wanted < <(grep -E '^(numpy|onnxruntime|ncnn)==' bench/peers/requirements.txt)
build/peers/venv/bin/pip download --quiet --no-deps --only-binary=:all: --python-version 3.11 --dest "$folder/wheels" \
  --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux_2_24_aarch64 "${wanted[@]}"
for wheel in "$folder"/wheels/*.whl; do python3 -m zipfile -e "$wheel" "$folder/site"; done
echo "$stamp" > "$folder/stamp"
