"""Measures models on Mete, ONNX Runtime, OpenVINO and ncnn in turn. run.sh is the way to start it."""
import argparse
import datetime
import itertools
import json
import os
import sys
import tempfile

kHere = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(kHere, "..", "common"))
import beside
import engines
import machine
import measure
import quantized
import report
import tensors
from networks import BadModel, kCompared, model_file, on_command
from output import kBadFile, kCancelled, kFailure, kSuccess, say, write_json
from protocol import WorkerFailed


def numbers(text):
    return [int(part) for part in text.split(",")]


def arguments():
    parser = argparse.ArgumentParser(prog="run.sh", description="Mete and its peers on the same models, in turn, on the same cores.",
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="Tables go to stdout (with --json -: the JSON alone), progress to stderr.\n"
                                            "Exit: 0 success, 1 a failure of Mete or outputs of its that differ, 2 usage,\n"
                                            "3 a model that Mete cannot load.")
    parser.add_argument("--threads", type=numbers, default=[1, 2], metavar="1,2", help="one table for each (default: 1,2)")
    parser.add_argument("--cores", type=numbers, metavar="0,1",
                        help="T threads run on the first T of these (default: this process's, last first)")
    parser.add_argument("--models", nargs="+", metavar="M", help=f"names of the zoo or .onnx files (default: {' '.join(kCompared)})")
    parser.add_argument("--quantized", nargs="+", choices=quantized.kForms, metavar="FORM",
                        help=f"8-bit files of the models instead, which ONNX Runtime's quantizer writes: {', '.join(quantized.kForms)}")
    parser.add_argument("--precision", choices=("f32", "bf16"), default="f32",
                        help="bf16: of Mete, OpenVINO and ncnn; ONNX Runtime has none on x86 and stays in f32 (default: f32)")
    parser.add_argument("--engines", nargs="+", choices=engines.kPeers, default=list(engines.kPeers), metavar="E",
                        help="peers (default: all)")
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=1x3x224x224", help="of an input that a file leaves open")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="turns of each engine (default: 15)")
    parser.add_argument("--starts", type=int, default=5, metavar="N", help="fresh processes for load and first answer (default: 5)")
    parser.add_argument("--json", metavar="FILE", help="everything measured, all thread counts; - for stdout")
    parser.add_argument("--markdown", action="store_true", help="tables in Markdown")
    parser.add_argument("--no-save", action="store_true", help="write nothing into the results folder")
    parser.add_argument("--results", default=os.path.join(kHere, "..", "results"), metavar="FOLDER",
                        help="for <date>-<cpu>-t<threads>.json")
    parser.add_argument("--mete", required=True, help=argparse.SUPPRESS)  # run.sh's
    parser.add_argument("--work", required=True, help=argparse.SUPPRESS)
    flags = parser.parse_args()
    allowed = sorted(os.sched_getaffinity(0), reverse=True)
    flags.cores = flags.cores or allowed
    if not set(flags.cores) <= set(allowed):
        parser.error(f"[--cores] some are not this process's; got {flags.cores}, expected some of {allowed[::-1]}")
    if min(flags.threads) < 1 or max(flags.threads) > len(flags.cores):
        parser.error(f"[--threads] needs a core for each thread; got {flags.threads}, expected 1 to {len(flags.cores)}")
    if flags.rounds < 1 or flags.starts < 1:
        parser.error("[--rounds, --starts] expected at least 1")
    return flags


def shape_words(flags):
    return [word for shape in flags.shape for word in ("--shape", shape)]


def commands(flags, prepared, threads, cache):
    """How to start each engine's worker, Mete first; it keeps what it measures of its kernels in the folder `cache`."""
    cores = ",".join(map(str, flags.cores[:threads]))
    words = ["--threads", str(threads), "--cores", cores, *prepared.input_words(), *shape_words(flags),
             *(("--precision", flags.precision) if flags.precision != "f32" else ())]
    started = {"mete": on_command(flags.mete, prepared.mete_path, cache, *words)}
    return {**started, **{name: prepared.command(name, threads, flags.precision) for name in flags.engines if prepared.can(name)}}


def measure_model(flags, model, form, threads, work):
    name, path = model_file(flags.mete, model, os.path.join(flags.work, "..", "models"))
    if form:
        path = quantized.quantized_file(path, form, os.path.join(flags.work, "..", "models", "quantized"))
        name = f"{name} {form}"
    prepared = engines.prepare(flags.mete, name, path, flags.engines, work, shape_words(flags))
    files = [path, *prepared.beside.mete_files, *((prepared.converted["param"], prepared.converted["bin"]) if prepared.converted else ())]
    started = commands(flags, prepared, threads, os.path.join(work, "cache"))
    result = measure.measure(started, set(flags.cores[:threads]), os.path.join(work, "outputs"),
                             tensors.difference, rounds=flags.rounds, starts=flags.starts, tolerance=prepared.beside.tolerance or tolerance(flags),
                             before_start=lambda: [read_whole(file) for file in files])
    result["failed"].update(prepared.reasons)
    result["failed"] = {engine: reason.replace(work, "") for engine, reason in result["failed"].items()}
    inputs = {port["name"]: {"type": port["type"], "shape": port["shape"]} for port in prepared.ports}
    return {"model": name, "inputs": inputs, **result}


def read_whole(path):
    """Brings a file into the system's cache, which may have dropped it since: else the first engine would read it for all."""
    with open(path, "rb") as file:
        while file.read(1 << 24):
            pass


def tolerance(flags):
    return engines.kByteTolerance if flags.quantized else engines.kHalfTolerance if flags.precision == "bf16" else engines.kTolerance


def measure_all(flags, threads):
    """The document for one number of threads."""
    document = {"date": datetime.date.today().isoformat(), "threads": threads, "cores": flags.cores[:threads], "rounds": flags.rounds,
                "starts": flags.starts, "tolerance": tolerance(flags), "precision": flags.precision, "machine": machine.describe(), "engines": ["mete", *flags.engines],
                "versions": {}, "results": []}
    document["machine"]["load_average_before"] = os.getloadavg()
    for model, form in itertools.product(flags.models or kCompared, flags.quantized or [None]):
        with tempfile.TemporaryDirectory(dir=flags.work) as work:
            try:
                result = measure_model(flags, model, form, threads, work)
            except (WorkerFailed, quantized.NotQuantized) as problem:  # the other models are still worth knowing
                result = {"model": f"{model} {form}" if form else model, "engines": {}, "failed": {"all": str(problem)}}
        document["results"].append(result)
        document["versions"].update({name: e["version"] for name, e in result["engines"].items()})
        best = report.ratio_to_best(result)
        ratio = f"mete / {best[1]} = {best[0]:.2f}" if best else "no peer to compare with"
        say(f"{threads} thread{'s' if threads > 1 else ''}, {result['model']}: {ratio}")
        document["machine"]["load_average_after"] = os.getloadavg()
        document["summary"] = report.summary(document["results"])
        if not flags.no_save:
            save(flags, document)  # after each model: an interrupt keeps what is measured
    return document


def save(flags, document):
    """One file a thread count; a choice of models does not replace the whole table."""
    os.makedirs(flags.results, exist_ok=True)
    part = ("-quantized" if flags.quantized else "") + (f"-{flags.precision}" if flags.precision != "f32" else "") + ("-some" if flags.models else "")
    name = f"{document['date']}-{machine.slug(document['machine']['cpu'])}-t{document['threads']}{part}.json"
    write_json(os.path.join(flags.results, name), document)


def main():
    flags = arguments()
    documents = []
    try:
        for threads in flags.threads:
            documents.append(measure_all(flags, threads))
            if flags.json != "-":
                print(report.report(documents[-1], flags.markdown) + "\n", flush=True)
        if flags.json:
            write_json(flags.json, documents)
    except (BadModel, beside.BadTable) as problem:
        say(problem)
        return kBadFile
    except OSError as problem:
        say(f"[compare] {problem}")
        return kFailure
    return kSuccess if all(report.ours_is_sound(r) for d in documents for r in d["results"]) else kFailure


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(kCancelled)
