#!/bin/bash
# Builds the image of deploy/Containerfile, asks the server in it, and removes it again: tools/try-container.sh. As root, with buildah and debootstrap.
# No registry is asked: the image of Debian 12 that it begins with is made here from Debian's packages, and is as small.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || { echo "try-container.sh: run as root, which debootstrap and chroot need" >&2; exit 1; }
for program in buildah debootstrap; do
  command -v $program > /dev/null || { echo "try-container.sh: $program is missing; try tools/install-deps.sh --container" >&2; exit 1; }
done
work=$(mktemp -d)
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
images() { buildah --root "$work/images" --runroot "$work/run" "$@"; }
ended() {
  [ -z "${server:-}" ] || kill "$server" 2> /dev/null || true
  images umount --all > /dev/null 2>&1 || true
  rm -rf "$work"
}
trap ended EXIT
say() { echo "try-container: $*"; }

debootstrap --variant=minbase bookworm "$work/debian" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
# the ways of this system to Debian's packages
cp -r /etc/apt/apt.conf.d/. "$work/debian/etc/apt/apt.conf.d/"
base=$(images from scratch)
images copy --quiet "$base" "$work/debian" / > /dev/null
images commit --quiet "$base" docker.io/library/debian:12-slim > /dev/null
images rm "$base" > /dev/null
rm -rf "$work/debian"
began=$(date +%s)
images build --pull-never --quiet --format docker -f deploy/Containerfile -t mete . > "$work/log" 2>&1 || { tail -50 "$work/log" >&2; exit 1; }
say "the image is built after $(($(date +%s) - began)) s"

mkdir "$work/models"
cp models/digit* "$work/models/"
chmod -R a+rX "$work" "$work/models"
container=$(images from --pull-never mete)
# With this isolation a container has the host's network, and its address is another one here: that of the image may be in use.
mapfile -t command < <(images inspect --type image --format '{{range .Docker.Config.Entrypoint}}{{println .}}{{end}}' mete | sed '/^$/d; s/0\.0\.0\.0:8080/127.0.0.1:0/')
images run --volume "$work/models:/models:ro" "$container" -- "${command[@]}" > "$work/said" 2>&1 &
server=$!
until grep -q 'http://' "$work/said"; do
  kill -0 "$server" 2> /dev/null || { cat "$work/said" >&2; exit 1; }
  read -r -t 0.2 _ <> <(:) || true
done
address=$(grep -o 'http://[0-9.:]*' "$work/said" | head -1)
python3 -c 'import sys, urllib.request; assert urllib.request.urlopen(sys.argv[1] + "/v2/health/ready").status == 200' "$address"
python3 -c 'import sys, urllib.request; assert b"digits" in urllib.request.urlopen(urllib.request.Request(sys.argv[1] + "/v2/repository/index", b"{}", {"Content-Type": "application/json"})).read()' "$address"
say "its server is ready, and has the model of the mounted folder"
