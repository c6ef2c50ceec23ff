#!/bin/bash
# A virtual environment with the packages of a list, from PyPI: tools/venv.sh FOLDER REQUIREMENTS
# FOLDER gets it once, and again when the list has changed. Where it cannot be installed this says so and exits with 77, "skipped".
set -euo pipefail
[ $# -eq 2 ] || { echo "venv.sh: got $# arguments; expected FOLDER REQUIREMENTS" >&2; exit 2; }
folder=$1
wanted=$2

cmp -s "$wanted" "$folder/requirements.txt" && exit 0
rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
if ! { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"; }; then
  rm -rf "$folder"
  echo "venv.sh: skipped; the packages of $wanted cannot be installed here" >&2
  exit 77
fi
cp "$wanted" "$folder/requirements.txt"
