"""The faults of bench/network, shortly: no request is lost or wrong, and the worker is taken in again. Standard library only."""
import argparse
import os
import pathlib
import sys
import tempfile
import unittest

kRoot = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(kRoot / "bench" / "network"), str(kRoot / "bench" / "common"), str(kRoot / "tools" / "lab")]
import fault_list
import faults
import lab as labs
import networks
from fault_scene import Scene

# The rest is in `make faults`: these take 6 s each.
kFaults = [fault_list.Killed, fault_list.Stopped, fault_list.Cut, fault_list.Flipped, fault_list.StreamCut, fault_list.DiskFull,
           fault_list.OtherVersion, fault_list.OtherName]
kHoldS, kSettleS, kBehindS = 1.0, 1.5, 1.0  # guesses: enough on a quiet machine
kLonger = (1, 4, 16)  # times as long, one after the other, until a busy machine has had the time
METE = None


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.lab = cls.enterClassContext(labs.lab_or_loopback(hosts=2, mbit=faults.kMbit))
        _, model = networks.model_file(METE, "squeezenet1.1", cls.folder)
        cls.scene = Scene(cls.lab, METE, model, cls.folder)
        cls.scene.make_secrets()
        cls.profiled = False

    def check(self, kind):
        if kind.real and not self.lab.real:
            self.skipTest(self.lab.note)
        for longer in kLonger:
            found = self.run_fault(kind(), longer)
            if not found["problems"] or not set(found["problems"]) <= faults.kOfTime:
                break
        self.assertEqual(found["problems"], [], found["notes"])
        self.assertEqual((found["lost"], found["wrong"], found["computed_alone_at_end"]), (0, 0, 0))
        self.assertLess(found["computed_alone"], found["requests"])

    def run_fault(self, fault, longer):
        fault.hold_s = min(fault.hold_s, kHoldS) * longer
        found = faults.in_scene(self.scene, lambda: faults.run_fault(self.scene, fault, self.profiled, kSettleS * longer, kBehindS * longer),
                                "test")
        type(self).profiled = True
        return found


def _test_of(fault):
    return lambda self: self.check(fault)


for _fault in kFaults:
    setattr(Faults, f"test_{_fault.__name__}", _test_of(_fault))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mete", required=True)
    flags, rest = parser.parse_known_args()
    METE = os.path.abspath(flags.mete)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
