#!/bin/bash
# Builds the wheel of the Python package, with the libraries that it needs in it: tools/wheel.sh PYTHON FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 2 ] || { echo "wheel.sh: got $# arguments; expected PYTHON FOLDER" >&2; exit 2; }
python=$1
folder=$2
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
tools=build/wheel-tools-$version
if ! cmp -s python/wheel-requirements.txt "$tools/requirements.txt"; then
  rm -rf "$tools"
  "$python" -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check -r python/wheel-requirements.txt
  cp python/wheel-requirements.txt "$tools/requirements.txt"
fi
raw=$(mktemp -d)
trap 'rm -rf "$raw"' EXIT
# A compiler cache has the files of other builds where the compiler's name is the one that CMake finds, and Python leaves the locale as it is.
export CXX=${CXX:-c++} PYTHONCOERCECLOCALE=0 CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
# The times of the wheel's files: the same state makes the same wheel.
# Outside of a git checkout it is the time of CHANGELOG.md.
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2> /dev/null || stat -c %Y CHANGELOG.md)}"
export SOURCE_DATE_EPOCH
"$tools/bin/python" -m build --wheel --outdir "$raw" .
mkdir -p "$folder"
PATH=$PWD/$tools/bin:$PATH "$tools/bin/auditwheel" repair --strip --wheel-dir "$folder" "$raw"/*.whl
ls -l "$folder"
