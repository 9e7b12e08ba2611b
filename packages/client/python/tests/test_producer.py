"""Tests of the producer against a gateway in this process; those against a running system are in packages/testing.

python -m unittest discover tests
"""

import gzip
import json
import threading
import time
import unittest
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from lead_scoring import AuthenticatedClient, Producer, ProducerClosed
from lead_scoring.producer import LONGEST_ASKED, LONGEST_PAUSE, _pause

EVENT = {"alias_kind": "email", "alias": "ada@example.com", "event_type": "Page View"}
ACCEPTED = (202, {}, {"accepted": 1, "batch_id": "0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e"})


class Gateway(ThreadingHTTPServer):
    """Answers the nth request, from 0, as a test says."""

    daemon_threads = True

    def __init__(self, answer=lambda nth: ACCEPTED):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.batches = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def client(self):
        return AuthenticatedClient(base_url=f"http://127.0.0.1:{self.server_port}", token="lsp_test")


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.batches.append(json.loads(gzip.decompress(body)))
        status, headers, answer = self.server.answer(len(self.server.batches) - 1)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_):
        pass


class ProducerTest(unittest.TestCase):
    def start(self, answer=lambda nth: ACCEPTED, **options):
        self.dropped = []
        gateway = Gateway(answer)
        self.addCleanup(gateway.server_close)
        self.addCleanup(gateway.shutdown)
        return gateway, Producer(gateway.client, on_dropped=self.dropped.append, **options)

    def test_batches_have_their_most_events_and_keep_the_order(self):
        gateway, producer = self.start(batch_events=10)
        for number in range(25):
            producer.send({**EVENT, "alias": str(number)})
        self.assertTrue(producer.close())
        self.assertLessEqual(max(map(len, gateway.batches)), 10)
        events = [event for batch in gateway.batches for event in batch]
        self.assertEqual([event["alias"] for event in events], [str(number) for number in range(25)])
        self.assertEqual(len({event["event_id"] for event in events}), 25)
        self.assertTrue(all("timestamp" in event for event in events))

    def test_an_event_is_sent_when_it_has_waited(self):
        gateway, producer = self.start(linger=0.05)
        producer.send(EVENT)
        deadline = time.monotonic() + 5
        while not gateway.batches and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(len(gateway.batches), 1)
        producer.close()

    def test_a_batch_is_sent_again_under_the_same_ids(self):
        statuses = [503, 429, 401, 404, 500]
        gateway, producer = self.start(lambda nth: (statuses[nth], {}, {}) if nth < 5 else ACCEPTED)
        producer.send(EVENT)
        producer.send(EVENT)
        self.assertTrue(producer.flush())
        self.assertEqual(len(gateway.batches), 6)
        self.assertEqual(gateway.batches[0], gateway.batches[5])
        producer.close()

    def test_a_refused_batch_is_dropped_with_its_problem(self):
        problem = {"type": "t", "title": "T", "status": 400, "code": "validation_failed", "detail": "d", "request_id": "r"}
        gateway, producer = self.start(lambda nth: (400, {}, problem) if nth == 0 else ACCEPTED)
        producer.send(EVENT)
        producer.send(EVENT)
        producer.flush()
        producer.send(EVENT)
        self.assertTrue(producer.close())
        self.assertEqual([(one.reason, len(one.events), one.problem.code) for one in self.dropped], [("refused", 2, "validation_failed")])
        self.assertEqual(len(gateway.batches), 2)

    def test_send_waits_while_the_queue_is_full(self):
        release = threading.Event()
        _, producer = self.start(lambda nth: release.wait() and ACCEPTED, maximum_bytes=400, linger=0)
        taken = []
        thread = threading.Thread(target=lambda: [taken.append(producer.send(EVENT)) for _ in range(10)])
        thread.start()
        time.sleep(0.3)
        self.assertIn(len(taken), range(1, 4))
        release.set()
        thread.join(10)
        self.assertEqual(len(taken), 10)
        self.assertTrue(producer.close())

    def test_close_gives_back_what_is_not_answered(self):
        _, producer = self.start(lambda nth: (503, {"Retry-After": "60"}, {}), batch_events=2)
        for _ in range(5):
            producer.send(EVENT)
        self.assertFalse(producer.close(timeout=0.2))
        self.assertEqual([(one.reason, len(one.events)) for one in self.dropped], [("closed", 5)])
        with self.assertRaises(ProducerClosed):
            producer.send(EVENT)

    def test_retry_after_is_seconds_or_a_date(self):
        def pause(text):
            return _pause(1, httpx.Response(503, headers={"retry-after": text}))

        in_ten_seconds = formatdate(time.time() + 10, usegmt=True)
        for text, least in {"3": 3, in_ten_seconds: 8, "": 0, "soon": 0, "-5": 0}.items():
            self.assertTrue(least <= pause(text) <= least + 3, text)
        self.assertEqual(pause("99999"), LONGEST_ASKED)
        self.assertLessEqual(_pause(1000, None), LONGEST_PAUSE)


if __name__ == "__main__":
    unittest.main()
