"""Prints the inputs of an ONNX file as JSON, open dimensions as 1: ports.py MODEL.onnx"""
import json
import sys

import onnxruntime

session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
print(json.dumps([{"name": i.name, "shape": [d if isinstance(d, int) else 1 for d in i.shape], "type": {"tensor(float)": "f32"}[i.type]}
                  for i in session.get_inputs()]))
