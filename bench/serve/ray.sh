#!/bin/bash
# Ray Serve's tests and ray_recovery.py in a virtual environment of their own: ray.sh [FLAG OF ray_recovery.py...]
# build/ray gets the environment, once, with the versions of ray_requirements.txt. Where it cannot be installed this says so and exits with 77.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
venv=$root/build/ray

if ! cmp -s "$here/ray_requirements.txt" "$venv/requirements.txt"; then
  rm -rf "$venv"
  mkdir -p "$root/build"
  if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/ray_requirements.txt"; }; then
    echo "ray.sh: skipped; Ray cannot be installed here (ray_requirements.txt)" >&2
    exit 77
  fi
  cp "$here/ray_requirements.txt" "$venv/requirements.txt"
fi
"$venv/bin/python" "$root/python/mete/ray_test.py"
exec "$venv/bin/python" "$here/ray_recovery.py" "$@"
