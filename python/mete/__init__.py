"""Mete: inference of neural networks on processors of unequal speed.

    import mete

    session = mete.InferenceSession("net.onnx")      # as ONNX Runtime's, or
    session = mete.Session(mete.Model.load("net.onnx"))
    outputs = session.run([array])

A script for ONNX Runtime runs with `import mete as ort`. `python -m mete` is the command line.
"""
import importlib.util as _util

if _util.find_spec("mete._mete") is None:  # mete.serve_process and mete.ray start the program, and need no engine

    def __getattr__(name):
        raise AttributeError(f"[mete] this installation has no engine; got no mete._mete, which '{name}' needs; try pip install of the wheel that make wheel builds")

else:
    from mete._mete import (CancelToken, Model, PictureAnswer, Plan, Pool, PoolPlan, Port, PortScale, Preprocess, Session, Trace,
                            TraceEvent, __version__, decode_answer, draw_answer, load_image, make_input, pass_names, png)
    from mete.bindings import IOBinding, OrtValue
    from mete.errors import (Cancelled, DataLoss, DeadlineExceeded, Error, FailedPrecondition, Internal, InvalidArgument, NotFound,
                             OutOfRange, ResourceExhausted, Unavailable, Unimplemented)
    from mete.inference_session import (ExecutionMode, GraphOptimizationLevel, InferenceSession, ModelMetadata, NodeArg, RunOptions,
                                        SessionOptions, get_all_providers, get_available_providers, get_device,
                                        set_default_logger_severity)

__all__ = [
    "CancelToken", "Cancelled", "DataLoss", "DeadlineExceeded", "Error", "ExecutionMode", "FailedPrecondition", "GraphOptimizationLevel",
    "IOBinding", "InferenceSession", "Internal", "InvalidArgument", "Model", "ModelMetadata", "NodeArg", "NotFound", "OrtValue", "OutOfRange",
    "PictureAnswer", "Plan", "Pool", "PoolPlan", "Port", "PortScale", "Preprocess", "ResourceExhausted", "RunOptions", "Session",
    "SessionOptions", "Trace", "TraceEvent", "Unavailable", "Unimplemented", "__version__", "decode_answer", "draw_answer",
    "get_all_providers", "get_available_providers", "get_device", "load_image", "make_input", "pass_names", "png",
    "set_default_logger_severity",
]
