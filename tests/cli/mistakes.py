"""A hundred things that people get wrong at the command line, and what each message must say. Standard library only.

A row is a command line, its exit code, the words by which the message names the file, flag or argument that is wrong, and the words of the
remedy. {names} stand for files that `make_files` writes. By hand, to read all messages:

    python3 tests/cli/mistakes_test.py --mete build/release/mete --show
"""
from cli_testing import BAD_FILE, BOARDS, FAILURE, OK, UNSUPPORTED, USAGE, mete, npy, png
from onnx_files import channel_means, kInt64, mask, message, model, number, value_info

COMMANDS = [
    ("", USAGE, ["command"], "try 'mete --help'"),
    ("bnch {net}", USAGE, ["bnch"], "try 'mete bench'"),
    ("simulat --help", USAGE, ["simulat"], "try 'mete simulate'"),
    ("{net}", USAGE, ["net.onnx"], "try 'mete run {net}'"),
    ("run", USAGE, ["MODEL"], "expected 'mete run MODEL"),
    ("--threads 2 bench {net}", USAGE, ["--threads"], "behind"),
    ("bench {net} --thread 2", USAGE, ["--thread"], "try --threads"),
    ("bench {net} -t 2", USAGE, ["-t"], "try 'mete bench --help'"),
    ("bench {net} {other}", USAGE, ["other.onnx"], "expected 'mete bench MODEL'"),
    ("bench {net} --labels {labels}", USAGE, ["--labels"], "'mete run' has it"),
    ("zoo", USAGE, ["zoo"], "expected one of list, make"),
    ("zoo mak resnet50", USAGE, ["mak"], "try 'mete zoo make'"),
    ("zoo make resnet5", USAGE, ["resnet5"], "try resnet50"),
    ("help bnch", USAGE, ["bnch"], "try bench"),
    ("completion powershell", USAGE, ["SHELL", "powershell"], "expected one of bash"),
    ("bench {net} --threads", USAGE, ["--threads"], "expected --threads N"),
    ("bench {net} --threads two", USAGE, ["--threads", "two"], "expected 0 to 1024"),
    ("bench {net} --threads 5000", USAGE, ["--threads", "5000"], "expected 0 to 1024"),
    ("keys make {folder}/keys", USAGE, ["NAME"], "expected 'mete keys make FOLDER NAME'"),
    ("compare {network} --threads 1", USAGE, [".prototxt"], "try 'mete bench'"),
]

MODELS = [
    ("run {net}x", BAD_FILE, ["net.onnxx"], "try {net}"),
    ("run {missing}.onnx", BAD_FILE, ["missing.onnx"], "try the file's whole path"),
    ("run {folder}", BAD_FILE, ["a_folder"], "expected"),
    ("run {empty}", BAD_FILE, ["empty.onnx"], "empty"),
    ("run {html}", BAD_FILE, ["page.onnx", "HTML"], "try"),
    ("run {pointer}", BAD_FILE, ["pointer.onnx", "Git LFS"], "try 'git lfs pull'"),
    ("run {half}", BAD_FILE, ["half.onnx"], "truncated"),
    ("run {picture} {net}", BAD_FILE, ["picture.png", "PNG"], "try the model first: mete run MODEL IMAGE"),
    ("run {torch}", BAD_FILE, ["net.pt"], "torch.onnx.export"),
    ("run {tflite}", BAD_FILE, ["net.tflite", "truncated"], "expected a whole .tflite"),
    ("run {renamed}", BAD_FILE, ["renamed.onnx", "TensorFlow Lite"], "try a name that ends in .tflite"),
    ("run {caffemodel}", USAGE, ["net.caffemodel"], "net.prototxt"),
    ("run {lonely}", BAD_FILE, ["lonely.caffemodel"], "try --weights"),
    ("run {net} --weights {caffemodel}", USAGE, ["--weights"], "expected a .prototxt"),
    ("run {network} --weights {net}", BAD_FILE, ["net.onnx"], "expected"),
    ("inspect {foreign}", UNSUPPORTED, ["com.microsoft.LongformerAttention"], "try"),
    ("inspect {future}", BAD_FILE, ["future.onnx", "opset"], "try to export the model with an older one"),
    ("inspect {net} --disable-pass fold-batchnrm", USAGE, ["--disable-pass", "fold-batchnrm"], "try fold-batchnorm"),
]

SHAPES = [
    ("bench {net} --shape banana", USAGE, ["--shape", "banana"], "expected up to 8 sizes like 1x3x224x224"),
    ("bench {net} --shape image=1x3x-1x8", USAGE, ["--shape", "1x3x-1x8"], "expected up to 8 sizes"),
    ("bench {net} --shape picture=1x3x8x8", USAGE, ["picture"], "expected one of"),
    ("bench {fixed} --shape 1x3x9x9", USAGE, ["1x3x9x9"], "try without --shape"),
    ("bench {net} --shape image=1x3", USAGE, ["image", "1x3"], "expected Nx3x8x8; try these sizes"),
    ("bench {net} --shape N=", USAGE, ["--shape", "N="], "expected NAME=VALUE"),
    ("bench {net} --shape N=2 --shape N=3", USAGE, ["--shape", "'N'"], "expected it once"),
    ("bench {net} --shape image=99999999999x3x8x8", USAGE, ["image"], "try a smaller --shape"),
]

TENSORS = [
    ("run {net}", USAGE, ["image"], "try a picture, or --input image=FILE.npy"),
    ("run {net} --input image={missing}.npy", BAD_FILE, ["missing.npy"], "try the file's whole path"),
    ("run {net} --input imag={array}", USAGE, ["--input", "imag"], "expected one of 'image'"),
    ("run {net} --input {array} --input {array}", USAGE, ["--input"], "expected it once"),
    ("run {net} --input {picture}", USAGE, ["--input", "picture.png"], "try a picture without --input"),
    ("run {net} --input {npz}", USAGE, ["arrays.npz"], "expected .npy, .pb or .bin"),
    ("run {net} --input {wrong_shape}", BAD_FILE, ["wrong_shape.npy", "1x3x9x9"], "expected ?x3x8x8"),
    ("run {net} --input {bytes}", BAD_FILE, ["bytes.npy", "u8"], "expected f32; try numpy's astype()"),
    ("run {net} --input {fortran}", UNSUPPORTED, ["fortran.npy"], "try numpy.ascontiguousarray()"),
    ("run {net} --input {objects}", UNSUPPORTED, ["objects.npy"], "expected"),
    ("run {net} --input {cut}", BAD_FILE, ["cut.npy"], "expected"),
    ("run {net} --input {raw}", BAD_FILE, ["raw.bin", "12"], "expected 768"),
    ("run {net} {picture} --input {array}", USAGE, ["--input"], "try without pictures"),
    ("run {tokens} {picture}", USAGE, ["IMAGE", "'tokens'"], "try --input tokens=FILE.npy"),
    ("run {tokens} --input {text}", USAGE, ["--input", "labels.txt"], "expected .npy, .pb or .bin"),
]

PICTURES = [
    ("run {net} {missing}.jpg", BAD_FILE, ["missing.jpg"], "try the file's whole path"),
    ("run {net} {folder}", BAD_FILE, ["a_folder"], "expected"),
    ("run {net} {broken}", BAD_FILE, ["broken.png"], "truncated"),
    ("run {net} {webp}", BAD_FILE, ["photo.webp", "WebP"], "expected JPEG, PNG, BMP, PGM or PPM; try a copy as PNG"),
    ("run {net} {heic}", BAD_FILE, ["photo.heic", "HEIC"], "try a copy as PNG"),
    ("run {net} {gif}", BAD_FILE, ["photo.gif", "GIF"], "try a copy as PNG"),
    ("run {net} {labels}", BAD_FILE, ["labels.txt"], "expected JPEG, PNG, BMP, PGM or PPM"),
    ("run {net} {array}", BAD_FILE, ["array.npy", "NumPy"], "try --input"),
    ("run {net} {picture} --crop banana", USAGE, ["--crop", "banana"], "expected"),
    ("run {net} {picture} --crop 500", BAD_FILE, ["picture.png", "got 500x500, expected 1x1 to 16x16"], "try a larger resize_shorter before, or a smaller crop"),
    ("run {net} {picture} --scale 0", USAGE, ["--scale", "0"], "expected"),
    ("run {net} {picture} --std 0", USAGE, ["--std", "0"], "expected"),
    ("run {net} {picture} --mean a,b,c", USAGE, ["--mean", "a,b,c"], "expected"),
    ("run {net} {picture} --mean 1,2", USAGE, ["--mean", "1,2"], "expected"),
    ("run {net} {picture} --channels grb", USAGE, ["--channels", "grb"], "expected one of rgb, bgr, gray"),
    ("run {net} {picture} --channels gray", USAGE, ["--channels"], "try --channels rgb"),
    ("run {net} {picture} --layout nhwc", USAGE, ["--layout"], "try without --layout"),
    ("run {net} {picture} --type u8", USAGE, ["--type"], "try without --type"),
    ("run {net} {picture} --resize 9", USAGE, ["--resize", "9x9"], "try --resize 8x8"),
    ("run {net} {picture} --interpolation linear", USAGE, ["--interpolation", "linear"], "bilinear"),
    ("run {net} {picture} --preprocess imagenet", USAGE, ["--preprocess", "imagenet"], "try imagenet-torch"),
    ("run {net} {picture} --preprocess {missing}.toml", BAD_FILE, ["missing.toml"], "try the file's whole path"),
    ("run {net} {picture} --preprocess {bad_key}", BAD_FILE, ["bad_key.toml", "men"], "try mean"),
    ("run {net} {picture} --preprocess {bad_toml}", BAD_FILE, ["bad_toml.toml:1:14"], "while parsing array"),
    ("run {net} {picture} --scale 2 --std 3", USAGE, ["--scale", "--std"], "expected one of them"),
    ("run {net} {picture} --preprocess {labels_toml}", BAD_FILE, ["labels in", "labels.toml", "nowhere.txt"], "try the file's whole path"),
    ("run {net} {picture} --preprocess {resize_toml}", BAD_FILE, ["[resize in", "resize.toml", "9x9"], "try resize 8x8"),
    ("run {net} {picture} --preprocess {resize_toml} --resize 7", USAGE, ["[--resize]", "7x7"], "try --resize 8x8"),
    ("run {net} {picture} --preprocess {classify_toml}", BAD_FILE, ["[classify in", "classify.toml", "logits"], "expected one of 'scores'"),
    ("run {net} {picture} --preprocess raw --pad 3", OK, ["--pad"], "without --letterbox"),
    ("run {net} {picture} --crop-fraction 2", USAGE, ["--crop-fraction", "2"], "expected"),
    ("run {net} {picture} --crop-fraction 0.5 --crop 8", USAGE, ["--crop-fraction", "--crop"], "expected one of them"),
    ("run {net} {picture} --top-k 0", USAGE, ["--top-k", "0"], "expected"),
    ("run {net} {picture} --top 3", USAGE, ["--top"], "try --top-k"),
    ("run {net} {picture} --labels {missing}.txt", BAD_FILE, ["--labels", "missing.txt"], "try the file's whole path"),
    ("run {net} {picture} --preprocess raw --labels {short_labels}", OK, ["short_labels.txt", "2 names for 3 classes"], "try --labels with a line for each class"),
    ("run {net} {picture}", OK, ["'image'"], "try --preprocess"),
    ("run {net} {picture} --classify logits", USAGE, ["--classify", "logits"], "expected one of 'scores'"),
    ("run {mask} {picture} --classify mask", USAGE, ["--classify", "mask"], "try without --classify"),
    ("run {pair} {picture}", USAGE, ["IMAGE", "2 pictures"], "expected a multiple of 2"),
    ("run {net} {picture} --batch 0", USAGE, ["--batch", "0"], "expected 1 to"),
]

MACHINES = [
    ("bench {net} --cores 9999", USAGE, ["--cores", "9999"], "try 'mete machine'"),
    ("bench {net} --cores 0,0", USAGE, ["--cores", "named twice"], "try --threads"),
    ("bench {net} --cores 0:2", USAGE, ["--cores", "0:2"], "try 0,1 or 0:1.0,1:0.4"),
    ("bench {net} --cores all", USAGE, ["--cores", "all"], "try 0,1"),
    ("bench {net} --cores 0 --threads 2", USAGE, ["--cores"], "try without --threads"),
    ("bench {net} --policy adaptve", USAGE, ["--policy", "adaptve"], "try adaptive"),
    ("bench {net} --plan {missing}.json", BAD_FILE, ["--plan", "missing.json"], "try the file's whole path"),
    ("bench {net} --plan {braces}", BAD_FILE, ["--plan", "braces.json"], "with --save-plan"),
    ("bench {net} --plan {not_json}", BAD_FILE, ["--plan", "not_json.json"], "with --save-plan"),
    ("bench {net} --plan {other_plan}", BAD_FILE, ["--plan", "other_plan.json"], "with --save-plan"),
    ("bench {net} --plan {other_plan} --threads 2", USAGE, ["--plan"], "leave out --threads"),
    ("bench {net} --runs 1 --warmup 0 --save-plan {missing}/plan.json", FAILURE, ["plan.json", "is not there"], "try another path"),
    ("run {net} {picture} --output {labels}", FAILURE, ["--output", "labels.txt"], "try another folder"),
    ("bench {net} --runs 3 --seconds 1", USAGE, ["--runs", "--seconds"], "expected one of them"),
    ("bench {net} --runs 0", USAGE, ["--runs", "0"], "expected 1 to"),
    ("bench {fixed} --batch 4", USAGE, ["--batch", "4"], "open batch"),
    ("bench {net} --streams 3 --cores 0", USAGE, ["--streams"], "expected 1 at most"),
    ("bench {net} --exact", USAGE, ["--exact"], "needs --processors"),
    ("bench {net} --lanes 2", USAGE, ["--lanes"], "needs --processors"),
    ("plan {net} --machine raspbery-pi-5", BAD_FILE, ["--machine", "raspbery-pi-5"], "try raspberry-pi-5"),
    ("plan {net} --machine {boards}/rk3399x6.toml", BAD_FILE, ["rk3399x6.toml"], "try it as --processors"),
    ("plan {net} --machine {bad_machine}", BAD_FILE, ["bad_machine.toml", "clockspeed"], "expected"),
    ("plan {net} --processors {boards}/rk3399.toml", BAD_FILE, ["rk3399.toml"], "try --machine"),
    ("plan {net} --machine rk3399 --processors cpu,gpu", BAD_FILE, ["--processors", "'gpu'"], "try to add [[gpu]]"),
    ("plan {net} --machine snapdragon-855 --processors cpu,gpu,gpu:0", BAD_FILE, ["'gpu:0' is the same GPU as 'gpu'"], "try f32 for one of them"),
    ("plan {net} --processors cpu,gpu:f16,gpu:0:f16", USAGE, ["'gpu:0:f16' is the same GPU as 'gpu:f16'"], "try f32 for one of them"),
    ("plan {net} --machine snapdragon-855 --processors cpu,npu", BAD_FILE, ["--processors", "'npu'"], "expected cpu, gpu or gpu:f16"),
    ("plan {net} --machine snapdragon-855 --processors rk3399x6", USAGE, ["--processors", "'rk3399x6'"], "try without --machine"),
    ("simulate {net}", USAGE, ["--machine"], "try"),
    ("simulate {net} --machine rk3399 --objective fast", USAGE, ["--objective", "fast"], "expected"),
    ("simulate {net} --machine rk3399 --objective latency=30", USAGE, ["--objective", "latency=30"], "30ms"),
    ("profile --probes 0", USAGE, ["--probes"], "expected 1 to 1000"),
    ("METE_PROBES=few profile", USAGE, ["few"], "expected 1 to 1000"),
    ("machine --root {missing}", USAGE, ["--root"], "try"),
]

SEVERAL_DEVICES = [
    ("run {net} {picture} --processors {missing}.toml", BAD_FILE, ["missing.toml"], "try the file's whole path"),
    ("run {net} {picture} --processors {hosts}", USAGE, ["--processors"], "try mete profile MODEL --processors FILE"),
    ("run {net} {picture} --processors {hosts} --transfer f8", USAGE, ["--transfer", "f8"], "expected one of f32, f16, u8"),
    ("run {net} {picture} --processors {hosts} --explain", USAGE, ["--processors", "--explain"], "expected one of them"),
    ("profile {net} --processors {hosts}", FAILURE, ["far"], "try"),
    ("bench {net} --processors cpu:0,cpu:0", USAGE, ["--processors", "cpu:0"], "twice"),
    ("bench {net} --processors cpu:999", BAD_FILE, ["cpu:999", "core 999"], "expected some of"),
    ("bench {net} --processors cpu:0,cpu:0-0", BAD_FILE, ["cpu:0-0"], "with cores of their own"),
    ("bench {net} --processors cpu:0 --plan {other_plan}", BAD_FILE, ["--plan", "other_plan.json"], "try to plan again"),
    ("bench {net} --processors cpu:0 --plan {not_json}", BAD_FILE, ["--plan", "not_json.json"], "try"),
    ("bench {net} --processors {missing}.toml --plan {missing}.json", BAD_FILE, ["missing.toml"], "try the file's whole path"),
    ("bench {net} --processors {boards}/rk3399x6.toml", USAGE, ["Six RK3399 boards", "not here"], "try a file with the addresses of workers"),
    ("bench {net} --processors cpu:0,npu:1", USAGE, ["--processors", "npu:1"], "such as cpu:0-3"),
    ("profile {net} --processors cpu:0,gpu:99", USAGE, ["gpu:99", "no such GPU"], "try 'mete machine'"),
    ("bench {net} --processors cpu:", USAGE, ["--processors", "cpu:"], "such as cpu:0-3"),
    ("plan {net} --processors cpu:0", USAGE, ["--processors"], "try mete profile MODEL --processors FILE"),
    ("bench {net} --processors {two_alike}", BAD_FILE, ["two_alike.toml", "another processor has this name"], "expected names that differ"),
    ("bench {net} --processors {odd_kind}", BAD_FILE, ["odd_kind.toml", "tpu"], "expected one of cpu, "),
    ("bench {net} --processors {lacks_f32}", UNSUPPORTED, ["gpu", "cannot compute f32"], "try another processor as the first"),
    ("bench {net} --processors {never_ready}", USAGE, ["gpu"], "as its description asks for"),
    ("devices --processors {hosts}", FAILURE, ["hosts.toml", "far"], "try 'mete worker'"),
    ("devices --processors {trusting_nobody}", BAD_FILE, ["trusting_nobody.toml"], "insecure = true"),
    ("devices --processors {all_keys}", BAD_FILE, ["cert.pem"], "try"),
    ("worker --listen nowhere", USAGE, ["--listen", "nowhere"], "expected"),
    ("worker --listen 0.0.0.0:7077", USAGE, ["--listen"], "--insecure"),
    ("worker --token {missing}.token", BAD_FILE, ["missing.token"], "try mete keys token"),
    ("keys show {folder}", BAD_FILE, ["a_folder"], "try mete keys make"),
]

ENVIRONMENT = [  # with an environment variable before the command
    ("METE_TARGET=avx9 bench {net}", USAGE, ["METE_TARGET", "avx9"], "expected one of"),
    ("METE_WITHOUT=avx9 bench {net}", USAGE, ["METE_WITHOUT", "avx9"], "expected some of"),
    ("METE_CONV=fast bench {net}", USAGE, ["METE_CONV", "fast"], "expected one of"),
    ("METE_CACHE={labels}/cache bench {digits} --runs 1 --warmup 0", OK, ["labels.txt/cache"], "try another folder in METE_CACHE"),
]

ALL = [*COMMANDS, *MODELS, *SHAPES, *TENSORS, *PICTURES, *MACHINES, *SEVERAL_DEVICES, *ENVIRONMENT]


def make_files(root):
    """Writes what the rows name; a path for each {name}."""
    picture = png(16, 16)
    fixed = mask([1, 3, 8, 8])
    contents = {
        "net": ("net.onnx", channel_means(["N", 3, 8, 8])), "other": ("other.onnx", mask([1, 3, 4, 4])), "fixed": ("fixed.onnx", fixed),
        "mask": ("mask.onnx", mask([1, 3, 8, 8])), "pair": ("pair.onnx", channel_means([2, 3, 8, 8])),
        "tokens": ("tokens.onnx", model([("tokens", ["N", "T"], kInt64)], [("Cast", ["tokens"], ["out"], {"to": 1})], ["out"])),
        "foreign": ("foreign.onnx", foreign_operator()), "future": ("future.onnx", fixed[:-4] + message(8, number(2, 99))),
        "empty": ("empty.onnx", b""), "html": ("page.onnx", b"<!DOCTYPE html><html><body>Not found</body></html>"),
        "pointer": ("pointer.onnx", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 14000000\n"),
        "half": ("half.onnx", fixed[:len(fixed) // 2]), "torch": ("net.pt", b"PK\x03\x04" + bytes(64)),
        "tflite": ("net.tflite", b"\x1c\0\0\0TFL3" + bytes(8)), "renamed": ("renamed.onnx", b"\x1c\0\0\0TFL3" + bytes(64)), "caffemodel": ("net.caffemodel", b"\xa2\x06\x03\x0a\x01s"),
        "network": ("net.prototxt", caffe_network()), "lonely": ("lonely.prototxt", caffe_network()),
        "picture": ("picture.png", picture), "broken": ("broken.png", picture[:80]), "webp": ("photo.webp", b"RIFF\x24\0\0\0WEBPVP8 "),
        "heic": ("photo.heic", b"\0\0\0\x18ftypheic"), "gif": ("photo.gif", b"GIF89a"), "labels": ("labels.txt", b"a\nb\nc\n"),
        "text": ("labels.txt", b"a\nb\nc\n"), "short_labels": ("short_labels.txt", b"a\nb\n"),
        "array": ("array.npy", npy("<f4", (1, 3, 8, 8), bytes(768))), "npz": ("arrays.npz", b"PK\x03\x04"),
        "wrong_shape": ("wrong_shape.npy", npy("<f4", (1, 3, 9, 9), bytes(972))), "bytes": ("bytes.npy", npy("|u1", (1, 3, 8, 8), bytes(192))),
        "fortran": ("fortran.npy", npy("<f4", (1, 3, 8, 8), bytes(768)).replace(b"False,", b"True, ")),
        "objects": ("objects.npy", npy("|O", (1, 3, 8, 8), bytes(768))), "cut": ("cut.npy", npy("<f4", (1, 3, 8, 8), bytes(700))),
        "raw": ("raw.bin", bytes(12)), "bad_key": ("bad_key.toml", b"men = 1\n"), "bad_toml": ("bad_toml.toml", b"mean = [1, 2\n"),
        "braces": ("braces.json", b"{}"), "labels_toml": ("labels.toml", b"preprocess = 'raw'\nlabels = 'nowhere.txt'\n"), "resize_toml": ("resize.toml", b"preprocess = 'raw'\nresize = 9\n"),
        "classify_toml": ("classify.toml", b"preprocess = 'raw'\nclassify = 'logits'\n"), "not_json": ("not_json.json", b"plan"), "bad_machine": ("bad_machine.toml", b'name = "x"\nclockspeed = 3\n'),
        "hosts": ("hosts.toml", hosts_file("insecure = true")), "two_alike": ("two_alike.toml", processors_file(("a", ""), ("a", ""))),
        "odd_kind": ("odd_kind.toml", processors_file(("a", 'kind = "tpu"'))),
        "lacks_f32": ("lacks_f32.toml", processors_file(("gpu", 'kind = "emulated"\nlacks = ["f32"]'))),
        "never_ready": ("never_ready.toml", processors_file(("gpu", 'kind = "emulated"\nfails = "prepare"'))),
        "trusting_nobody": ("trusting_nobody.toml", hosts_file("")),
        "all_keys": ("all_keys.toml", hosts_file('keys = "keys"')),
    }
    paths = {"boards": BOARDS, "digits": BOARDS.parent / "models" / "digits.onnx", "missing": root / "missing", "folder": root / "a_folder", "other_plan": root / "other_plan.json"}
    for name, (file, content) in contents.items():
        paths[name] = root / file
        paths[name].write_bytes(content)
    paths["folder"].mkdir()
    for made in (["keys", "make", root / "keys", "here", "far"], ["bench", paths["other"], "--runs", 1, "--warmup", 0, "--save-plan", paths["other_plan"]]):
        done = mete(*made)
        assert done.returncode == OK, done.stderr
    return paths


def foreign_operator():
    """A node of com.microsoft, which exporters write."""
    fused = b"".join(message(1, "x") for _ in range(2)) + message(2, "y") + message(3, "LongformerAttention_y") + message(4, "LongformerAttention")
    graph = message(1, fused + message(7, "com.microsoft")) + message(2, "graph") + message(11, value_info("x", [4, 4])) + message(12, message(1, "y"))
    return number(1, 8) + message(7, graph) + message(8, number(2, 17)) + message(8, message(1, "com.microsoft") + number(2, 1))


def caffe_network():
    return b'''name: "net" layer { name: "d" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
               layer { name: "s" type: "Softmax" bottom: "data" top: "s" }'''


def processors_file(*processors):
    """A pool of this device; each processor is a name and further lines."""
    return ('name = "test"\n[[device]]\nname = "here"\n' +
            "".join(f'[[device.processor]]\nname = "{name}"\n{rest}\n' for name, rest in processors)).encode()


def hosts_file(trust):
    """Port 9 is that of nobody: a connection is refused at once."""
    return f'name = "test"\n{trust}\n[[device]]\nname = "here"\n[[device]]\nname = "far"\naddress = "127.0.0.1:9"\n'.encode()
