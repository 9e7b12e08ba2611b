"""The generated clients, with a time limit: without one, httpx waits for an answer without end."""

import httpx

from lead_scoring import rest

TIME_LIMIT = httpx.Timeout(30)
"""Seconds for connecting, and for each wait of a call for bytes."""


class Client(rest.Client):
    """Calls of routes that need no credential."""

    def __init__(self, *args, timeout: httpx.Timeout | None = TIME_LIMIT, **options):
        super().__init__(*args, timeout=timeout, **options)


class AuthenticatedClient(rest.AuthenticatedClient):
    """Calls with a credential."""

    def __init__(self, *args, timeout: httpx.Timeout | None = TIME_LIMIT, **options):
        super().__init__(*args, timeout=timeout, **options)
