#!/bin/bash
# Lays out all C++ code as .clang-format says.
#   tools/format.sh           changes the files
#   tools/format.sh --check   names the files that would be changed and fails where there are any
# Other versions of clang-format than Debian 12's lay out some lines in another way: with --check they exit with 77, "skipped".
set -euo pipefail
cd "$(dirname "$0")/.."
expected=14
version=$(clang-format --version 2> /dev/null | grep -oE 'version [0-9]+' | grep -oE '[0-9]+' || true)
if [ "$version" != "$expected" ]; then
  echo "format.sh: skipped; got clang-format ${version:-none}, expected $expected; try tools/install-deps.sh" >&2
  exit 77
fi
files() { find src include apps bench examples python tests tools zoo -name '*.h' -o -name '*.cc' | sort; }
case "${1:-}" in
  "") files | xargs clang-format -i ;;
  --check)
    said=$(files | xargs clang-format --dry-run -Werror 2>&1) && exit 0
    changed=$(grep -oE '^[a-z][^:]*\.(h|cc):' <<< "$said" | tr -d : | sort -u || true)
    [ -z "$changed" ] && echo "format.sh: clang-format fails: $said" >&2 && exit 1
    echo "format.sh: these files are laid out in another way than .clang-format says; try make format" >&2
    echo "$changed" >&2
    exit 1 ;;
  *) echo "format.sh: unknown argument '$1'; expected --check or nothing" >&2; exit 2 ;;
esac
