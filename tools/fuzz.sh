#!/bin/bash
# Runs one libFuzzer target: tools/fuzz.sh TARGET SECONDS. `make fuzz-build` builds them.
# What it learns stays in build/fuzz/corpus/TARGET; an input that fails stays in build/fuzz/crash/TARGET-*.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1 seconds=$2
corpus=build/fuzz/corpus/$target
mkdir -p "$corpus" build/fuzz/crash
seeds=()
case $target in onnx_fuzz | model_fuzz) from=tests/fuzz/onnx ;; machine_file_fuzz) from=boards ;; *) from=tests/fuzz/$target ;; esac
[ -d "$from" ] && seeds=("$from")  # tests/fuzz/make_seeds.py writes them
echo "fuzz: $target for $seconds s"
# 2 GB is the promise about memory; 25 s for one input is a hang.
exec "build/fuzz/$target" -max_total_time="$seconds" -rss_limit_mb=2048 -malloc_limit_mb=2048 -timeout=25 -max_len=65536 \
  -print_final_stats=1 -artifact_prefix="build/fuzz/crash/$target-" "$corpus" "${seeds[@]}"
