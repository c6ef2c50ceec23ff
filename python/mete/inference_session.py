"""A session with the names of ONNX Runtime's Python API, so that its scripts run with `import mete as ort`.

What a script sets here either has its meaning, or is named in SessionOptions as without one in Mete; anything else is an error.
"""
import concurrent.futures
import enum
import json
import os
import sys
import time
import warnings

import numpy

from mete._mete import CancelToken, Model, Pool, Session, Trace
from mete.errors import InvalidArgument

PROVIDERS = ["CPUExecutionProvider"]

# ONNX Runtime's names of element types.
_TENSOR_NAMES = {
    "f32": "float", "f64": "double", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16",
    "i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64", "bool": "bool", "f8e4m3fn": "float8e4m3fn",
    "f8e4m3fnuz": "float8e4m3fnuz", "f8e5m2": "float8e5m2", "f8e5m2fnuz": "float8e5m2fnuz", "f8e8m0": "float8e8m0",
    "f4e2m1": "float4e2m1", "i4": "int4", "u4": "uint4", "i2": "int2", "u2": "uint2",
}
_NUMPY_NAMES = {"float": "float32", "double": "float64"}  # of those that NumPy names otherwise


def _numpy_name(kind):
    name = _TENSOR_NAMES.get(kind, kind)
    return _NUMPY_NAMES.get(name, name)


def tensor_name(dtype):
    """ONNX Runtime's name of an array's type: "tensor(float)"."""
    other = {theirs: ours for ours, theirs in _NUMPY_NAMES.items()}
    return f"tensor({other.get(dtype.name, dtype.name.replace('_', ''))})"


def get_available_providers():
    """The names of ONNX Runtime's providers of which Mete has the place."""
    return list(PROVIDERS)


get_all_providers = get_available_providers


def get_device():
    """"CPU": the place of inputs and outputs."""
    return "CPU"


def set_default_logger_severity(severity):
    """Has no effect: Mete writes no log of itself, but raises errors and has notes (Session.notes)."""
    del severity


def _entry(entries, key):
    if key not in entries:
        raise InvalidArgument(f"[{key}] is no config entry; got none of this name, expected one that was added")
    return entries[key]


class GraphOptimizationLevel(enum.IntEnum):
    """ORT_DISABLE_ALL leaves out all passes but constant folding; the other levels are one in Mete."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """One in Mete, whose threads share each node."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class SessionOptions:
    """The options of an InferenceSession.

    intra_op_num_threads: threads; 0: one for each core that this process may use
    graph_optimization_level: a GraphOptimizationLevel
    enable_profiling: each run is traced; InferenceSession.end_profiling() writes a timeline for Perfetto
    profile_file_prefix: the beginning of that file's name
    use_deterministic_compute: True: kernels are measured before the first run, and a pool keeps its plan, so that all runs have the same bits
    cores, precision, tune, pool: Mete's own, as in mete.Session and mete.Model.load(); `pool` is a mete.Pool, whose processors have their
        threads and cores, and whose runs have no trace

    Without a meaning in Mete, and so without an effect: inter_op_num_threads, execution_mode, execution_order, enable_mem_pattern,
    enable_mem_reuse, enable_cpu_mem_arena, log_severity_level, log_verbosity_level, logid, and config entries.
    """

    __slots__ = ("intra_op_num_threads", "graph_optimization_level", "enable_profiling", "profile_file_prefix", "use_deterministic_compute",
                 "cores", "precision", "tune", "pool", "inter_op_num_threads", "execution_mode", "execution_order", "enable_mem_pattern",
                 "enable_mem_reuse", "enable_cpu_mem_arena", "log_severity_level", "log_verbosity_level", "logid", "_entries",
                 "_free_dimensions")

    def __init__(self):
        self.intra_op_num_threads = 0
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.enable_profiling = False
        self.profile_file_prefix = "mete_profile_"
        self.use_deterministic_compute = False
        self.cores = []
        self.precision = "f32"
        self.tune = "after"
        self.pool = None
        self.inter_op_num_threads = 0
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.execution_order = None
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.enable_cpu_mem_arena = True
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self._entries = {}
        self._free_dimensions = {}

    def add_free_dimension_override_by_name(self, name, size):
        """Give an open dimension of this name a size."""
        self._free_dimensions[name] = [size]

    def add_session_config_entry(self, key, value):
        """Keep an entry for get_session_config_entry(); it has no effect."""
        self._entries[key] = value

    def get_session_config_entry(self, key):
        return _entry(self._entries, key)


class RunOptions:
    """The options of a run. terminate = True, from any thread, ends the runs that have these options.

    deadline_s: Mete's own: seconds after which a run ends

    Without a meaning in Mete, and so without an effect: log_severity_level, log_verbosity_level, logid, only_execute_path_to_fetches, and
    config entries.
    """

    __slots__ = ("_cancel", "deadline_s", "log_severity_level", "log_verbosity_level", "logid", "only_execute_path_to_fetches", "_entries")

    def __init__(self):
        self._cancel = CancelToken()
        self.deadline_s = None
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False
        self._entries = {}

    @property
    def terminate(self):
        return self._cancel.cancelled

    @terminate.setter
    def terminate(self, value):
        if value:
            self._cancel.cancel()
        else:
            self._cancel = CancelToken()

    def add_run_config_entry(self, key, value):
        """Keep an entry for get_run_config_entry(); it has no effect."""
        self._entries[key] = value

    def get_run_config_entry(self, key):
        return _entry(self._entries, key)


class NodeArg:
    """An input or an output: name, type ("tensor(float)") and shape.

    The shape of an input has the file's names, or None, for open dimensions; that of an output is the one for which the model was loaded.
    """

    __slots__ = ("name", "type", "shape")

    def __init__(self, port):
        self.name = port.name
        self.type = f"tensor({_TENSOR_NAMES.get(port.type, port.type)})"
        sizes = port.declared if port.declared is not None else port.shape
        names = list(port.dims) + [""] * len(sizes or [])
        self.shape = [name or None if size is None else size for size, name in zip(sizes or [], names)]

    def __repr__(self):
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"

    __str__ = __repr__


class ModelMetadata:
    """What the file says about itself."""

    __slots__ = ("producer_name", "graph_name", "domain", "version", "description", "graph_description", "custom_metadata_map")

    def __init__(self, model):
        file = model.file
        self.producer_name = file["producer"]
        self.graph_name = model.name
        self.domain = file["domain"]
        self.version = file["version"]
        self.description = file["description"]
        self.graph_description = file["graph_description"]
        self.custom_metadata_map = file["custom"]


def _known_providers(providers):
    """Those of the names (or (name, options) pairs) that Mete has; a warning names the others, as in ONNX Runtime."""
    names = [p if isinstance(p, str) else p[0] for p in providers or PROVIDERS]
    for name in names:
        if name not in PROVIDERS:
            warnings.warn(f"provider '{name}' is none of Mete's; available providers: {', '.join(PROVIDERS)}", stacklevel=3)
    return [name for name in names if name in PROVIDERS] or list(PROVIDERS)


def _load(source, options):
    arguments = {
        "optimize": options.graph_optimization_level != GraphOptimizationLevel.ORT_DISABLE_ALL,
        "precision": options.precision,
        "input_shapes": options._free_dimensions,
    }
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Model.load_bytes(bytes(source), **arguments)
    if isinstance(source, (str, os.PathLike)):
        return Model.load(source, **arguments)
    raise TypeError(f"[InferenceSession] cannot load a model; got {type(source).__name__}, expected a path, or the bytes of a file")


def _session(model, options):
    tune = "before" if options.use_deterministic_compute else options.tune
    if options.pool is None:
        return Session(model, threads=options.intra_op_num_threads, cores=options.cores, tune=tune)
    for name, value in (("intra_op_num_threads", options.intra_op_num_threads), ("cores", options.cores), ("enable_profiling", options.enable_profiling)):
        if value:
            raise InvalidArgument(f"[{name}] has no meaning for a session on a pool; got {value} beside a pool, expected one of the two")
    return Session(model, options.pool, tune=tune, keep_plan=options.use_deterministic_compute)


class InferenceSession:
    """A model that is prepared to run.

    path_or_bytes: an ONNX, TensorFlow Lite or Caffe file, or the bytes of one
    sess_options: a SessionOptions
    providers: names of ONNX Runtime's providers; of those, Mete has the place of CPUExecutionProvider, whose options have no effect
    """

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **kwargs):
        del provider_options
        if kwargs:
            raise TypeError(f"[InferenceSession] has no argument of this name; got {', '.join(map(repr, kwargs))}, expected those of help(InferenceSession)")
        options = sess_options or SessionOptions()
        self._options = options
        self._providers = _known_providers(providers)
        self._model = _load(path_or_bytes, options)
        self._session = _session(self._model, options)
        self._inputs = [NodeArg(port) for port in self._model.inputs]
        self._outputs = [NodeArg(port) for port in self._model.outputs]
        self._types = {port.name: _numpy_name(port.type) for port in self._model.inputs}
        self._traces = []
        self._started_ns = time.time_ns()
        self._executor = concurrent.futures.ThreadPoolExecutor(1)  # which has no thread before run_async()

    def run(self, output_names, input_feed, run_options=None):
        """Return a list of the outputs that are named, of all for None, as NumPy arrays.

        input_feed: a dict of arrays by the names of the inputs; dense arrays are not copied
        """
        feed = self._arrays(input_feed)
        if run_options is None and not self._options.enable_profiling:
            return self._session.run(feed, output_names)
        return self._traced(self._session.run, feed, output_names, run_options)

    def _arrays(self, feed):
        """The feed, with arrays in the place of lists of numbers."""
        if not any(isinstance(value, list) for value in feed.values()):
            return feed
        return {name: numpy.array(value, self._types.get(name)) if isinstance(value, list) else value for name, value in feed.items()}

    def _traced(self, run, inputs, outputs, run_options):
        """A run of the session with options of a run, and with its trace where runs are profiled."""
        trace = Trace() if self._options.enable_profiling else None
        cancel, deadline_s = (None, None) if run_options is None else (run_options._cancel, run_options.deadline_s)
        answer = run(inputs, outputs, trace=trace, cancel=cancel, deadline_s=deadline_s)
        if trace is not None:
            self._session.count_activations(trace)
            self._traces.append(trace)
        return answer

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        """Begin a run and return; `callback(outputs, user_data, error)` is called from another thread, `error` is "" or a text."""
        def compute():
            try:
                outputs, said = self.run(output_names, input_feed, run_options), ""
            except Exception as error:  # whatever it is, the callback gets it
                outputs, said = [], str(error)
            try:
                callback(outputs, user_data, said)
            except Exception:  # nobody waits for this thread
                sys.excepthook(*sys.exc_info())

        self._executor.submit(compute)

    def run_with_iobinding(self, iobinding, run_options=None):
        """Run with what an IOBinding has bound."""
        iobinding._run(self, run_options)

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        """As run(), with values of OrtValue."""
        from mete.bindings import OrtValue

        feed = {name: value._array for name, value in input_dict_ort_values.items()}
        return [OrtValue(array) for array in self.run(output_names, feed, run_options)]

    def io_binding(self):
        from mete.bindings import IOBinding

        return IOBinding(self)

    def get_inputs(self):
        """A list of NodeArg."""
        return self._inputs

    def get_outputs(self):
        """A list of NodeArg."""
        return self._outputs

    def get_overridable_initializers(self):
        """[]: Mete folds constants when it loads a model."""
        return []

    def get_modelmeta(self):
        return ModelMetadata(self._model)

    def get_providers(self):
        return list(self._providers)

    def set_providers(self, providers=None, provider_options=None):
        del provider_options
        self._providers = _known_providers(providers)

    def get_session_options(self):
        return self._options

    def get_provider_options(self):
        return {name: {} for name in self._providers}

    def get_profiling_start_time_ns(self):
        return self._started_ns

    def end_profiling(self):
        """Write the timelines of all runs since the last call to a file, and return its name."""
        if not self._options.enable_profiling:
            raise InvalidArgument("[end_profiling] no run was traced; got enable_profiling = False, expected True in SessionOptions")
        traces, self._traces = self._traces, []
        path = f"{self._options.profile_file_prefix}{time.strftime('%Y-%m-%d_%H-%M-%S')}.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(_joined(traces), file)
        return path

    @property
    def session(self):
        """The mete.Session, with explain(), plan, stats and notes."""
        return self._session


def _joined(traces):
    """The timelines of several runs, one after the other, as one."""
    events, start_us = [], 0.0
    for trace in traces:
        for event in json.loads(trace.chrome_json())["traceEvents"]:
            if "ts" in event:
                event["ts"] += start_us
            elif start_us > 0:
                continue  # the names of processes and threads once
            events.append(event)
        start_us += trace.total_ms * 1e3
    return {"traceEvents": events}
