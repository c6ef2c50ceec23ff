#!/bin/bash
# Runs tools_test.py in a virtual environment of its own, which build/deploy-tools gets once, with the versions of requirements.txt. Where it cannot be
# installed this says so and exits with 77.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
venv=$here/../../build/deploy-tools

if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
  rm -rf "$venv"
  mkdir -p "$here/../../build"
  if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"; }; then
    echo "tools.sh: skipped; KServe's package and hadolint cannot be installed here (requirements.txt)" >&2
    exit 77
  fi
  cp "$here/requirements.txt" "$venv/requirements.txt"
fi
exec "$venv/bin/python" "$here/tools_test.py" "$@"
