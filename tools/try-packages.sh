#!/bin/bash
# Installs the Debian packages and the wheel in a bare Debian 12, tries them there, and removes them again:
#   tools/try-packages.sh DEBS WHEELS          of this machine's processor
#   tools/try-packages.sh DEBS '' arm64        the Debian packages of another processor, whose programs QEMU runs
# As root, with debootstrap; the bare system is made in a temporary folder from Debian's packages.
set -euo pipefail
cd "$(dirname "$0")/.."
case $# in
  2 | 3) ;;
  *) echo "try-packages.sh: got $# arguments; expected DEBS WHEELS, two folders, and perhaps a processor" >&2; exit 2 ;;
esac
[ "$(id -u)" -eq 0 ] || { echo "try-packages.sh: run as root, which debootstrap and chroot need" >&2; exit 1; }
command -v debootstrap > /dev/null || { echo "try-packages.sh: debootstrap is missing; try tools/install-deps.sh --deb" >&2; exit 1; }
seconds=5  # in which a program has started
debs=$(realpath "$1")
wheels=${2:+$(realpath "$2")}
architecture=${3:-$(dpkg --print-architecture)}
if [ "$architecture" != "$(dpkg --print-architecture)" ]; then
  # The kernel calls QEMU for programs of other processors (binfmt_misc), also where it finds no QEMU in their system (F).
  if [ "$architecture" != arm64 ] || ! grep -qs '^flags:.*F' /proc/sys/fs/binfmt_misc/qemu-aarch64; then
    echo "try-packages.sh: programs for $architecture do not run here; expected arm64, qemu-user-static and binfmt-support; try tools/install-deps.sh --deb-arm" >&2
    exit 1
  fi
  seconds=15
fi
root=$(mktemp -d)
ended() {
  for mounted in proc dev; do mountpoint -q "$root/$mounted" && umount "$root/$mounted"; done
  rm -rf "$root" "$root".*
}
trap ended EXIT
say() { echo "try-packages: $*"; }
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive $(env | grep -iE '^(https?_proxy|no_proxy|pip_[a-z_]*)=' || true) "$@"; }

debootstrap --arch="$architecture" --variant=minbase bookworm "$root" > "$root.log" 2>&1 || { cat "$root.log" >&2; exit 1; }
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
cp /etc/resolv.conf "$root/etc/" 2> /dev/null || true
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
cp /etc/pip.conf "$root/etc/" 2> /dev/null || true
mkdir "$root/srv/packages" "$root/srv/models"
cp "$debs"/*_"$architecture".deb ${wheels:+"$wheels"/*.whl} "$root/srv/packages/"
cp models/digit* "$root/srv/models/"
ls -l "$root"/srv/packages | awk 'NR > 1 { printf "try-packages: %9d bytes  %s\n", $5, $9 }'
began=$(date +%s)
inside apt-get -qq update
inside sh -c 'apt-get -qq install --no-install-recommends /srv/packages/*.deb' > "$root.log" 2>&1 || { cat "$root.log" >&2; exit 1; }
answer=$(inside mete run /srv/models/digits.onnx /srv/models/digit.png)
grep -q '^    5  0.95' <<< "$answer"
say "mete run answers, $(($(date +%s) - began)) s after the beginning of the installation"
inside mete report /srv/models/digits.onnx -o /tmp/report.html > /dev/null
say "mete report writes a page of $(stat -c %s "$root/tmp/report.html") bytes"
inside env seconds=$seconds sh -c 'mete keys token /tmp/token > /dev/null && { timeout -s TERM $seconds mete worker --listen 127.0.0.1:0 --token /tmp/token; true; }' | grep -q 'listening on'
say "a worker starts"
inside env seconds=$seconds sh -c '{ timeout -s TERM $seconds mete serve /srv/models --listen 127.0.0.1:0 --log none; true; }' | grep -q 'listening\|http'
say "a server starts"
cat > "$root/tmp/use.cc" << 'CODE'
#include <mete/engine.h>
#include <cstdio>
int main() { std::printf("%s\n", mete::Model::Load("/srv/models/digits.onnx").name().c_str()); }
CODE
inside apt-get -qq install --no-install-recommends g++ pkg-config > "$root.log" 2>&1 || { cat "$root.log" >&2; exit 1; }
inside sh -c 'g++ -std=c++20 /tmp/use.cc -o /tmp/use $(pkg-config --cflags --libs mete) && /tmp/use > /dev/null'
say "a program compiles with pkg-config mete, and runs"
inside apt-get -qq purge mete libmete0 libmete-dev > "$root.log" 2>&1 || { cat "$root.log" >&2; exit 1; }
inside apt-get -qq autoremove --purge > "$root.log" 2>&1
inside find / -xdev \( -path /proc -o -path /dev -o -path /srv -o -path /var -o -path /tmp -o -path /root \) -prune -o -type f -name '*mete*' -print | sort > "$root.left"
[ ! -s "$root.left" ] || { say "left behind:"; cat "$root.left"; exit 1; }
say "removed without rest"
[ -n "$wheels" ] || exit 0

inside apt-get -qq install --no-install-recommends python3 python3-venv > "$root.log" 2>&1 || { cat "$root.log" >&2; exit 1; }
began=$(date +%s)
# NumPy comes through this system's pip, which knows the way to PyPI.
python3 -m pip download -q --disable-pip-version-check --only-binary=:all: --python-version 3.11 -d "$root/srv/numpy" 'numpy>=1.26'
inside sh -c 'python3 -m venv /opt/venv && /opt/venv/bin/pip install -q --disable-pip-version-check --no-index --find-links /srv/numpy /srv/packages/*cp311-cp311*.whl'
inside /opt/venv/bin/python -c 'import mete, numpy
session = mete.InferenceSession("/srv/models/digits.onnx")
print(session.run(None, {session.get_inputs()[0].name: numpy.zeros(session.get_inputs()[0].shape, numpy.float32)})[0].shape)' > /dev/null
inside /opt/venv/bin/python -m mete run /srv/models/digits.onnx /srv/models/digit.png | grep -q '^    5  0.95'
say "import mete and python -m mete run answer, $(($(date +%s) - began)) s after the beginning of pip install"
