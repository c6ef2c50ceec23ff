"""The simulated boards' arithmetic, document and plot, and the whole program with a Mete that only pretends. No bar on what the document in
the repository says, but for the command that makes it."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

kHere = pathlib.Path(__file__).resolve().parent
kRoot = kHere.parent.parent
sys.path[:0] = [str(kHere), str(kHere.parent / "common")]
import output
import papers
import simulated
import simulated_plot
import simulated_text

# As `mete machine` and `mete simulate`: two clusters of which one is three times as fast; all policies take 10 ms but equal, 20, and 15 on
# the big cores alone. A machine file named broken.toml is refused.
kFakeMete = f"""#!{sys.executable}
import json, os, sys
flag = lambda name, other="": sys.argv[sys.argv.index(name) + 1] if name in sys.argv else other
if flag("--machine").endswith("broken.toml"):
    sys.exit("mete: error: [broken] not a machine")
def cluster(name, cores, gflops):
    return {{"name": name, "cores": cores, "siblings": [], "f32_gflops": gflops, "figures": {{"compute_share": {{"value": 0.5}}}}}}
if sys.argv[1] == "machine":
    told = {{"name": "Board <1>", "clusters": [cluster("big", [4, 5, 6, 7], 12.0), cluster("little", [0, 1, 2, 3], 4.0)]}}
else:
    ms = lambda policy: 10.0 if policy != "equal" else 15.0 if flag("--cores") == "big" else 20.0
    core = {{"busy_ns": 6, "taking_ns": 1, "waiting_ns": 3}}
    policies = ["equal", "ratio", "asymo", "sani", "adaptive"] if flag("--policy") == "all" else [flag("--policy")]
    told = {{"ideal_ms": 9.0, "estimates": "all of them", "best_subset": {{"median_ms": 12.0, "cores": "big 4"}},
            "policies": [{{"policy": p, "median_ms": ms(p), "cores": [core]}} for p in policies],
            "nodes": [{{"op": "Conv", "blocks": 4, "block_ns": [1.0, 3.0]}}]}}
print(json.dumps(told))
"""


def result(model="net", conv=1.0, dense=0.0, best=10.0, **ms):
    ms = {**dict.fromkeys(simulated.kPolicies, 10.0), **ms}
    equal = {"big": {"ms": 10.0, "waiting": 0.05}, "one": {"ms": 12.0, "waiting": 0.3}, "all": {"ms": 8.0, "waiting": 0.4}}
    return {"model": model, "conv_share": conv, "dense_share": dense, "ms": ms, "ideal_ms": 9.0, "best": {"ms": best, "cores": "big 4"},
            "equal": equal}


def board(*results, file="kirin-970", slow=4.0, big=4):
    clusters = [{"name": "big", "cores": big, "gflops": 12.0}, {"name": "little", "cores": 4, "gflops": slow}]
    return {"file": file, "name": file.title(), "estimates": "all of them", "clusters": clusters, "results": list(results)}


def figure(low, high, most=False):
    return papers.Figure("paper", "what", low, high, "x", most, None, {})


class Arithmetic(unittest.TestCase):
    def test_a_node_takes_what_all_cores_take_together(self):
        self.assertAlmostEqual(simulated.node_ns({"blocks": 8, "block_ns": [1.0, 2.0]}, [1, 2]), 4.0)
        self.assertEqual(simulated.node_ns({"blocks": 0, "block_ns": [0, 0]}, [1, 2]), 0)

    def test_shares_are_of_time(self):
        nodes = [{"op": op, "blocks": blocks, "block_ns": [1.0]} for op, blocks in (("Conv", 6), ("Gemm", 3), ("Relu", 1))]
        self.assertEqual(simulated.shares(nodes, [1]), (0.6, 0.3))

    def test_the_kind_is_what_takes_half(self):
        kinds = [simulated.kind(result(conv=c, dense=d)) for c, d in ((0.5, 0.5), (0.4, 0.5), (0.4, 0.4))]
        self.assertEqual(kinds, ["conv", "dense", "other"])

    def test_waiting_is_of_all_of_the_cores_time(self):
        cores = [{"busy_ns": 5, "taking_ns": 1, "waiting_ns": 4}, {"busy_ns": 8, "taking_ns": 0, "waiting_ns": 2}]
        self.assertAlmostEqual(simulated.waiting_share(cores), 0.3)

    def test_means_are_geometric(self):
        means = simulated.geometric_means(board(result(equal=40.0), result(equal=10.0)))
        self.assertAlmostEqual(means["sani"], 2)
        self.assertAlmostEqual(means["equal"], 1)
        self.assertAlmostEqual(simulated.beside_best(board(result(best=5.0), result(best=20.0)))["adaptive"], 1)

    def test_gains_are_of_one_kind_and_the_largest(self):
        one = board(result(equal=20.0), result(equal=15.0), result(equal=90.0, conv=0, dense=1.0))
        self.assertEqual(simulated.most_gains([one], "conv", "equal", "asymo"), {"kirin-970": 2.0})
        self.assertEqual(simulated.most_gains([board(result())], "dense", "equal", "asymo"), {})

    def test_savings_waiting_and_collapses(self):
        boards = [board(result(asymo=12.5), result(conv=0, asymo=99.0)), board(result(conv=0), file="tensor-g4")]  # conv=0: of no kind
        self.assertEqual(list(simulated.savings(boards, "asymo", "sani")), ["kirin-970"])
        self.assertAlmostEqual(simulated.savings(boards, "asymo", "sani")["kirin-970"], 20)
        self.assertAlmostEqual(simulated.waiting(boards, "one")["kirin-970"], 30)
        self.assertAlmostEqual(simulated.most_collapses(boards)["kirin-970"], 1.2)

    def test_phones_and_four_big_cores(self):
        boards = [board(result()), board(result(), file="rk3399", big=2), board(result(), file="tensor-g4", big=6)]
        self.assertEqual([b["file"] for b in simulated.phones(boards)], ["kirin-970", "tensor-g4"])
        self.assertEqual([b["file"] for b in simulated.four_big(boards)], ["kirin-970"])
        self.assertEqual([simulated.uneven(b) for b in (boards[0], board(result(), slow=12.0))], [True, False])

    def test_named_boards_exist(self):
        for name in [*simulated.kPhones, simulated.kHybrid]:
            self.assertTrue((kRoot / "boards" / f"{name}.toml").is_file(), name)


class Verdicts(unittest.TestCase):
    def test_all_on_one_side_or_within_a_tenth_or_scattered(self):
        cases = (((1.0, 1.7), "less"), ((2.3, 5.0), "more"), ((1.9, 2.1), "agrees"), ((1.0, 2.0), "scatters"), ((1.0, 3.0), "scatters"))
        for ours, said in cases:
            self.assertEqual(papers.verdict(figure(2.0, 2.0), dict(enumerate(ours))), said, ours)
        self.assertEqual(papers.verdict(figure(9.8, 15.7), {"a": -8.0, "b": 1.0}), "less")
        self.assertEqual(papers.verdict(figure(9.8, 15.7), {}), "not simulated")

    def test_of_a_bound_only_the_largest_counts(self):
        self.assertEqual(papers.verdict(figure(2.0, 2.0, most=True), {"a": 1.0, "b": 2.0}), "agrees")

    def test_every_disagreement_that_can_be_has_its_reason(self):
        for f in papers.kFigures:
            self.assertLessEqual({"less", "more"} if f.most else {"less", "more", "scatters"}, set(f.why), f.what)


class Text(unittest.TestCase):
    def test_the_document_says_what_it_is(self):
        text = simulated_text.document([board(result(equal=20.0, adaptive=12.5))])
        for words in ("`make reproduce-cores`", "not a measurement", "estimates", "(cores.svg)", "## Kirin-970", "Estimates: all of them",
                      "no row is a paper's row", "1.60x", "- Kirin-970: net 0.80x"):
            self.assertIn(words, text)
        self.assertIn("| 2.00x", text)

    def test_a_disagreement_is_told_and_what_cannot_be_compared_is_not(self):
        text = simulated_text.comparison([board(result(equal=30.0))])
        self.assertIn("[1] more: ", text)
        row = next(line for line in text.splitlines() if line.startswith("| [1]"))
        self.assertEqual([cell.strip() for cell in row.split("|")][2:-1], ["AsyMo", "1.46x", "-", "3.00x", "-", "-", "-", "-", "more"])
        self.assertIn("not simulated", text)
        self.assertNotIn("[2] not", text)

    def test_nowhere_slower_is_said(self):
        self.assertEqual(simulated_text.slower_than_best([board(result(best=9.999))]), "- nowhere")

    def test_the_plot_has_a_bar_for_each_policy_as_high_as_its_mean(self):
        root = xml.etree.ElementTree.fromstring(simulated_plot.svg([board(result(equal=20.0)), board(result(equal=20.0), file="a<b")]))
        bars = {}
        for rect in root.findall("{*}rect"):
            for title in rect.findall("{*}title"):
                bars.setdefault(title.text, []).append(float(rect.get("height")))
        self.assertEqual({name: len(heights) for name, heights in bars.items()},
                         {"equal 1.00": 2, **{f"{p} 2.00": 2 for p in simulated.kPolicies if p != "equal"}})
        self.assertAlmostEqual(bars["sani 2.00"][0], 2 * bars["equal 1.00"][0])
        self.assertIn("a<b", [text.text for text in root.findall("{*}text")])


class Files(unittest.TestCase):
    def test_a_file_that_cannot_be_written_leaves_the_old_one_and_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.md")
            output.write_whole(path, "old")
            with self.assertRaises(UnicodeEncodeError):
                output.write_whole(path, "\ud800")
            self.assertEqual((os.listdir(folder), pathlib.Path(path).read_text()), (["a.md"], "old"))


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file("mete", kFakeMete).chmod(0o755)
        self.file("net.onnx")

    def file(self, name, text=""):
        (self.folder / name).write_text(text)
        return self.folder / name

    def run_program(self, *boards, out="out"):
        command = [sys.executable, kHere / "reproduce.py", "--mete", self.folder / "mete", "--models", self.folder / "net.onnx", "--boards",
                   *boards, "--out", self.folder / out]
        return subprocess.run(command, capture_output=True, text=True, timeout=100)

    def test_it_writes_both_files_the_same_each_time(self):
        for out in ("once", "twice"):
            done = self.run_program(self.file("kirin-970.toml"), out=out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("1 of 1, Board <1>", done.stderr)
        for name in ("cores.md", "cores.svg"):
            self.assertEqual((self.folder / "once" / name).read_text(), (self.folder / "twice" / name).read_text())
        text = (self.folder / "once" / "cores.md").read_text()
        self.assertIn("4 big + 4 little", text)
        self.assertIn("1.33x", text)  # equal slices with little cores over without
        self.assertNotIn(str(self.folder), text)

    def test_a_bad_machine_file_ends_it_and_nothing_is_written(self):
        done = self.run_program(self.file("broken.toml"))
        self.assertEqual((done.returncode, (self.folder / "out").exists()), (3, False), done.stderr)
        self.assertIn("not a machine", done.stderr)

    def test_no_machine_file_is_wrong_usage(self):
        for words in (self.folder / "nothing.toml", self.folder):
            done = self.run_program(words)
            self.assertEqual((done.returncode, "[--boards]" in done.stderr), (2, True), done.stderr)


class Document(unittest.TestCase):
    def test_it_says_which_command_makes_it_and_the_command_is_there(self):
        text = (kRoot / "docs" / "results" / "cores.md").read_text()
        self.assertIn(f"`{simulated_text.kCommand}`", text.split("\n\n")[1])
        self.assertTrue((kRoot / "docs" / "results" / "cores.svg").is_file())
        target = simulated_text.kCommand.removeprefix("make ")
        recipe = (kRoot / "Makefile").read_text().split(f"\n{target}:")[1].split("\n\n")[0]
        self.assertIn("bench/cores/reproduce.py", recipe)


if __name__ == "__main__":
    unittest.main()
