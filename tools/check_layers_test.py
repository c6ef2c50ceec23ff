"""What check_layers.py finds in trees that this test makes. Standard library only."""
import pathlib
import tempfile
import unittest

import check_layers

TABLE = check_layers.read_table("mete_library(base src/base)\nmete_library(machine src/machine LAYERS base)\nmete_library(costs src/costs LAYERS machine)")
FILES = {"src/base/json.h": "", "src/machine/file.h": "", "src/costs/energy.h": '#include "machine/file.h"\n',
         "apps/mete/flags.h": '#include "machine/file.h"\n#include "again.h"\n', "apps/mete/again.h": '#pragma once\n#include "flags.h"\n',
         "apps/mete/plain.h": '#include "base/json.h"\n'}


class CommandLine(unittest.TestCase):
    def problems(self, text, *layers):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for name, content in {**FILES, "apps/mete/run.cc": text}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content)
            exceptions = {"apps/mete/run.cc": list(layers)} if layers else {}
            return check_layers.check_program_file(TABLE, exceptions, root / "apps/mete/run.cc", root)

    def test_base_and_public_headers_are_for_all(self):
        self.assertEqual(self.problems('#include <vector>\n#include "plain.h"\n'), [])

    def test_a_layer_needs_an_exception(self):
        [problem] = self.problems('#include "plain.h"\n#include "costs/energy.h"\n')
        self.assertTrue(problem.startswith("apps/mete/run.cc:2: "), problem)
        self.assertIn("got src/costs/energy.h of costs", problem)
        self.assertEqual(self.problems('#include "costs/energy.h"\n', "costs"), [])

    def test_so_does_a_layer_behind_a_header_of_the_command_line(self):
        for header in ("flags.h", "again.h"):
            [problem] = self.problems(f'#include "plain.h"\n\n#include "{header}"\n')
            self.assertTrue(problem.startswith("apps/mete/run.cc:3: "), problem)
            self.assertIn("got src/machine/file.h of machine", problem)
        self.assertEqual(self.problems('#include "again.h"\n', "machine"), [])

    def test_an_exception_that_nothing_needs_is_told(self):
        [problem] = self.problems('#include "flags.h"\n', "machine", "costs")
        self.assertIn("apps/mete/run.cc has an exception for costs, which it does not include", problem)


class PythonModule(unittest.TestCase):
    def test_only_public_headers_and_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            files = {**FILES, "include/mete/engine.h": "", "python/binding/arrays.h": "",
                     "python/binding/module.cc": '#include "arrays.h"\n#include "mete/engine.h"\n#include "base/json.h"\n'}
            for name, content in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content)
            [problem] = check_layers.check_module_file(root / "python/binding/module.cc", root)
            self.assertTrue(problem.startswith("python/binding/module.cc:3: "), problem)
            self.assertIn("got src/base/json.h", problem)


if __name__ == "__main__":
    unittest.main()
