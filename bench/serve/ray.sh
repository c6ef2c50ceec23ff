#!/bin/bash
# Ray Serve's tests and ray_recovery.py in a virtual environment of their own, build/ray:
#   bench/serve/ray.sh [--mete FILE] [--model FILE] [--clients N] [--seconds S] [--num-cpus C] [--json FILE] [--markdown]
# Exits with 77 where Ray cannot be installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
venv=$root/build/ray

"$root/tools/venv.sh" "$venv" "$here/ray_requirements.txt"
"$venv/bin/python" "$root/python/mete/ray_test.py"
exec "$venv/bin/python" "$here/ray_recovery.py" "$@"
