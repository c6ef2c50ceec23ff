#!/bin/bash
# Runs against_onnxruntime.py in a virtual environment of its own: against_onnxruntime.sh FOLDER [FLAG...]
# FOLDER gets the environment, once, with the versions of requirements.txt.
set -euo pipefail
here=$(dirname "$0")
folder=$1
shift

if ! cmp -s "$here/requirements.txt" "$folder/requirements.txt"; then
  rm -rf "$folder"
  python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$folder/requirements.txt"
fi
exec "$folder/bin/python" "$here/against_onnxruntime.py" "$@"
