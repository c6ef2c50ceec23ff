#!/bin/bash
# Builds the site of docs/ into build/site: tools/site.sh METE. A warning is an error; links are checked, also those of Doxygen's pages.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 1 ] || { echo "site.sh: got $# arguments; expected the program mete" >&2; exit 2; }
tools/venv.sh build/site-tools tools/site/requirements.txt
config=build/site-config
mkdir -p "$config/inner"  # as deep as tools/site: mkdocs.yml's paths are relative
python3 tools/site/stage.py --mete "$1" --to build/site-pages --config "$config/inner/mkdocs.yml"
sed -i 's#\.\./\.\./build/#../../#' "$config/inner/mkdocs.yml"
NO_MKDOCS_2_WARNING=1 build/site-tools/bin/mkdocs build --strict --quiet --config-file "$config/inner/mkdocs.yml"
rm -rf build/site-doxygen
mkdir -p build/site-doxygen
doxygen tools/site/Doxyfile
rm -rf build/site/cpp
cp -r build/site-doxygen/html build/site/cpp
python3 tools/site/check.py build/site
