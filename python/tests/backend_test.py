"""onnx's own BackendTest on mete.backend: the cases that pass are those that pass in C++ (tests/conformance/results.tsv)."""
import pathlib
import sys
import unittest
import warnings

import mete.backend
from onnx.backend.test import BackendTest

TABLE = pathlib.Path(__file__).resolve().parents[2] / "tests" / "conformance" / "results.tsv"
SUFFIX = "_cpu"


class Outcome(unittest.TestResult):
    """Which cases passed, and why others did not."""

    def __init__(self):
        super().__init__()
        self.passed, self.why = set(), {}

    def addSuccess(self, test):
        self.passed.add(_name(test))

    def addError(self, test, err):
        self.why[_name(test)] = str(err[1])

    addFailure = addError

    def addSkip(self, test, reason):
        self.why[_name(test)] = "skipped: " + reason


def _name(test):
    return test.id().rsplit(".", 1)[1].removesuffix(SUFFIX)


def _cases():
    """All cases on the CPU but the published models, which the package would download."""
    suite = unittest.TestSuite()
    for group, case in BackendTest(mete.backend, __name__).test_cases.items():
        if "RealModel" in group:
            continue
        suite.addTests(case(name) for name in dir(case) if name.startswith("test_") and name.endswith(SUFFIX))
    return suite


def main():
    warnings.simplefilter("ignore")  # overflows that the cases are about
    rows = [line.split("\t") for line in TABLE.read_text().splitlines() if line]
    table = {row[0]: row[1] == "passed" for row in rows}
    outcome = Outcome()
    _cases().run(outcome)
    ran = outcome.passed | set(outcome.why)
    lost = sorted(name for name, passes in table.items() if passes and name in ran and name not in outcome.passed)
    gained = sorted(name for name in outcome.passed if not table.get(name, True))
    absent = sorted(set(table) - ran)
    for name in lost:
        print(f"{name}: passes in C++ and not from Python: {outcome.why[name]}")
    for name in gained:
        print(f"{name}: passes from Python and not in C++")
    for name in absent:
        print(f"{name}: onnx's BackendTest has no such case")
    print(f"{len(outcome.passed)} of {len(ran)} cases pass from Python; the table of C++ has {sum(table.values())} of {len(table)}")
    sys.exit(bool(lost or gained or absent))


if __name__ == "__main__":
    main()
