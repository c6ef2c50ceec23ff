#!/bin/bash
# Measures models on Mete and on its peers in turn: run.sh [--threads 1,2] [--cores 0,1] [--models M...] [--rounds N] [--json FILE]
# --quantized qdq: 8-bit files of the models, which ONNX Runtime's quantizer writes (requirements-quantized.txt).
# --precision bf16: Mete, OpenVINO and ncnn in bf16.
# Installs the peers (requirements.txt) from PyPI into a virtual environment of its own, once. `run.sh --help` has all flags.
# --install does that alone.
# --mete FILE names the program (default: build/release/mete of the source tree), --work FOLDER where the environment and the models go
# (default: build/peers there; ~/.cache/mete/peers where Mete is installed).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fail() { echo "[compare] $2" >&2; exit "$1"; }

root=$(dirname "$(dirname "$here")")
if [ -f "$root/CMakePresets.json" ]; then
  mete=$root/build/release/mete work=$root/build/peers
else
  mete=$(command -v mete || true) work=${XDG_CACHE_HOME:-$HOME/.cache}/mete/peers
fi
flags=() install_only= quantized=
while [ $# -gt 0 ]; do
  case "$1" in
    --mete|--work) [ $# -gt 1 ] || fail 2 "$1 needs a value"; declare "${1#--}=$2"; shift 2 ;;
    --install) install_only=yes; shift ;;
    --quantized) quantized=yes flags+=("$1"); shift ;;
    *) flags+=("$1"); shift ;;
  esac
done
[ -n "$install_only" ] || [ -x "$mete" ] || fail 1 "no program at '$mete'; try 'make release', or --mete FILE"
mkdir -p "$work" || fail 1 "cannot make the folder $work; try --work FOLDER"

# A peer whose wheel is not to be had is left out, and the table says so; without NumPy there is no table.
python=$work/venv/bin/python
[ -x "$python" ] || python3 -m venv "$work/venv" || fail 1 "cannot make a virtual environment; is python3-venv installed?"
while read -r package; do
  stamp=$work/venv/$package.installed
  [ -e "$stamp" ] && continue
  echo "installing $package into $work/venv" >&2
  if "$python" -m pip install --quiet --disable-pip-version-check --no-deps "$package" >&2; then
    touch "$stamp"
  else
    echo "[compare] cannot install $package; is there a network?" >&2
    case "$package" in numpy*) fail 1 "it cannot do without $package" ;; esac
  fi
done < <(cat "$here/requirements.txt" ${quantized:+"$here/requirements-quantized.txt"})
[ -z "$install_only" ] || exit 0
exec "$python" "$here/compare.py" --mete "$mete" --work "$work" ${flags[@]+"${flags[@]}"}
