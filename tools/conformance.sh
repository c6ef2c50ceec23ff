#!/bin/bash
# Runs the ONNX node tests: tools/conformance.sh [--update] [--only TEXT] [--list]
# The onnx package (version in tests/conformance/requirements.txt) generates them, once, into build/conformance;
# the runner compares with tests/conformance/results.tsv, which --update rewrites. METE_BUILD names another
# build folder than build/release; METE_EMULATOR is put before the runner where that is for another processor.
set -euo pipefail
cd "$(dirname "$0")/.."

here=tests/conformance
work=build/conformance
build=${METE_BUILD:-build/release}

stamp=$(cat $here/requirements.txt $here/generate.py $here/cases.tsv | sha256sum)
if [ "$(cat $work/stamp 2> /dev/null)" != "$stamp" ]; then
  rm -rf $work
  mkdir -p $work
  python3 -m venv $work/venv
  $work/venv/bin/pip install --quiet --disable-pip-version-check -r $here/requirements.txt
  $work/venv/bin/python $here/generate.py $here/cases.tsv $work/data
  echo "$stamp" > $work/stamp
fi

cmake --build "$build" --target conformance_runner
exec ${METE_EMULATOR:-} "$build/tests/conformance/conformance_runner" $here/cases.tsv $work/data $here/results.tsv "$@"
