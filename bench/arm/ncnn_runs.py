"""Runs a converted model on ncnn, under the emulator: ncnn_runs.py JSON RUNS."""
import json
import sys

import engine_ncnn

config = json.loads(sys.argv[1])
engine = engine_ncnn.Engine(config)
engine.load(config)
for _ in range(int(sys.argv[2])):
    engine.run()
