#!/usr/bin/env python3
"""Writes which software a build is made of, in SPDX 2.3's JSON: sbom.py BUILD > FILE

The shared libraries that BUILD/mete and BUILD/libmete*.so load, and the headers and texts that are compiled in, as Debian's packages with the versions that
are installed here. THIRD_PARTY.md says which packages Mete uses, and has their licences. The time is $SOURCE_DATE_EPOCH, or that of the last commit.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]


def said(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout


def loaded(file):
    """The files of the shared libraries that a program or library loads."""
    return set(re.findall(r"=> (/\S+)", said("ldd", file)))


def package_of(file):
    """The Debian package of a library's file, which the merged /usr may name in two ways."""
    for path in (file, os.path.realpath(file), file.removeprefix("/usr")):
        found = re.match(r"([^:\s]+)(?::\w+)?: ", said("dpkg", "-S", path))
        if found:
            return found.group(1)
    return None


def installed(package):
    words = said("dpkg-query", "-W", "-f", "${Version} ${source:Package}", package).split()
    return (words[0], words[1]) if len(words) == 2 else None


def third_party():
    """What THIRD_PARTY.md lists and is no tool of tests or benchmarks: licences by package."""
    rows = re.findall(r"^\| [^|]+ \| ([^|]+) \| ([^|]+) \| ([^|]+) \|", (ROOT / "THIRD_PARTY.md").read_text(), re.M)
    return {package: licence.strip() for packages, licence, use in rows if "only" not in use for package in re.findall(r"`([^`]+)`", packages)}


def entry(package, licences):
    version, source = installed(package)
    licence = licences.get(package) or next((text for other, text in licences.items() if installed(other) and installed(other)[1] == source), "")
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", package), "name": package, "versionInfo": version, "supplier": "Organization: Debian",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
            "copyrightText": "NOASSERTION", **({"licenseComments": licence} if licence else {}),
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/debian/{package}@{version.replace(':', '%3A').replace('+', '%2B')}"}]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    build = parser.parse_args().build
    version = re.search(r"project\(mete VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or said("git", "-C", str(ROOT), "log", "-1", "--format=%ct"))
    licences = third_party()
    files = set().union(*(loaded(file) for file in [build / "mete", *build.glob("libmete*.so")]))
    packages = {package_of(file) for file in files if "libmete" not in file} | set(licences)
    packages = sorted(package for package in packages if package and installed(package))
    mete = {"SPDXID": "SPDXRef-mete", "name": "mete", "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION"}
    entries = [entry(package, licences) for package in packages]
    print(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"mete-{version}",
        "documentNamespace": f"https://example.org/spdx/mete-{version}-{epoch}",
        "creationInfo": {"created": datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: mete-sbom"]},
        "packages": [mete, *entries],
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-mete"},
                          *({"spdxElementId": "SPDXRef-mete", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": e["SPDXID"]} for e in entries)]}, indent=1))


if __name__ == "__main__":
    main()
