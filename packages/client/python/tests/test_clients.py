"""Tests of the clients' time limit."""

import socket
import unittest
from uuid import UUID

import httpx

from lead_scoring import AuthenticatedClient, Client
from lead_scoring.rest.api.leads import get_score


class TimeLimit(unittest.TestCase):
    def test_a_client_waits_thirty_seconds(self):
        for client in (Client(base_url="http://localhost"), AuthenticatedClient(base_url="http://localhost", token="t")):
            self.assertEqual(client.get_httpx_client().timeout, httpx.Timeout(30))
            self.assertEqual(client.with_headers({"X-Team": "a"}).get_httpx_client().timeout, httpx.Timeout(30))

    def test_a_call_ends_where_no_answer_comes(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address = f"http://127.0.0.1:{silent.getsockname()[1]}"
            client = AuthenticatedClient(base_url=address, token="t", timeout=httpx.Timeout(0.2))
            with self.assertRaises(httpx.ReadTimeout):
                get_score.sync(UUID(int=1), client=client)
