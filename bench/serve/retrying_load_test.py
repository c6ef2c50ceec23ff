"""Standard library only."""
import http.server
import json
import struct
import threading
import unittest

import retrying_load as loads

METADATA = {"name": "m", "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 3]}], "outputs": [{"name": "y"}]}


class Server:
    """Answers with the input's values after `failures` answers of that status; None: it closes the connection."""

    def __init__(self, failures=(), added=0.0):
        left = list(failures)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = left.pop(0) if left else 200
                if status is None:
                    self.close_connection = True
                    return
                values = loads.values_of(body, self.headers["Inference-Header-Content-Length"])
                answer = b"{}" + struct.pack(f"<{len(values)}f", *(value + added for value in values))
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.send_header("Inference-Header-Content-Length", "2")
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/prefix"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Asking(unittest.TestCase):
    def ask(self, **how):
        server = Server(**how)
        self.addCleanup(server.close)
        question = loads.question(METADATA, 1)
        question.right = loads.values_of(question.body, question.header_length)
        caller = loads.Caller(server.url, "m")
        self.addCleanup(caller.connection.close)
        return caller.ask(question)

    def test_an_answer_is_compared(self):
        self.assertEqual((self.ask().outcome, self.ask(added=0.5).outcome), ("right", "wrong"))

    def test_what_failed_is_sent_again(self):
        answered = self.ask(failures=[503, None, 500])
        self.assertEqual((answered.outcome, answered.tries, len(answered.problems)), ("right", 4, 3))
        self.assertIn("503", answered.problems[0])

    def test_a_question_has_the_models_shape_and_its_own_values(self):
        question = loads.question(METADATA, 1)
        header = json.loads(question.body[:question.header_length])
        self.assertEqual(header["inputs"][0]["shape"], [1, 3])
        self.assertEqual(len(loads.values_of(question.body, question.header_length)), 3)
        self.assertNotEqual(question.body, loads.question(METADATA, 2).body)


class Figures(unittest.TestCase):
    ANSWERED = [loads.Answered(0, end, 1, outcome) for end, outcome in ((1, "right"), (2, "wrong"), (5, "right"), (6, "lost"), (7, "right"))]

    def test_right_answers_count(self):
        self.assertEqual(loads.per_s(self.ANSWERED, 0, 6), 2 / 6)

    def test_gaps_reach_from_begin_to_end(self):
        self.assertEqual([loads.longest_gap_s(self.ANSWERED, *span) for span in ((0, 8), (0, 20), (-9, 2), (3, 4))], [4, 13, 10, 1])


if __name__ == "__main__":
    unittest.main()
