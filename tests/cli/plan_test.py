"""Runs the commands that plan, simulate, profile and choose by energy as their users do. Standard library only."""
import json
import os
import pathlib
import subprocess

import cli_testing
import timeline
from cli_testing import BAD_FILE, BOARDS, FAILURE, OK, USAGE, Cli, mete


class Profiles(Cli):
    def test_a_check_needs_a_profile_of_this_machine(self):
        cache = self.path("cache")
        env = {"METE_CACHE": str(cache)}
        done = mete("profile", "--check", self.net, env=env)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("[profile] there is none of this machine", done.stderr)
        self.assertIn("try \"mete profile\"", done.stderr)
        self.assertEqual(mete("profile", "--check", self.net, "--energy", env=env).returncode, USAGE)
        for flag in ("--in-turns", "--nodes"):
            done = mete("profile", flag, env=env)
            self.assertEqual(done.returncode, USAGE)
            self.assertIn("--check", done.stderr)

    def test_a_check_tells_a_flag_from_the_models_before_it(self):
        done = mete("profile", "--check", self.net, "nowhere.onnx", "--cores", "nonsense", env={"METE_CACHE": str(self.path("cache"))})
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("[--cores]", done.stderr)

    def test_a_profile_that_cannot_be_kept_is_not_measured(self):
        done = mete("profile", "--seconds", "600", env={"METE_CACHE": str(self.picture)})  # a file, no folder
        self.assertEqual(done.returncode, FAILURE)
        self.assertIn("cannot write the file", done.stderr)

    def test_a_profile_that_does_not_serve_is_refused_and_inference_goes_on(self):
        # Its name is the processor's and the target's, as the file of tuned times has them in front.
        cache = self.path("cache")
        env = {"METE_CACHE": str(cache)}
        run = ["bench", self.net, "--runs", "2", "--threads", "1", "--json"]
        self.assertEqual(mete(*run, env=env).returncode, OK)
        (tuned,) = (cache / "tuning").iterdir()
        version = subprocess.run([cli_testing.METE, "--version"], capture_output=True, text=True).stdout.split()[-1]
        profile = cache / "profiles" / (tuned.name.split("-" + version)[0] + ".json")
        profile.parent.mkdir()
        for text, why in [("nonsense", "not a profile"), ('{"format": "mete-profile"}', "not a profile"), ("", "not a profile")]:
            profile.write_text(text)
            done = mete(*run, env=env)
            self.assertEqual(done.returncode, OK, done.stderr)
            self.assertIn(why, done.stderr)
            self.assertIn(str(profile), done.stderr)
            self.assertEqual(mete("profile", "--check", self.net, env=env).returncode, USAGE)
            plan = mete("plan", self.net, env=env)
            self.assertEqual(plan.returncode, OK, plan.stderr)
            self.assertIn(why, plan.stderr)
            self.assertIn("every step has all threads", plan.stdout)


class Plans(Cli):
    @staticmethod
    def threads_of(plan):
        """The threads of the only share of a plan for one processor."""
        return plan["groups"][0]["shares"][0]["threads"]

    def test_plan_predicts_on_machine_files(self):
        board = BOARDS / "tensor-g4.toml"
        answer = self.answer("plan", self.net, "--machine", board)
        threads = self.threads_of(answer)
        self.assertEqual((answer["format"], threads["cores"]), ("mete-plan", [7, 4, 5, 6, 0, 1, 2, 3]))
        steps = [s for s in threads["steps"] if s.get("predicted_us", 0) > 0]
        self.assertAlmostEqual(sum(s["predicted_us"] for s in steps), answer["predicted_us"])
        for step in steps:
            self.assertEqual(len(step["blocks"]), step["threads"])
            self.assertEqual(sum(int(n) for n in step["cores"].split()[1::3]), step["threads"])
            for rejected in step.get("rejected", []):
                self.assertTrue(rejected["reason"])
        self.assertEqual(max(s["threads"] for s in steps), 8)
        self.assertLess(min(s["threads"] for s in steps), 8)
        simulated = self.answer("simulate", self.net, "--machine", board, "--policy", "adaptive")["policies"][0]["median_ms"]
        self.assertAlmostEqual(answer["predicted_us"] * 1e-3 / simulated, 1, delta=0.1)
        text = mete("plan", self.net, "--machine", board).stdout
        for word in ("Google Tensor G4: prime 1 + middle 3 + little 4", "rather than", "predicted:", "Nothing here was measured."):
            self.assertIn(word, text)

    def test_plan_takes_some_cores_and_other_policies(self):
        board = BOARDS / "tensor-g4.toml"
        command = ["plan", self.net, "--machine", board, "--cores", "prime,middle:2"]
        self.assertEqual(self.threads_of(self.answer(*command))["cores"], [7, 4, 5])
        equal = self.answer(*command, "--policy", "equal")
        self.assertEqual({s["threads"] for s in self.threads_of(equal)["steps"]}, {3})
        self.assertNotIn("predicted_us", equal)

    def test_plan_for_this_machine_runs(self):
        core = self.answer("machine")["affinity"]["allowed"][0]
        unmeasured = {"METE_CACHE": str(self.path("empty"))}
        answer = self.answer("plan", self.net, "--cores", core, env=unmeasured)
        threads = self.threads_of(answer)
        self.assertEqual((threads["cores"], threads["threads"]), ([core], 1))
        self.assertIn("mete profile", answer["note"])
        self.assertIn("no times of this machine", mete("plan", self.net, env=unmeasured).stdout)
        plan = self.path("planned.json", json.dumps(answer).encode())
        self.assertEqual(self.answer("bench", self.net, "--runs", 1, "--plan", plan)["threads"], 1)
        # One step on one thread and the next on two, on the same core if there is no other.
        both = self.answer("plan", self.net)
        threads = self.threads_of(both)
        threads.update(threads=2, cores=[])
        for i, step in enumerate(threads["steps"]):
            step["threads"] = 1 + i % 2
        plan.write_text(json.dumps(both))
        self.assertEqual(self.answer("bench", self.net, "--runs", 1, "--plan", plan)["threads"], 2)

    def test_plan_refuses_nonsense(self):
        board = BOARDS / "rk3399.toml"
        self.fails(BAD_FILE, "cannot open", "plan", self.net, "--machine", self.path("none.toml"))
        self.fails(USAGE, "[--cores] no such cluster; got '0'", "plan", self.net, "--machine", board, "--cores", "0")
        self.fails(USAGE, "[--cores] not a core; got 'big'", "plan", self.net, "--cores", "big")
        self.fails(USAGE, "[--cores] no such core on this machine, or not for this process; got 99999", "plan", self.net, "--cores", "99999")
        self.fails(USAGE, "--policy", "plan", self.net, "--policy", "magic")

    def test_plan_divides_over_devices(self):
        board = BOARDS / "rk3399x6.toml"
        answer = self.answer("plan", self.net, "--processors", board)
        self.assertEqual(len(answer["processors"]), 6)
        self.assertLessEqual(answer["predicted_us"], min(answer["alone_us"]) * 1.000001)
        self.assertEqual(answer["groups"][-1]["last"], len(answer["layers"]))
        used = {answer["processors"][share["processor"]] for group in answer["groups"] for share in group["shares"]}
        for left_out in answer["left_out"]:
            self.assertNotIn(left_out["processor"], used)
            self.assertGreaterEqual(left_out["least_us_with_it"], answer["predicted_us"])
        text = mete("plan", self.net, "--processors", board).stdout
        for word in ("rk3399-1 alone", "predicted:", "Nothing here was measured"):
            self.assertIn(word, text)

    def test_a_plan_for_processors_is_saved_and_runs_again(self):
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) < 2:
            self.skipTest("this process may use one core alone")
        processors, saved, again, planned = f"cpu:{cores[0]},cpu:{cores[1]}", self.path("saved.json"), self.path("again.json"), self.path("planned.json")
        first = self.answer("bench", self.net, "--processors", processors, "--planner", "layerwise", "--keep-plan", "--runs", 2, "--save-plan", saved)
        self.assertIn("+", first["plan"])
        for command in (["bench", self.net, "--runs", 2], ["run", self.net, self.picture]):
            answer = self.answer(*command, "--processors", processors, "--plan", saved, "--save-plan", again)
            self.assertEqual(answer.get("processors", answer)["plan"], first["plan"])
            self.assertEqual(json.loads(again.read_text()), json.loads(saved.read_text()))
        self.answer("plan", self.net, "--processors", processors, "--save-plan", planned)
        self.assertEqual(self.answer("bench", self.net, "--processors", processors, "--runs", 2, "--plan", planned)["groups"],
                         len(json.loads(planned.read_text())["groups"]))
        turned = f"cpu:{cores[1]},cpu:{cores[0]}"
        self.fails(BAD_FILE, "is for another pool", "bench", self.net, "--processors", turned, "--plan", saved)
        self.fails(BAD_FILE, "is for another", "bench", self.net, "--plan", saved)

    def test_a_bench_on_processors_weighs_what_its_own_kernels_take(self):
        core = min(os.sched_getaffinity(0))
        answer = self.answer("bench", self.net, "--processors", f"cpu:{core}", "--reference", "--runs", 2, env={"METE_CACHE": str(self.path("cache"))})
        self.assertEqual(answer["best_single_processor"], f"cpu:{core}")

    def test_one_cpu_may_be_planned_as_several_processors(self):
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) < 2:
            self.skipTest("this process may use one core alone")
        one, saved = f"cpu:{cores[0]},{cores[1]}", self.path("one_cpu.json")
        measured, = self.answer("profile", self.net, "--processors", one)
        self.assertEqual([p["name"] for p in measured["as_several"]["processors"]], [f"cpu:{cores[0]}", f"cpu:{cores[1]}"])
        ways = ([one], [f"cpu:{cores[0]}", f"cpu:{cores[1]}"])
        self.assertIn(self.answer("plan", self.net, "--processors", one)["processors"], ways)
        self.answer("bench", self.net, "--processors", one, "--runs", 2, "--save-plan", saved)
        chosen = json.loads(saved.read_text())
        self.assertIn(chosen["processors"], ways)
        again = self.answer("bench", self.net, "--processors", one, "--runs", 2, "--plan", saved)
        self.assertEqual(again["groups"], len(chosen["groups"]))

    def test_plan_over_devices_has_an_objective(self):
        board = BOARDS / "rk3399x6.toml"
        plans = {o: self.answer("plan", self.net, "--processors", board, "--objective", o) for o in ("latency", "throughput", "energy")}
        for objective, figure in (("latency", "predicted_us"), ("throughput", "period_us"), ("energy", "joules")):
            self.assertEqual(plans[objective]["objective"], objective)
            self.assertGreaterEqual(plans[objective]["beside_best_alone"], 0.999999)
            self.assertLessEqual(plans[objective][figure], min(p[figure] for p in plans.values()) * 1.000001)
        self.assertIn("period:", mete("plan", self.net, "--processors", board, "--objective", "throughput").stdout)
        self.assertIn("energy:", mete("plan", self.net, "--processors", board, "--objective", "energy").stdout)
        self.fails(USAGE, "--objective", "plan", self.net, "--processors", board, "--objective", "magic")
        self.fails(USAGE, "--processors", "plan", self.net, "--objective", "energy")

    def test_plan_over_devices_explains_links_and_who_is_not_used(self):
        board = self.path("fast.toml")  # two boards on a link that takes next to no time
        text = (BOARDS / "rk3399x6.toml").read_text().replace("count = 6", "count = 2").replace('"rk3399.toml"', f'"{BOARDS / "rk3399.toml"}"')
        for slow, fast in (("94.1", "1e6"), ("150", "0.1"), ("200", "0.1")):
            text = text.replace(f"value = {slow}", f"value = {fast}")
        board.write_text(text)
        answer = self.answer("plan", self.net, "--processors", board)
        self.assertEqual(len(answer["sent"]), len(answer["groups"]) + 1)
        for group, sent in zip(answer["groups"], answer["sent"]):
            for share in group["shares"]:
                self.assertEqual(sum(t["bytes"] for t in sent if t["to"] == answer["processors"][share["processor"]]), share["bytes"])
        self.assertTrue(any(t["us"] > 0 for sent in answer["sent"] for t in sent))
        text = mete("plan", self.net, "--processors", board, "--explain").stdout
        for told in ("before group", "the end", "of a request", "Every device has a part"):
            self.assertIn(told, text)
        slow = BOARDS / "rk3399x6.toml"
        for objective, told in (("latency", "with a part, at least"), ("throughput", "period alone"), ("energy", "energy alone")):
            text = mete("plan", self.net, "--processors", slow, "--objective", objective, "--explain").stdout
            self.assertIn(told, text)
            self.assertRegex(text, r"rk3399-\d and \d alike")
        self.fails(USAGE, "--processors", "plan", self.net, "--explain")

    def test_plan_divides_layers_over_the_cpu_and_the_gpu_of_a_board(self):
        command = ["plan", self.net, "--machine", BOARDS / "snapdragon-855.toml", "--processors"]
        answer = self.answer(*command, "cpu,gpu")
        self.assertEqual(len(answer["alone_us"]), 2)
        self.assertLessEqual(answer["predicted_us"], min(answer["alone_us"]) * 1.000001)
        self.assertEqual(len(answer["instead"]), len(answer["groups"]))
        for other in sum(answer["instead"], []):
            self.assertGreaterEqual(other["us"], answer["predicted_us"] * 0.95)
        halves = self.answer(*command, "cpu,gpu:f16")
        self.assertLess(halves["alone_us"][1], answer["alone_us"][1])
        self.assertEqual(halves["alone_us"][0], answer["alone_us"][0])
        self.assertEqual(self.answer(*command, "cpu")["predicted_us"], answer["alone_us"][0])
        for plan, type_, other in ((answer, "f32", "f16"), (halves, "f16", "u8")):
            self.assertEqual([[share["processor"] for share in group] for group in plan["kernels"]],
                             [[plan["processors"][share["processor"]] for share in group["shares"]] for group in plan["groups"]])
            kernels = {(share["processor"], kernel["name"]) for group in plan["kernels"] for share in group for kernel in share["kernels"]}
            types = [kernel.rpartition("_")[2] for processor, kernel in kernels if processor.startswith("gpu")]
            self.assertTrue(type_ in types and other not in types if types else plan is answer, kernels)
        best = self.answer(*command, "cpu,gpu", "--planner", "exhaustive")
        self.assertEqual(best["planner"], "exhaustive")
        self.assertLessEqual(best["predicted_us"], answer["predicted_us"] * 1.000001)
        text = mete(*command, "cpu,gpu", "--explain").stdout
        for told in ("on a GPU waves of blocks", "then waits", "instead, the request takes longer by", "whole on gpu", "kernels, by estimate"):
            self.assertIn(told, text)
        machine = self.answer("machine", "--machine", BOARDS / "snapdragon-855.toml")
        self.assertEqual(machine["gpus"][0]["name"], "Adreno 640")
        self.assertIn("Adreno 640", mete("machine", "--machine", BOARDS / "snapdragon-855.toml", "--sources").stdout)

    def test_plan_chooses_the_type_of_a_boards_gpu_for_each_group(self):
        command = ["plan", self.net, "--machine", BOARDS / "snapdragon-855.toml", "--processors"]
        both, f32, f16 = (self.answer(*command, processors) for processors in ("cpu,gpu,gpu:f16", "cpu,gpu", "cpu,gpu:f16"))
        self.assertEqual(both["processors"], ["cpu", "gpu", "gpu:f16"])
        self.assertLessEqual(both["predicted_us"], min(f32["predicted_us"], f16["predicted_us"]) * 1.001)
        for group in both["groups"]:
            self.assertFalse({1, 2} <= {share["processor"] for share in group["shares"]}, group)
        text = mete(*command, "cpu,gpu,gpu:f16", "--explain").stdout
        self.assertIn("whole on gpu:f16", text)
        self.assertRegex(text, r"by (rows|channels) on cpu\+gpu:f16")
        simulated = self.answer("simulate", self.net, "--machine", BOARDS / "snapdragon-855.toml", "--processors", "cpu,gpu,gpu:f16")
        self.assertGreater(len(simulated["planners"]), 3)

    def test_simulate_compares_planners_on_a_chip(self):
        answer = self.answer("simulate", self.net, "--machine", BOARDS / "exynos-7420.toml", "--processors", "cpu,gpu")
        planners = {p["planner"]: p for p in answer["planners"]}
        for name in ("alone", "layer-to-processor", "codl"):
            self.assertLessEqual(planners["dynamic"]["predicted_us"], planners[name]["predicted_us"] * 1.000001)

    def test_plan_over_devices_refuses_nonsense(self):
        board = BOARDS / "rk3399x6.toml"
        self.fails(BAD_FILE, "cannot open", "plan", self.net, "--processors", self.path("none.toml"))
        self.fails(BAD_FILE, "describes one machine, not several devices; try --machine", "plan", self.net, "--processors", BOARDS / "rk3399.toml")
        self.fails(BAD_FILE, "describes several devices, not one machine; try it as --processors of plan or simulate", "plan", self.net, "--machine", board)
        for more in (("--machine", BOARDS / "rk3399.toml"), ("--cores", "0"), ("--policy", "equal")):
            self.fails(USAGE, more[0], "plan", self.net, "--processors", board, *more)


class Simulations(Cli):
    def test_simulate_compares_planners_over_devices(self):
        board = BOARDS / "rk3399x6.toml"
        answer = self.answer("simulate", self.net, "--processors", board)
        self.assertEqual([p["planner"] for p in answer["planners"]],
                         ["alone", "layerwise", "uniform", "neurosurgeon", "legion", "fss", "fss-pruned", "network-to-processor", "layer-to-processor", "mulayer", "codl", "dynamic"])
        ours = answer["planners"][-1]
        for planner in answer["planners"]:
            self.assertEqual(len(planner["processors"]), 6)
            if planner["planner"] not in ("neurosurgeon", "mulayer"):  # which predict by regressions of their own
                self.assertLessEqual(ours["predicted_us"], planner["predicted_us"] * 1.000001)
        one = self.answer("simulate", self.net, "--processors", board, "--planner", "legion")
        self.assertEqual([p["planner"] for p in one["planners"]], ["legion"])
        text = mete("simulate", self.net, "--processors", board).stdout
        for word in ("speed: beside the best single processor", "neurosurgeon", "Nothing here was measured"):
            self.assertIn(word, text)
        self.fails(USAGE, "--machine", "simulate", self.net)
        self.fails(USAGE, "--planner", "simulate", self.net, "--processors", board, "--planner", "magic")
        self.fails(USAGE, "--processors", "simulate", self.net, "--machine", BOARDS / "rk3399.toml", "--planner", "legion")
        self.fails(USAGE, "--policy", "simulate", self.net, "--processors", board, "--policy", "equal")

    def test_simulate_over_devices_by_objective(self):
        command = ["simulate", self.net, "--processors", BOARDS / "rk3399x6.toml"]
        period = self.answer(*command, "--objective", "throughput", "--requests", 50)
        self.assertEqual(period["requests"], 50)
        for planner in period["planners"]:
            self.assertGreaterEqual(planner["simulated_period_us"], planner["predicted_period_us"] * 0.999999)
            if planner["planner"] != "network-to-processor":  # which has several plans in turn
                self.assertLessEqual(period["planners"][-1]["predicted_period_us"], planner["predicted_period_us"] * 1.000001)
        energy = self.answer(*command, "--objective", "energy")
        for planner in energy["planners"]:
            self.assertLessEqual(energy["planners"][-1]["simulated_joules"], planner["simulated_joules"] * 1.000001)
        self.assertIn("period, simulated", mete(*command, "--objective", "throughput").stdout)
        self.fails(USAGE, "[--objective] not an objective for several processors", *command, "--objective", "latency=3ms")
        self.fails(USAGE, "[--requests] is of --objective throughput", *command, "--requests", 5)

    def test_simulate_over_devices_writes_a_trace(self):
        trace = self.path("trace.json")
        command = ["simulate", self.net, "--processors", BOARDS / "rk3399x6.toml"]
        self.answer(*command, "--planner", "layerwise", "--trace", trace)
        content = json.loads(trace.read_text())
        self.assertEqual(timeline.problems(content), [])
        self.assertEqual(timeline.lanes(content), {f"rk3399-{i}": ["computes", "sends", "receives"] for i in range(1, 7)})
        self.assertIn("s", {e["ph"] for e in content["traceEvents"]})
        self.fails(USAGE, "[--trace] is of one planner", *command, "--trace", trace)

    def test_simulate_predicts_on_machine_files(self):
        board = BOARDS / "tensor-g4.toml"
        answer = self.answer("simulate", self.net, "--machine", board, "--runs", 5)
        self.assertEqual([p["policy"] for p in answer["policies"]], ["equal", "ratio", "asymo", "sani", "adaptive"])
        for policy in answer["policies"]:
            self.assertEqual(len(policy["runs_ns"]), 5)
            self.assertEqual([c["cpu"] for c in policy["cores"]], [7, 4, 5, 6, 0, 1, 2, 3])
            self.assertAlmostEqual(policy["efficiency"], answer["ideal_ms"] / policy["median_ms"])
            self.assertLess(policy["efficiency"], 1)
            for core in policy["cores"]:
                self.assertEqual(core["busy_ns"] + core["taking_ns"] + core["waiting_ns"], sum(policy["runs_ns"]))
        by_name = {p["policy"]: p for p in answer["policies"]}
        self.assertGreater(by_name["adaptive"]["beside_best_subset"], 1)
        self.assertLess(by_name["equal"]["beside_best_subset"], 1)
        self.assertEqual({n["kind"] for n in answer["nodes"]} - {"view"}, {"product", "moves"})
        text = mete("simulate", self.net, "--machine", board, "--runs", 5).stdout
        for word in ("Google Tensor G4: prime 1 + middle 3 + little 4", "little busy  waiting", "best subset:", "Nothing here was measured.",
                     "compute_share"):
            self.assertIn(word, text)

    def test_simulate_takes_some_cores_and_interference(self):
        board = BOARDS / "tensor-g4.toml"
        trace = self.path("trace.json")
        command = ["simulate", self.net, "--machine", board, "--policy", "adaptive", "--cores", "prime,middle:2"]
        answer = self.answer(*command, "--trace", trace)
        self.assertEqual([c["cpu"] for c in answer["policies"][0]["cores"]], [7, 4, 5])
        content = json.loads(trace.read_text())
        self.assertEqual(timeline.problems(content), [])
        self.assertEqual(list(timeline.lanes(content).values()), [["core 7 (prime)", "core 4 (middle)", "core 5 (middle)"]])
        self.assertEqual({e["tid"] for e in content["traceEvents"] if e["ph"] == "X"}, {1, 2, 3})
        self.assertIn("s", {e["ph"] for e in content["traceEvents"]})
        disturbed = [self.answer(*command, "--interference", "random:cores=7,share=0.5,seed=2") for _ in range(2)]
        self.assertEqual(disturbed[0], disturbed[1])
        self.assertGreater(disturbed[0]["policies"][0]["median_ms"], answer["policies"][0]["median_ms"])

    def test_simulate_refuses_nonsense(self):
        board = BOARDS / "rk3399.toml"
        command = ["simulate", self.net, "--machine", board]
        self.fails(USAGE, "--machine", "simulate", self.net)
        self.fails(BAD_FILE, "cannot open", "simulate", self.net, "--machine", self.path("none.toml"))
        self.fails(USAGE, "[--cores] no such cluster; got 'huge', expected some of big, little", *command, "--cores", "huge")
        self.fails(USAGE, "expected 1 to 2", *command, "--cores", "big:3")
        self.fails(USAGE, "[--interference] not an interference; got 'magic'", *command, "--interference", "magic")
        self.fails(USAGE, "disturbed twice", *command, "--interference", "steady:cores=1", "--interference", "steady:cores=1")
        self.fails(USAGE, "--policy", *command, "--policy", "magic")
        self.fails(USAGE, "--runs", *command, "--runs", 0)
        self.fails(USAGE, "[--trace] is of one policy", *command, "--trace", self.path("t.json"))


class Energy(Cli):
    def test_simulate_chooses_cores_and_frequencies_by_energy(self):
        board = BOARDS / "tensor-g4.toml"
        command = ["simulate", self.net, "--machine", board, "--objective"]
        least = self.answer(*command, "energy")
        self.assertEqual([c["cluster"] for c in least["choice"]["clusters"]], ["prime", "middle", "little"])
        self.assertLess(least["choice"]["joules"], least["fastest"]["joules"])
        self.assertLessEqual(least["choice"]["joules"], min(c["joules"] for c in least["runners_up"]))
        quick = self.answer(*command, f"latency={2 * least['fastest']['ms']}ms")
        self.assertTrue(quick["meets"])
        self.assertLessEqual(quick["choice"]["ms"], 2 * least["fastest"]["ms"])
        self.assertGreaterEqual(quick["choice"]["joules"], least["choice"]["joules"])
        never = self.answer(*command, "latency=1us")
        self.assertEqual((never["meets"], never["choice"]), (False, least["fastest"]))
        text = mete(*command, "energy").stdout
        for word in ("on Google Tensor G4, for energy:", "other cores, each set at its best", "(the fastest)", "These are estimates"):
            self.assertIn(word, text)
        self.fails(USAGE, "[--objective] not an objective; got 'power'", *command, "power")
        self.fails(USAGE, "--policy", *command, "energy", "--policy", "equal")

    def test_profile_says_which_meter_is_missing(self):
        tree = self.path("unmetered")
        tree.mkdir()
        for folder in ("powercap", "power_supply", "hwmon"):
            self.fails(USAGE, f"/sys/class/{folder}", "profile", "--energy", "--root", tree)
        zone = tree / "sys/class/powercap/intel-rapl:0"
        zone.mkdir(parents=True)
        (zone / "name").write_text("package-0\n")
        (zone / "energy_uj").write_text("12\n")
        self.fails(USAGE, "on its machine powercap package-0 would be read", "profile", "--energy", "--root", tree)
        self.fails(USAGE, "no such meter; got 'battery', expected some of 'package-0'", "profile", "--energy", "--root", tree,
                   "--meter", "battery")

    def test_frequencies_that_a_killed_process_left_are_put_back_first(self):
        cache = self.path("left")
        cache.mkdir()
        env = {"METE_CACHE": str(cache)}
        lock = cache / "frequency.lock"
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        # A policy that no machine has, so that nothing is changed: it cannot be put back.
        setting = {"governor": "powersave", "min_khz": "400000", "max_khz": "600000", "speed_khz": "", "tunables_in": "", "tunables": {}}
        left = {"format": "mete frequency lock 2", "boot_id": boot, "pid": os.getpid(), "start": "1",
                "policies": {"policy99999": setting}}
        commands = (["machine"], ["bench", self.net, "--runs", 1, "--warmup", 0, "--tune", "never"], ["run", self.net, self.picture, "--tune", "never"],
                    ["inspect", self.net, "--memory", "--tune", "never"], ["profile", "--check", self.net], ["profile", "--energy"])
        for command in commands:
            lock.write_text(json.dumps(left))
            done = mete(*command, env=env)
            self.assertIn(f"cannot put back the frequency that process {os.getpid()}, which is gone, has changed", done.stderr, command)
            self.assertIn("expected as before: policy99999 powersave, 400000 to 600000 kHz", done.stderr)
            self.assertIn(f"'METE_CACHE={cache} mete machine' as root", done.stderr)
            if command[0] != "profile":
                self.assertEqual(done.returncode, OK, done.stderr)
            lock.write_text(json.dumps({**left, "policies": {}}))
            self.assertIn("did not put the frequencies back; that was done now", mete(*command, env=env).stderr)
            self.assertFalse(lock.exists())
        lock.write_text(json.dumps(left))  # other machines have nothing to do with it
        for command in (["machine", "--root", self.path("left")], ["simulate", self.net, "--machine", BOARDS / "rk3399.toml", "--runs", 1]):
            done = mete(*command, env=env)
            self.assertNotIn("frequency", done.stderr)
        self.assertTrue(lock.exists())

    def test_energy_curves_must_have_a_place_before_they_are_measured(self):
        self.fails(FAILURE, "is not there; try another one", "profile", "--energy", "--energy-output",
                   self.root / "no" / "x.json")
        done = mete("profile", "--energy", env={"METE_CACHE": str(self.picture)})
        self.assertEqual(done.returncode, FAILURE, done.stderr)
        self.assertIn(f"{self.picture}/energy.json] cannot write the file", done.stderr)

    def test_an_objective_needs_energy_curves_and_takes_cores_by_them(self):
        cache = self.path("energy-cache")
        cache.mkdir()
        env = {"METE_CACHE": str(cache)}
        self.assertIn("no energy curves of this machine", mete("bench", self.net, "--objective", "energy", env=env).stderr)
        first = {tuple(group): group[0] for cluster in self.answer("machine")["clusters"] for group in cluster["siblings"]}
        clusters = []
        for cluster in self.answer("machine")["clusters"]:
            cores = [c for c in cluster["cores"] if all(c == head or c not in group for group, head in first.items())]
            point = {"khz": 0, "cores": 1, "flops_per_byte": 1, "gflops": 1, "watts": 1}
            clusters.append({"name": cluster["name"], "cores": cores, "node_us": 0, "points": [point]})
        name = self.answer("machine")["name"]
        curves = {"format": "mete energy curves 1", "machine": name, "source": "a test", "idle_watts": 0, "gbytes_per_s": 0,
                  "clusters": clusters}
        (cache / "energy.json").write_text(json.dumps(curves))
        done = mete("bench", self.net, "--objective", "energy", "--runs", 1, "--warmup", 0, "--tune", "never", "--json", env=env)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(json.loads(done.stdout)["cores"], clusters[0]["cores"][:1])
        self.assertIn("frequencies stay as they are", done.stderr)
        self.assertIn(f"energy: {clusters[0]['name']} 1 core at its own clock", done.stderr)
        (cache / "energy.json").write_text(json.dumps({**curves, "machine": "another"}))
        self.assertIn("those of 'another'", mete("bench", self.net, "--objective", "energy", env=env).stderr)
        clusters[0]["cores"] = [4000]
        (cache / "energy.json").write_text(json.dumps(curves))
        self.assertIn("or of other cores than this process has", mete("bench", self.net, "--objective", "energy", env=env).stderr)
        self.fails(USAGE, "--cores", "bench", self.net, "--objective", "energy", "--cores", "0")


if __name__ == "__main__":
    cli_testing.main()
