"""The files of deploy/ by tools from PyPI: hadolint reads the Containerfile, and KServe's own models every field of kserve-runtime.yaml.

KServe's package and that of Kubernetes have a class for each object of the CRD, made from the same Go types: which fields there are, of which types,
and which are required. They have no patterns or enumerations, so that a value may still be refused by a cluster. make test-deploy runs this.
"""
import pathlib
import re
import subprocess
import sys
import unittest

import kserve
import kubernetes.client
import yaml

from deploy_test import DEPLOY, block

PLAIN = {"str": str, "int": int, "bool": bool, "object": object}


def model(name):
    return getattr(kserve, name, None) or getattr(kubernetes.client, name)


def problems(value, kind, where="$"):
    """What of a parsed YAML is not of this type of the OpenAPI models, as lines with the path of each."""
    if kind in PLAIN:
        right = isinstance(value, PLAIN[kind]) and not (kind == "int" and isinstance(value, bool))
        return [] if right else [f"{where}: got {value!r}, expected {kind}"]
    if found := re.fullmatch(r"[Ll]ist\[(.*)\]", kind):
        if not isinstance(value, list):
            return [f"{where}: got {value!r}, expected a list"]
        return [line for at, item in enumerate(value) for line in problems(item, found[1], f"{where}[{at}]")]
    if found := re.fullmatch(r"[Dd]ict[(\[]str, (.*)[)\]]", kind):
        if not isinstance(value, dict):
            return [f"{where}: got {value!r}, expected names with values"]
        return [line for name, item in value.items() for line in problems(item, found[1], f"{where}.{name}")]
    if not isinstance(value, dict):
        return [f"{where}: got {value!r}, expected {kind}"]
    return of_model(value, model(kind), where)


def of_model(value, kind, where):
    names = {json: name for name, json in kind.attribute_map.items()}
    told = [f"{where}.{name}: {kind.__name__} has no such field" for name in value if name not in names]
    for name, item in value.items():
        if name in names:
            told += problems(item, kind.openapi_types[names[name]], f"{where}.{name}")
    if not told:
        try:
            kind(**{names[name]: item for name, item in value.items()})
        except ValueError as problem:  # a required field is missing
            told.append(f"{where}: {problem}")
    return told


class Runtime(unittest.TestCase):
    text = (DEPLOY / "kserve-runtime.yaml").read_text()

    def setUp(self):
        self.runtime = yaml.safe_load(self.text)

    def told(self):
        return problems(self.runtime, "V1alpha1" + self.runtime["kind"])

    def test_every_field_is_one_of_kserves(self):
        self.assertEqual((self.runtime["apiVersion"], self.told()), ("serving.kserve.io/v1alpha1", []))

    def test_wrong_fields_are_found(self):
        container = self.runtime["spec"]["containers"][0]
        for place, name, wrong in ((container, "arguments", []), (container, "args", "serve"), (container["readinessProbe"], "periodSeconds", "2"),
                                   (self.runtime["spec"], "protocolVersion", ["v2"]), (self.runtime["spec"]["supportedModelFormats"][0], "priority", True)):
            with self.subTest(name):
                had = place.get(name)
                place[name] = wrong
                self.assertEqual(len(self.told()), 1)
                place.pop(name) if had is None else place.update({name: had})
        del container["name"]
        self.assertRegex(self.told()[0], r"containers\[0\]: (.|\n)*\bname\b")

    def test_it_is_also_a_runtime_of_one_namespace(self):
        self.assertEqual(problems({**self.runtime, "kind": "ServingRuntime"}, "V1alpha1ServingRuntime"), [])

    def test_kserve_finds_the_container_the_protocols_and_the_format(self):
        spec = self.runtime["spec"]
        self.assertEqual([container["name"] for container in spec["containers"]], ["kserve-container"])
        self.assertEqual((spec["protocolVersions"], spec["supportedModelFormats"][0]["name"]), (["v2", "grpc-v2"], "onnx"))

    def test_the_other_test_reads_the_same_command(self):
        container = self.runtime["spec"]["containers"][0]
        self.assertEqual((container["command"], container["args"]), (block(self.text, "command"), block(self.text, "args")))


class Containerfile(unittest.TestCase):
    def test_hadolint_has_nothing_to_say(self):
        done = subprocess.run([pathlib.Path(sys.executable).with_name("hadolint"), DEPLOY / "Containerfile"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


if __name__ == "__main__":
    unittest.main()
