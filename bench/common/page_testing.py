"""Runs a program that writes a page of simulations, with a Mete that only pretends."""
import os
import pathlib
import subprocess
import sys


def run(program, fake_mete, folder, *models):
    """`fake_mete` is the text of a script in place of Mete. The models are empty files of these names in the folder, the page goes into its
    folder `out`."""
    fake = pathlib.Path(folder, "mete")
    fake.write_text(fake_mete)
    fake.chmod(0o755)
    paths = [pathlib.Path(folder, model) for model in models]
    for path in paths:
        path.write_text("")
    return subprocess.run([sys.executable, program, "--mete", fake, "--out", os.path.join(folder, "out"), "--models", *paths],
                          capture_output=True, text=True)


def check_that_a_bad_model_leaves_no_page(test, program, fake_mete, folder):
    done = run(program, fake_mete, folder, "net.onnx", "broken.onnx")
    test.assertEqual(done.returncode, 3)
    test.assertIn("not a model", done.stderr)
    test.assertFalse(os.path.exists(os.path.join(folder, "out")))
