"""What the deployment tells Ray and passes on. Needs Ray to be installed and starts none: bench/serve/ray.sh runs it."""
import asyncio
import pathlib
import sys
import unittest

here = pathlib.Path(__file__).resolve().parent
sys.path.remove(str(here))  # where ray.py is, which would hide Ray
sys.path.insert(0, str(here.parent))
from mete.ray import ANSWER_HEADERS, Replica, Settings, child_options, chosen, deployment, deployment_options, settings_of, target_of
from mete.serve_process import ChildOptions


class Options(unittest.TestCase):
    def test_words_of_serve_run_get_their_types(self):
        settings = settings_of({"model": "m.onnx", "num_cpus": "0.5", "max_replicas": "3", "token": "t"})
        self.assertEqual(settings, Settings("m.onnx", num_cpus=0.5, max_replicas=3, token="t"))

    def test_bad_settings_are_errors(self):
        for arguments, text in (({}, "no model"), ({"model": "m", "replicas": "2"}, "unknown: replicas"), ({"model": "m", "num_cpus": "0"}, "num_cpus"),
                                ({"model": "m", "min_replicas": "3", "max_replicas": "2"}, "got 3 to 2"), ({"model": "m", "max_replicas": "0"}, "got 1"),
                                ({"model": "m", "max_ongoing_requests": "0"}, "max_ongoing_requests"), ({"model": "m", "num_cpus": "x"}, "x")):
            with self.assertRaisesRegex(ValueError, text):
                settings_of(arguments)

    def test_as_many_replicas_as_are_asked_for_or_a_range_that_ray_scales_in(self):
        fixed = deployment_options(Settings("m", num_cpus=0.5, min_replicas=2, max_replicas=2, max_ongoing_requests=7))
        self.assertEqual((fixed["num_replicas"], fixed["max_ongoing_requests"], fixed["ray_actor_options"]), (2, 7, {"num_cpus": 0.5}))
        self.assertNotIn("autoscaling_config", fixed)
        scaled = deployment_options(Settings("m", min_replicas=0, max_replicas=4, target_ongoing_requests=3))
        self.assertEqual({name: scaled["autoscaling_config"][name] for name in ("min_replicas", "max_replicas", "target_ongoing_requests")},
                         {"min_replicas": 0, "max_replicas": 4, "target_ongoing_requests": 3})
        self.assertNotIn("num_replicas", scaled)

    def test_ray_takes_the_options_and_waits_for_the_drain(self):
        for settings in (Settings("m", num_cpus=0.25), Settings("m", min_replicas=1, max_replicas=4, drain_s=99)):
            deployment(settings)  # Ray checks the options
            self.assertGreater(deployment_options(settings)["graceful_shutdown_timeout_s"], settings.drain_s + 5)

    def test_the_child_has_the_replicas_share(self):
        self.assertEqual(child_options(Settings("m", num_cpus=2.5, max_ongoing_requests=9, drain_s=3, token="t", mete="p")),
                         ChildOptions(threads=2, most_requests=9, drain_s=3, token_file="t", mete="p"))


class Requests(unittest.TestCase):
    def test_targets_are_below_the_prefix_as_they_were_sent(self):
        scope = {"path": "/p/v2/models/a b", "raw_path": b"/p/v2/models/a%20b", "root_path": "/p", "query_string": b"x=%20"}
        self.assertEqual(target_of(scope), ("/v2/models/a%20b", "/v2/models/a%20b?x=%20"))
        self.assertEqual(target_of({"path": "/v2", "root_path": "/"}), ("/v2", "/v2"))

    def test_headers_of_a_connection_stay(self):
        self.assertEqual(chosen({"connection": "close", "content-length": "3", "retry-after": "1"}, ANSWER_HEADERS), {"retry-after": "1"})

    def test_a_replica_without_its_server_answers_503_and_is_unhealthy(self):
        class Dead:
            name, address = "m", "http://127.0.0.1:1"  # nobody listens there
            def alive(self):
                return False
            def authorization(self):
                return {}

        class Request:
            method, headers = "POST", {}
            scope = {"path": "/v2/models/m/infer", "root_path": ""}
            async def body(self):
                return b"{}"

        async def ask():
            replica = Replica.__new__(Replica)
            replica.child, replica.session = Dead(), None
            answer = await replica(Request())
            self.assertEqual((answer.status_code, answer.headers["retry-after"]), (503, "1"))
            with self.assertRaisesRegex(RuntimeError, "has ended"):
                await replica.check_health()
            with self.assertRaises(ConnectionError):
                await replica.infer(b"{}")
            await replica.session.close()
            del replica.child
            replica.session = None
        asyncio.run(ask())


if __name__ == "__main__":
    unittest.main()
