#!/usr/bin/env python3
"""Every model's outputs beside ONNX Runtime's, on the same seeded random inputs.

Models: the trained ones, the light ones with weights of 0.02 and with random weights, Caffe networks (against ONNX Runtime on
their ONNX twins), the zoo, and small ones of control flow and of com.microsoft's operators, which ONNX Runtime may lack on this processor. Largest |a-b| over the output's largest |b| is at most kTolerance. Networks with QuantizeLinear have
ONNX Runtime's sums (--onnxruntime-sums); accuracy.py shows how often sums of integers give another class.
Needs numpy, onnx and onnxruntime: against_onnxruntime.sh makes the virtual environment and calls this.
"""
import multiprocessing
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

import control_flow_models
import in_doubles
import microsoft_models
import support

kTolerance = 1e-4
kTypes = {1: np.float32, 2: np.uint8, 3: np.int8, 6: np.int32, 7: np.int64, 9: np.bool_, 11: np.float64}
kSizes = {"length": 19, "T": 11, "H": 31, "W": 24}  # of dimensions that a file leaves open; the others: kBatch
kBatch = 2
kIntegers = 64  # integers are indices of tokens: below this


def onnx_ports(model):
    constants = {i.name for i in model.graph.initializer}
    return [i for i in model.graph.input if i.name not in constants]


def random_inputs(model, seed):
    rng = np.random.default_rng(seed)
    inputs = {}
    for port in onnx_ports(model):
        tensor = port.type.tensor_type
        shape = [d.dim_value if d.HasField("dim_value") and d.dim_value > 0 else kSizes.get(d.dim_param, kBatch) for d in tensor.shape.dim]
        kind = kTypes[tensor.elem_type]
        real = np.issubdtype(kind, np.floating)
        inputs[port.name] = rng.standard_normal(shape).astype(kind) if real else rng.integers(0, 2 if kind == np.bool_ else kIntegers, shape).astype(kind)
    return inputs


def onnxruntime_outputs(path, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))


def in_a_process(function, *arguments):
    """What the function returns in a process of its own: a crash in it, as ONNX Runtime has on some processors, is an error here."""
    processes = multiprocessing.get_context("fork")
    here, there = processes.Pipe(duplex=False)

    def work():
        try:
            there.send((function(*arguments), None))
        except Exception as error:  # ONNX Runtime's have no common type
            there.send((None, str(error)))

    process = processes.Process(target=work)
    process.start()
    there.close()
    try:
        result, problem = here.recv()
    except EOFError:
        result, problem = None, "its process crashed"
    process.join()
    if problem is not None:
        raise RuntimeError(problem)
    return result


def mete_outputs(flags, path, inputs, work):
    files, words = {}, ["--onnxruntime-sums"]
    for i, (name, value) in enumerate(inputs.items()):
        files[name] = work / f"in{i}.npy"
        np.save(files[name], value)
        if value.ndim:  # a scalar's shape cannot be written, and need not be
            words += ["--shape", f"{name}={'x'.join(map(str, value.shape))}"]
    return {name: np.load(file) for name, file in support.run_tensors(flags, path, files, work / "out", *words).items()}


def relative_to(values, exact):
    """The largest difference as a share of the largest value."""
    return float(np.max(np.abs(values.astype(np.float64) - exact)) / np.max(np.abs(exact)))


def compare(table, name, output, ours, theirs):
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        table.row(False, name, output, f"{ours.dtype}{ours.shape}", f"{theirs.dtype}{theirs.shape}")
        return
    if not np.issubdtype(ours.dtype, np.floating):
        same = np.mean(ours == theirs) if ours.size else 1.0
        step = np.max(np.abs(ours.astype(np.int64) - theirs.astype(np.int64)), initial=0)
        table.row(step <= 1, name, output, f"{step}", f"{100 * same:.1f}% ==")
        return
    most = float(np.max(np.abs(ours.astype(np.float64) - theirs.astype(np.float64)), initial=0))
    scale = float(np.max(np.abs(theirs), initial=0))
    relative = most / scale if scale > 0 else most
    table.row(relative <= kTolerance, name, output, most, relative)  # a NaN is not <=


def with_heads_before_sigmoids(model):
    """Whether an output is a Sigmoid's; such outputs of `model` become the Sigmoid's input. |sigmoid(a) - sigmoid(b)| may be |a - b| / 4 while no sigmoid exceeds 1,
    so that relative to the largest output an error grows by a quarter of the largest |a|: with random weights a detector's heads reach some hundreds, and rounding
    of 2e-6 in them is 2e-4 of its sigmoids. Kernels of Sigmoid have tests of their own."""
    makers = {name: node for node in model.graph.node for name in node.output}
    changed = False
    for output in model.graph.output:
        maker = makers.get(output.name)
        if maker is not None and maker.op_type == "Sigmoid":
            output.name = maker.input[0]
            changed = True
    return changed


def check(flags, table, path, twin, seed, work):
    """`twin`: the ONNX file that ONNX Runtime gets; the same file, or that of a Caffe network."""
    name = path.name
    try:
        model = onnx.load(twin)
        if path == twin and with_heads_before_sigmoids(model):
            path = twin = work / "heads.onnx"
            onnx.save(model, path)
        inputs = random_inputs(model, seed)
        ours, theirs = mete_outputs(flags, path, inputs, work), onnxruntime_outputs(twin, inputs)
    except RuntimeError as error:
        print(error)
        table.row(False, name, "-", "-", "-")
        return
    for output in theirs:
        if output in ours:
            compare(table, name, output, ours[output], theirs[output])
        else:
            table.row(False, name, output, "missing", "-")
    if flags.doubles:
        exact = in_doubles.outputs_in_doubles(model, inputs)
        for who, values in (("Mete", ours), ("ONNX Runtime", theirs)):
            print(f"{name}: {who} and doubles:", ", ".join(f"{output} {relative_to(values[output], exact[output]):.3g}" for output in exact))


def check_made(cases, flags, table, work):
    for name, model, inputs in cases(flags.seed):
        if flags.only not in name:
            continue
        path = work / "made.onnx"
        onnx.save(model, path)
        try:
            theirs = in_a_process(onnxruntime_outputs, path, inputs)
        except RuntimeError as error:
            print(f"{name}: ONNX Runtime: {str(error)[:120]}")
            continue
        try:
            ours = mete_outputs(flags, path, inputs, work)
        except RuntimeError as error:
            print(error)
            table.row(False, name, "-", "-", "-")
            continue
        for output in theirs:
            compare(table, name, output, ours[output], theirs[output])


def satisfies_checker(path):
    try:
        onnx.checker.check_model(str(path), full_check=True)
        return True
    except onnx.checker.ValidationError:  # where the shape of an output is not known
        return False


def check_written(flags, table, work):
    """Control flow in files that Mete writes: each model with a product beside it, which `mete quantize` makes one of bytes. The other outputs are those of before."""
    for name, model, inputs in control_flow_models.cases(flags.seed):
        if flags.only not in name:
            continue
        wide, written = work / "wide.onnx", work / "written.onnx"
        names = [output.name for output in model.graph.output]
        onnx.save(control_flow_models.with_product(model), wide)
        inputs = {**inputs, control_flow_models.kBeside: np.ones((1, 64), np.float32)}
        theirs = onnxruntime_outputs(wide, inputs)
        try:
            support.mete_json(flags, "quantize", wide, "--activations", "dynamic", "--output", written)
            if satisfies_checker(wide):
                onnx.checker.check_model(str(written), full_check=True)
            ours = onnxruntime_outputs(written, inputs)
        except Exception as error:  # those of three programs have no common type
            print(error)
            table.row(False, name, "-", "-", "-")
            continue
        for output in names:
            if ours[output].size == theirs[output].size == 0:  # a Loop without runs: its shape is that of the body's declaration, which a graph does not keep
                continue
            compare(table, f"written: {name}", output, ours[output], theirs[output])


def trained(folder, work):
    for path in sorted((folder / "models").glob("*.onnx")):
        yield path, path


def caffe(folder, work):
    for path in sorted((folder / "models").glob("*.prototxt")):
        yield path, path.with_suffix(".onnx")


def light(folder, work):
    for path in sorted((folder / "onnx-light").glob("*.onnx")):
        yield path, path


def light_random(folder, work):
    for path in sorted((folder / "onnx-light").glob("*.onnx")):
        made = work / path.name.replace("light_", "random_")
        subprocess.run([sys.executable, folder / "tools" / "randomize_light.py", path, made, "1"], check=True, stdout=subprocess.DEVNULL)
        yield made, made
        made.unlink()


def zoo(flags):
    def paths(folder, work):
        for network in support.mete_json(flags, "zoo", "list")["networks"]:
            path = work / f"{network['name']}.onnx"
            support.mete_json(flags, "zoo", "make", network["name"], "--output", path)
            yield path, path
            path.unlink()
    return paths


def main():
    parser = support.arguments(__doc__)
    made = {"control-flow": control_flow_models.cases, "microsoft": microsoft_models.cases}
    groups = [*made, "written", "trained", "caffe", "light", "light-random", "zoo"]
    parser.add_argument("--group", action="append", choices=groups, help="only these models; may be repeated")
    parser.add_argument("--only", default="", metavar="TEXT", help="only models with TEXT in their names")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--doubles", action="store_true", help="print how far both are from the same model in doubles, too; slow, and for operators in floats")
    flags = parser.parse_args()
    makers = {"trained": trained, "caffe": caffe, "light": light, "light-random": light_random, "zoo": zoo(flags)}
    chosen = flags.group or groups
    print(f"onnxruntime {onnxruntime.__version__}, onnx {onnx.__version__}, numpy {np.__version__}; seed {flags.seed}")
    table = support.Table(("model", 39), ("output", 20), ("max abs", 8), ("max rel", 8))
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        for group in made:
            if group in chosen:
                check_made(made[group], flags, table, work)
        if "written" in chosen:
            check_written(flags, table, work)
        others = [group for group in chosen if group in makers]
        folder = support.shared_folder(flags) if others else None
        for group in others:
            for path, twin in makers[group](folder, work):
                if flags.only in path.name:
                    check(flags, table, path, twin, flags.seed, work)
    return table.finish()


if __name__ == "__main__":
    sys.exit(main())
