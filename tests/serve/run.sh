#!/bin/bash
# Checks `mete serve` with programs that others have written, each in a virtual environment under build/serve:
#   tests/serve/run.sh clients             Triton's and KServe's clients
#   tests/serve/run.sh mlserver            the same clients against MLServer, for what both servers have
#   tests/serve/run.sh fuzz [SECONDS]      schemathesis over /openapi.json, then requests over a socket, each for SECONDS (600)
# METE names another program than build/release/mete. The packages come from PyPI, once.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tests/serve
mete=${METE:-build/release/mete}

# venv NAME: build/serve/NAME has the packages of NAME-requirements.txt.
venv() {
  local folder=build/serve/$1 wanted=$here/$1-requirements.txt
  cmp -s "$wanted" "$folder/requirements.txt" && return
  rm -rf "$folder"
  mkdir -p build/serve
  python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"
  cp "$wanted" "$folder/requirements.txt"
}

# clients FLAG...: both clients' tests.
clients() {
  venv clients
  venv kserve
  build/serve/clients/bin/python $here/triton_test.py "$@"
  build/serve/kserve/bin/python $here/kserve_test.py "$@"
}

case ${1:-} in
  clients) clients --mete "$mete" ;;
  mlserver)
    venv mlserver
    clients --mlserver build/serve/mlserver/bin/mlserver
    ;;
  fuzz)
    venv schemathesis
    python3 $here/fuzz_openapi.py --mete "$mete" --schemathesis build/serve/schemathesis/bin/schemathesis --seconds "${2:-600}"
    python3 $here/fuzz_http.py --mete "$mete" --seconds "${2:-600}"
    ;;
  *)
    echo "run.sh: unknown argument '${1:-}'; expected clients, mlserver or fuzz" >&2
    exit 2
    ;;
esac
