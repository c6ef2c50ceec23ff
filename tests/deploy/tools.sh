#!/bin/bash
# Runs tools_test.py in a virtual environment of its own, build/deploy-tools. Exits with 77 where the tools cannot be installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..

"$root/tools/venv.sh" "$root/build/deploy-tools" "$here/requirements.txt"
exec "$root/build/deploy-tools/bin/python" "$here/tools_test.py" "$@"
