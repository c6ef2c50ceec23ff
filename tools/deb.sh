#!/bin/bash
# Packages a build as Debian packages: tools/deb.sh BUILD FOLDER, where BUILD is build/release or, cross-built, build/arm64.
# The version is CMakeLists.txt's; the time of the packages' files is that of the last commit, so that the same state makes the same packages.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 2 ] || { echo "deb.sh: got $# arguments; expected BUILD FOLDER" >&2; exit 2; }
source=$PWD
build=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
[ -x "$build/mete" ] || { echo "deb.sh: $1 has no program; got no $1/mete, expected a build with METE_PROGRAMS; try make release" >&2; exit 1; }
version=$(sed -nE 's/^project\(mete VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
case "$(file -b "$(realpath "$build/mete")")" in
  *x86-64*) architecture=amd64 ;;
  *aarch64*) architecture=arm64 ;;
  *) echo "deb.sh: $1/mete is for a processor that no package is made for; expected x86-64 or 64-bit Arm" >&2; exit 1 ;;
esac
# Outside of a git checkout it is the time of CHANGELOG.md.
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2> /dev/null || stat -c %Y CHANGELOG.md)}"
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/mete-$version
mkdir "$tree"
cp -r packaging/debian "$tree/debian"
cat > "$tree/debian/changelog" << CHANGES
mete ($version) unstable; urgency=medium

  * The changes are in /usr/share/doc/mete/what-is-new.md.gz.

 -- Mete's developers <mete@example.org>  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
CHANGES
# not as CHANGELOG.md, which debhelper would take for the package's own
cp CHANGELOG.md "$tree/what-is-new.md"
cp THIRD_PARTY.md "$tree/"
python3 tools/sbom.py "$build" > "$tree/sbom.spdx.json"
printf 'what-is-new.md\nTHIRD_PARTY.md\nsbom.spdx.json\n' > "$tree/debian/mete.docs"
# Debian's folder of libraries has the processor's name. It is in no file that is compiled, so that nothing is built again for it.
libraries() { cmake -S . -B "$build" -DCMAKE_INSTALL_LIBDIR="$1" > /dev/null; }
was=$(sed -nE 's/^CMAKE_INSTALL_LIBDIR:PATH=(.*)/\1/p' "$build/CMakeCache.txt")
trap 'libraries "$was"; rm -rf "$work"' EXIT
libraries "lib/$(dpkg-architecture --host-arch "$architecture" -qDEB_HOST_MULTIARCH 2> /dev/null)"
# The libraries of another processor are no packages of this machine, but packages of the same names for it.
if [ "$architecture" != "$(dpkg --print-architecture)" ]; then
  mkdir "$work/depends"
  for package in mete libmete0; do
    dpkg-deb -f "$(ls "$folder/${package}_${version}_$(dpkg --print-architecture).deb")" Depends > "$work/depends/$package"
  done
  export METE_DEPENDS=$work/depends
fi
(cd "$tree" && METE_BUILD=$build METE_SOURCE=$source DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage --build=binary --unsigned-changes --no-check-builddeps --host-arch "$architecture" > "$work/log" 2>&1) ||
  { cat "$work/log" >&2; exit 1; }
cp "$work"/*.deb "$folder/"
ls -l "$folder"/*_"$version"_"$architecture".deb
if command -v lintian > /dev/null; then lintian --fail-on error,warning "$folder"/*_"$version"_"$architecture".deb; fi
