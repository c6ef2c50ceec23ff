#!/bin/bash
# Trains the shipped digit network anew: the fonts from Debian, the Python packages from PyPI into build/venv-digits.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=(); [ "$(id -u)" -eq 0 ] || root=(sudo)

mapfile -t fonts < <(cd tools/digits && sed -n '/_PACKAGES = \[/,/^\]/p' render.py | grep -oE 'fonts-[a-z0-9-]+')
missing=()
for font in "${fonts[@]}"; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$font" 2> /dev/null || true)" = installed ] || missing+=("$font")
done
if [ ${#missing[@]} -gt 0 ]; then
  "${root[@]}" apt-get -q update
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends "${missing[@]}"
fi

venv=build/venv-digits
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install -q -r tools/digits/requirements.txt
exec "$venv/bin/python" tools/digits/train.py "$@"
