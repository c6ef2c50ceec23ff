#!/bin/bash
# Installs the Debian packages that building and testing need. Says nothing where none is missing.
#   tools/install-deps.sh          what `make demo`, `make test` and the rest need
#   tools/install-deps.sh --demo   what `make demo` needs
#   tools/install-deps.sh --no-network   what a build with METE_NETWORK=OFF needs: neither gRPC nor OpenSSL, nor what --no-serve leaves out
#   tools/install-deps.sh --no-serve     what a build with METE_SERVE=OFF needs: neither Boost nor prometheus-cpp
#   tools/install-deps.sh --gpu    and PoCL, an OpenCL driver that computes on the CPU, with which the tests of GPUs run that are skipped without
#   tools/install-deps.sh --fuzz   and the compiler with libFuzzer
#   tools/install-deps.sh --lint   and clang-tidy
#   tools/install-deps.sh --deb    and what makes and checks Debian packages
#   tools/install-deps.sh --deb-arm  and what runs those for 64-bit Arm
#   tools/install-deps.sh --container    and what builds and runs an image without a registry
#   tools/install-deps.sh --site   and what writes the reference of the public headers
#   tools/install-deps.sh --page   and a browser for the tests of the server's page
#   tools/install-deps.sh --arm    and the cross compiler and the emulator for 64-bit Arm (the libraries: tools/arm64-sysroot.sh)
#   tools/install-deps.sh --arm-loops    and llvm-mca-19, whose models of Arm's cores `make arm-loops` asks
set -euo pipefail

packages=(
  g++ cmake ninja-build make pkg-config git ccache
  libhwy-dev libprotobuf-dev protobuf-compiler libonnx-dev libflatbuffers-dev flatbuffers-compiler
  nlohmann-json3-dev libtomlplusplus-dev libcli11-dev libfmt-dev
  libgrpc++-dev protobuf-compiler-grpc
  libboost-dev prometheus-cpp-dev
  libjpeg-dev libpng-dev libssl-dev libxxhash-dev libutf8proc-dev libgtest-dev libbenchmark-dev
  opencl-c-headers node-d3 libncurses-dev
  python3 python3-dev python3-venv python3-pip clang-format
  iproute2 util-linux
)
demo=(
  g++ cmake ninja-build make pkg-config
  libhwy-dev libprotobuf-dev protobuf-compiler libonnx-dev libflatbuffers-dev flatbuffers-compiler
  nlohmann-json3-dev libtomlplusplus-dev libfmt-dev libjpeg-dev libpng-dev libxxhash-dev
)
serve=(libboost-dev prometheus-cpp-dev)
network=(libgrpc++-dev protobuf-compiler-grpc libssl-dev)
without() {
  for package in "$@"; do packages=("${packages[@]/#$package/}"); done
  packages=(${packages[@]})  # without the empty words
}
for argument in "$@"; do
  case "$argument" in
    --demo) packages=("${demo[@]}") ;;
    --no-network) without "${network[@]}" "${serve[@]}" ;;
    --no-serve) without "${serve[@]}" ;;
    --gpu) packages+=(pocl-opencl-icd ocl-icd-libopencl1) ;;
    --fuzz) packages+=(clang libclang-rt-14-dev) ;;
    --lint) packages+=(clang-tidy) ;;
    --deb) packages+=(debhelper lintian file debootstrap) ;;
    --site) packages+=(doxygen) ;;
    --page) packages+=(chromium fonts-dejavu-core) ;;
    --deb-arm) packages+=(debootstrap qemu-user-static binfmt-support) ;;
    --container) packages+=(buildah crun debootstrap) ;;
    --arm) packages+=(g++-aarch64-linux-gnu qemu-user) ;;
    --arm-loops) packages+=(llvm-19) ;;
    *) echo "install-deps.sh: unknown argument '$argument'; expected --demo, --no-network, --no-serve, --gpu, --fuzz, --lint, --deb, --deb-arm, --container, --site, --page, --arm, --arm-loops or nothing" >&2; exit 2 ;;
  esac
done

if ! command -v apt-get > /dev/null; then
  echo "install-deps.sh: no apt-get here; install the equivalents of these, then use CMake directly:" >&2
  echo "  ${packages[*]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo > /dev/null || { echo "install-deps.sh: run as root or install sudo; missing: ${missing[*]}" >&2; exit 1; }
  root=(sudo)
fi

echo "install-deps.sh: installing ${#missing[@]} packages: ${missing[*]}"
apt() { "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "$@" < /dev/null; }
apt update
apt install --no-install-recommends "${missing[@]}"
