# The few commands that one needs; CMake (CMakePresets.json) is underneath and usable directly.
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 600
METE = build/release/mete
FUZZ_TARGETS = $(sort $(basename $(notdir $(shell find src -name '*_fuzz.cc'))))

.DEFAULT_GOAL = help
.PHONY: help deps python-tools release wheel deb deb-arm try-packages try-packages-arm try-container site demo test bench compare compare-bytes compare-quantizers compare-bf16 compare-functions compare-users compare-litert compare-published bench-cores bench-processors bench-network bench-serve bench-python bench-chip bench-precision results reproduce-cores reproduce-network reproduce-chip reproduce-site faults conformance compare-serve page-tools test-page test-report test-serve test-serve-mlserver fuzz-serve test-ray test-deploy format lint fuzz fuzz-build arm-deps arm-test arm-loops arm-instructions long-test clean

help:
	@echo "Mete: inference on processors of unequal speed. Targets:"
	@echo
	@echo "  make demo         install what is missing, build the library and examples/demo, classify models/digit.png"
	@echo "  make release      install what is missing, build everything: build/release/mete"
	@echo "  make test         install what is missing, build, run every fast test and the ONNX node tests"
	@echo "  make bench        measure the kernels, the threads, and ResNet-50 on one thread and two"
	@echo "  make compare      measure Mete beside ONNX Runtime, OpenVINO and ncnn (installs them from PyPI)"
	@echo "  make compare-bytes"
	@echo "                    the same for 8-bit files that ONNX Runtime's quantizer writes"
	@echo "  make compare-bf16 the same in bf16"
	@echo "  make compare-users"
	@echo "                    the same for recurrent networks, an If, 3D and transposed convolutions, detectors (one in Caffe's form) and a decoder"
	@echo "  make compare-functions"
	@echo "                    how exact sigmoid, tanh, exp and erf are beside those engines, and what an element takes"
	@echo "  make compare-litert LITERT_FLAGS=net.tflite"
	@echo "                    Mete beside LiteRT on TensorFlow Lite files"
	@echo "  make compare-published"
	@echo "                    the same, and beside ONNX Runtime, on 50 networks that packages of PyPI ship (500 MB)"
	@echo "  make bench-cores  measure policies on a fast and a slow core, the peers beside a slowed core, and interference"
	@echo "  make bench-processors"
	@echo "                    measure hand-overs, and two processors of one core each beside one pool of threads"
	@echo "  make bench-network"
	@echo "                    measure plans on two devices with a core each, joined by 100 Mb/s (as root: network namespaces)"
	@echo "  make bench-serve  measure what a server carries, and what becomes of requests at 0.8 and twice of it"
	@echo "  make bench-python measure how much longer a run takes from Python than from C++"
	@echo "  make bench-chip   measure plans for a CPU and an OpenCL device of one machine beside each alone and beside planners of others"
	@echo "  make bench-precision"
	@echo "                    classify pictures in f32, f16 and 8 bits on a CPU, a GPU and both, and write docs/results/precision.md"
	@echo "  make results      write the tables of docs/results from bench/results, and the plots of those pages"
	@echo "  make reproduce-cores"
	@echo "                    simulate the policies on the boards of boards/ and write docs/results/cores.md"
	@echo "  make reproduce-network"
	@echo "                    simulate planners for several boards on a network and write docs/results/network.md"
	@echo "  make reproduce-chip"
	@echo "                    simulate planners for the CPU and the GPU of phones' chips and write docs/results/chip.md"
	@echo "  make reproduce-site"
	@echo "                    measure Guo's experiment: photos that a slowed device or a server behind real links answers, and write docs/results/site.md"
	@echo "                    (root; some 25 minutes; SITE_FLAGS: --models, --photos, --sizes, --links, --states, --page-only)"
	@echo "  make faults       break workers of a lab in many ways while requests go on (root; FAULTS_FLAGS: --only, --requests, --json)"
	@echo "  make deb          make Debian packages of build/release: build/deb"
	@echo "  make deb-arm      make those for 64-bit Arm, cross-built"
	@echo "  make try-packages install them and the wheel in a bare Debian, try them there, and remove them again (root)"
	@echo "  make try-packages-arm"
	@echo "                    the same of those for 64-bit Arm, under an emulator (root)"
	@echo "  make try-container"
	@echo "                    build the image of deploy/Containerfile without a registry, and ask the server in it (root)"
	@echo "  make wheel        build the Python package for PYTHON ($(PYTHON)) into build/wheel"
	@echo "  make site         build the site of the documents, with references of commands, Python and C++: build/site/index.html"
	@echo "  make conformance  run the ONNX node tests and compare with the table that is kept here"
	@echo "  make compare-serve"
	@echo "                    measure mete serve beside MLServer with ONNX Runtime (installs both from PyPI; SERVE_FLAGS: --models, --rounds, --json)"
	@echo "  make test-serve   ask mete serve by Triton's and KServe's clients (installs them from PyPI)"
	@echo "  make test-serve-mlserver"
	@echo "                    the same of MLServer, for what both servers have, with what it answers otherwise"
	@echo "  make fuzz-serve   schemathesis, then requests over a socket, against mete serve, each for FUZZ_SECONDS ($(FUZZ_SECONDS)) seconds"
	@echo "  make test-deploy  check deploy/ by hadolint and KServe's own models (installs them from PyPI)"
	@echo "  make test-ray     kill one of two replicas of Ray Serve under load (installs Ray from PyPI; RAY_FLAGS: --clients, --seconds, --model)"
	@echo "  make test-page    open the page of mete serve in a browser (chromium, playwright), with keyboard, labels and pictures of it"
	@echo "  make test-report  the same of pages of mete report"
	@echo "  make fuzz         run each fuzz target for FUZZ_SECONDS ($(FUZZ_SECONDS)) seconds"
	@echo "  make format       lay out all C++ code as .clang-format says"
	@echo "  make lint         check that layout, the layers, and with clang-tidy the files of LINT_FILES (src, apps, zoo and tools without tests)"
	@echo "  make arm-test     build for 64-bit Arm and run the fast tests under an emulator (build/arm64)"
	@echo "  make arm-loops    print what LLVM's models of Arm's cores say of the kernels' inner loops (no measurement)"
	@echo "  make arm-instructions"
	@echo "                    count the instructions of inferences under the emulator, Mete's beside ONNX Runtime's and ncnn's (ARM_MODELS:"
	@echo "                    names of the zoo or ONNX files; ARM_INSTRUCTIONS_FLAGS: --cpu, --quantized, --engines)"
	@echo "  make long-test    whole models beside ONNX Runtime, and the test suite under asan+ubsan, under tsan and for Arm"
	@echo "  make clean        remove build/"
	@echo
	@echo "JOBS=$(JOBS) compilers run at once. To use CMake directly:"
	@echo "  cmake --preset release && cmake --build --preset release && ctest --preset release"

deps:
	@tools/install-deps.sh

build/%/build.ninja: | python-tools
	cmake --preset $*

# nanobind, with which CMake builds the Python package, and what its tests import. Where PyPI cannot be reached it is left out.
python-tools: deps
	@tools/venv.sh build/python-tools python/requirements.txt || [ $$? -eq 77 ]

release: python-tools build/release/build.ninja
	cmake --build --preset release -j $(JOBS)

# PYTHON makes one for another Python: from 3.12 on a wheel serves all later ones.
PYTHON ?= python3
wheel: deps
	tools/wheel.sh $(PYTHON) build/wheel

deb: release
	tools/install-deps.sh --deb
	tools/deb.sh build/release build/deb

# The packages for x86-64 are there before: those for Arm depend on packages of the same names.
deb-arm: deb arm-deps
	cmake --preset arm64 -DMETE_TESTS=OFF
	cmake --build --preset arm64 -j $(JOBS) --target mete_cli mete_gpus mete_shared mete_network_shared mete_generated
	tools/deb.sh build/arm64 build/deb

# Builds within a bare system, without a compiler cache: some ten minutes.
try-container:
	tools/install-deps.sh --container
	tools/try-container.sh

try-packages-arm: deb-arm
	tools/install-deps.sh --deb-arm
	tools/try-packages.sh build/deb '' arm64

site: release
	tools/install-deps.sh --site
	tools/site.sh $(METE)

# As root.
try-packages: deb wheel
	tools/try-packages.sh build/deb build/wheel

# The library alone, and a program of one file with it (cmake/demo.cmake).
demo:
	@tools/install-deps.sh --demo
	cmake --preset demo
	cmake --build --preset demo -j $(JOBS)
	build/demo/demo models/digits.onnx models/digit.png

# The suite of processors runs the ONNX node cases that conformance.sh makes.
test: release
	tools/conformance.sh
	ctest --preset release -j $(JOBS)

bench: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli kernels_bench pool_bench decode_bench
	build/release/kernels_bench
	build/release/pool_bench
	build/release/decode_bench
	$(METE) zoo make resnet50 -o build/resnet50.onnx
	$(METE) bench build/resnet50.onnx --threads 1
	$(METE) bench build/resnet50.onnx --threads 2

compare: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli
	bench/peers/run.sh $(COMPARE_FLAGS)

# The same of 8-bit files that ONNX Runtime's quantizer writes.
compare-bytes: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli
	bench/peers/run.sh --quantized qdq qoperator --engines onnxruntime openvino $(COMPARE_FLAGS)

# The same in bf16.
compare-bf16: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli
	bench/peers/run.sh --precision bf16 $(COMPARE_FLAGS)

# FUNCTIONS_FLAGS: --engines, --core.
compare-functions: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli
	bench/peers/run.sh --install
	build/peers/venv/bin/python bench/peers/functions.py --mete $(METE) $(FUNCTIONS_FLAGS)

# Networks as users' exporters write them, beside ONNX Runtime.
compare-users: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli
	bench/peers/run.sh --install --quantized
	bench/peers/run.sh --engines onnxruntime --models $$(build/peers/venv/bin/python bench/peers/users_networks.py build/peers/users) $(COMPARE_FLAGS)

# .tflite files in Mete and in LiteRT, in turns. LITERT_FLAGS: the files, --threads, --runs, --turns.
compare-litert: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli
	tools/venv.sh build/litert-venv bench/peers/requirements-litert.txt
	build/litert-venv/bin/python bench/peers/litert.py --mete $(METE) $(LITERT_FLAGS)

# Networks that packages of PyPI ship, beside the runtimes that they are made for. PUBLISHED_FLAGS: words of names, --threads, --runs, --turns.
compare-published: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli
	tools/venv.sh build/published-venv bench/peers/requirements-published.txt
	build/published-venv/bin/python bench/peers/published.py --work build/published --mete $(METE) $(PUBLISHED_FLAGS)

# mete quantize beside ONNX Runtime's quantizer. QUANTIZERS_FLAGS: --models, --methods, --pictures, --shared.
compare-quantizers: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli
	bench/peers/run.sh --install --quantized
	build/peers/venv/bin/python bench/peers/quantizer.py --mete $(METE) $(QUANTIZERS_FLAGS)

# Each says how far it is. CORES_FLAGS go to all three: --models, --cores, --markdown.
bench-cores: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli slowcore
	bench/peers/run.sh --install
	python3 bench/cores/policies.py --mete $(METE) $(CORES_FLAGS)
	python3 bench/cores/slowed.py --mete $(METE) $(CORES_FLAGS)
	python3 bench/cores/interference.py --mete $(METE) $(CORES_FLAGS)

# PROCESSORS_FLAGS: --models, --cores, --speed, --outside, --rounds.
bench-processors: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli pool_bench line_pass slowcore
	build/release/pool_bench --benchmark_filter=HandOver
	python3 bench/cores/processors.py --mete $(METE) $(PROCESSORS_FLAGS)

# NETWORK_FLAGS: --models, --slow own:0.4, --beside legion,fss, --rounds.
bench-network: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli slowcore
	python3 bench/network/measured.py --mete $(METE) $(NETWORK_FLAGS)

# SERVE_FLAGS: --models, --seconds, --overload-s, --arrivals, --serve, --json.
bench-serve: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli serve_load serve_overhead
	python3 bench/serve/load.py --mete $(METE) $(SERVE_FLAGS)

# PYTHON_FLAGS: models, --rounds, --threads.
bench-python: release
	cmake --build --preset release -j $(JOBS) --target outside
	PYTHONPATH=build/release/python build/python-tools/bin/python bench/python/overhead.py --mete $(METE) $(PYTHON_FLAGS)

# CHIP_FLAGS: --models, --processors, --settings, --rounds, --json.
bench-chip: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli mete_gpus slowcore
	python3 bench/chip/measured.py --mete $(METE) $(CHIP_FLAGS)

# PRECISION_FLAGS: --models, --pictures, --calibration, --cores, --shared, --out.
bench-precision: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli mete_gpus
	python3 bench/chip/precision.py --mete $(METE) $(PRECISION_FLAGS)

format: deps
	tools/format.sh

# LINT_FILES: the .cc files that clang-tidy reads, some ten seconds each; headers are checked with the files that include them.
LINT_FILES ?= $(shell find src apps zoo tools -name '*.cc' -not -name '*_test.cc' -not -name '*_fuzz.cc')
lint: release
	tools/install-deps.sh --lint
	tools/format.sh --check
	python3 tools/check_layers.py
	python3 tools/check_class_names.py
	printf '%s\n' $(LINT_FILES) | xargs -P $(JOBS) -n 4 clang-tidy --quiet -p build/release

# Needs Python alone.
results:
	python3 bench/pages/results.py

# Simulated, so the same on every machine.
reproduce-cores: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli
	python3 bench/cores/reproduce.py --mete $(METE)

reproduce-network: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli
	python3 bench/network/reproduce.py --mete $(METE)
	$(MAKE) results

reproduce-chip: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli
	python3 bench/chip/reproduce.py --mete $(METE)
	$(MAKE) results

# In network namespaces: as root. What is measured is kept in build/site, and a second start goes on.
reproduce-site: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli delayline slowcore
	python3 bench/site/reproduce.py --mete $(METE) $(SITE_FLAGS) || [ $$? -eq 77 ]

# In network namespaces: as root. Some seven minutes.
faults: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli other_version_worker
	python3 bench/network/faults.py --mete $(METE) $(FAULTS_FLAGS)

conformance: release
	tools/conformance.sh

compare-serve: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli serve_load
	test -x build/serve-peers/bin/python || python3 -m venv build/serve-peers
	build/serve-peers/bin/pip install -q -r bench/serve/peers-requirements.txt
	python3 bench/serve/peers.py --mete $(METE) $(SERVE_FLAGS)

test-serve: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli
	METE=$(METE) tests/serve/run.sh clients

test-serve-mlserver:
	tests/serve/run.sh mlserver

fuzz-serve: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli
	METE=$(METE) tests/serve/run.sh fuzz $(FUZZ_SECONDS)

test-ray: deps build/release/build.ninja
	cmake --build --preset release -j $(JOBS) --target mete_cli
	bench/serve/ray.sh --mete $(METE) $(RAY_FLAGS) || [ $$? -eq 77 ]

test-deploy:
	tests/deploy/tools.sh || [ $$? -eq 77 ]

# What tests of pages in a browser need. Their pictures are in build/page.
page-tools: deps build/release/build.ninja
	tools/install-deps.sh --page
	tools/venv.sh build/page-tools tests/browser/requirements.txt
	cmake --build --preset release -j $(JOBS) --target mete_cli
	mkdir -p build/page

test-page: page-tools
	build/page-tools/bin/python tests/serve/page_test.py --mete $(METE) --screenshots build/page

test-report: page-tools
	build/page-tools/bin/python tests/report/page_test.py --mete $(METE) --screenshots build/page

fuzz-build:
	@tools/install-deps.sh --fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz -j $(JOBS) --target $(FUZZ_TARGETS)

# One after the other, each with its own growing corpus, which starts from the seeds in tests/fuzz.
fuzz: fuzz-build
	@for target in $(FUZZ_TARGETS); do tools/fuzz.sh $$target $(FUZZ_SECONDS) || exit 1; done

arm-deps: deps
	@tools/install-deps.sh --arm
	@tools/arm64-sysroot.sh

build/arm64/build.ninja: | arm-deps
	cmake --preset arm64

arm-test: arm-deps build/arm64/build.ninja
	cmake --build --preset arm64 -j $(JOBS)
	ctest --preset arm64 -j $(JOBS)

# The kernels are compiled to assembly alone. ARM_LOOPS_FLAGS: --family, --least, --markdown. Some two minutes.
arm-loops: arm-deps build/arm64/build.ninja
	@tools/install-deps.sh --arm-loops
	python3 bench/arm/loops.py $(ARM_LOOPS_FLAGS)

arm-instructions: arm-deps build/arm64/build.ninja
	cmake --build --preset arm64 -j $(JOBS) --target mete_cli
	bench/peers/run.sh --install --quantized
	bench/arm/peers.sh
	build/peers/venv/bin/python bench/arm/instructions.py $(ARM_MODELS) $(ARM_INSTRUCTIONS_FLAGS)

long-test: release build/asan/build.ninja build/tsan/build.ninja
	ctest --preset long
	cmake --build --preset asan -j $(JOBS)
	ctest --preset asan -j $(JOBS)
	cmake --build --preset tsan -j $(JOBS)
	ctest --preset tsan -j $(JOBS)
	$(MAKE) arm-test

clean:
	rm -rf build
