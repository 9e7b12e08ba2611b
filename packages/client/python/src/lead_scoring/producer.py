"""A producer: events are handed to it one by one, and a thread sends them in gzipped batches until each is answered. Each event gets its id
before it is first sent, so an event that is sent again counts once."""

from __future__ import annotations

import gzip
import json
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Literal
from uuid import uuid4

import httpx

from lead_scoring.rest import AuthenticatedClient
from lead_scoring.rest.models import IngestedEvent, IngestedEventOfAliases, Problem

FIRST_PAUSE, LONGEST_PAUSE, LONGEST_ASKED = 0.2, 30.0, 300.0
"""Seconds between two tries: the first, the longest, and the longest that a Retry-After can cause."""

Event = IngestedEvent | IngestedEventOfAliases | Mapping[str, Any]


@dataclass(frozen=True)
class DroppedEvents:
    """Events that will not be sent again. `invalid`: the API refused the event, `errors` says what to change. `refused`: the API refused the
    request, `problem` says why. `closed`: the producer was closed before they were answered."""

    reason: Literal["invalid", "refused", "closed"]
    events: list[dict[str, Any]]
    errors: list[dict[str, str]] = field(default_factory=list)
    problem: Problem | None = None


class ProducerClosed(Exception):
    """The producer takes no more events: it was closed."""


class Producer:
    """Takes events from any thread. Used in a `with`, it sends what it has at the end.

    `batch_events`, `batch_bytes`: a request is sent when it has so many events (up to 5,000), or so many bytes before it is compressed.
    `linger`: or when its first event has waited so many seconds. `maximum_bytes`: of events that are not answered; beyond it `send` waits.
    `on_dropped`: told of events that will not be sent again, and why. It runs in the producer's thread, or in that of `close`.
    """

    def __init__(
        self,
        client: AuthenticatedClient,
        *,
        batch_events: int = 1_000,
        batch_bytes: int = 1_000_000,
        linger: float = 0.5,
        maximum_bytes: int = 64_000_000,
        on_dropped: Callable[[DroppedEvents], None] = lambda dropped: None,
    ) -> None:
        if not 1 <= batch_events <= 5_000:
            raise ValueError("batch_events must be from 1 to 5,000")
        if not 1 <= batch_bytes <= 5_000_000:
            raise ValueError("batch_bytes must be from 1 to 5,000,000")
        self._http = client.get_httpx_client()
        self._batch_events, self._batch_bytes, self._linger = batch_events, batch_bytes, linger
        self._maximum_bytes, self._on_dropped = maximum_bytes, on_dropped
        self._changed = threading.Condition()
        self._stopped = threading.Event()
        self._queue: deque[bytes] = deque()
        self._sending: list[bytes] = []
        self._waiting_since = 0.0
        # Bytes in the queue, and in the queue and the request together; then counts of events.
        self._queued_bytes = self._held_bytes = 0
        self._taken = self._answered = self._wanted = 0
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="lead-scoring-producer", daemon=True)
        self._thread.start()

    def send(self, event: Event) -> None:
        """Takes an event; waits while the queue is full. An event without an `event_id` gets a random one, and one without a `timestamp`
        the time of now. Raises ProducerClosed after `close`, and TypeError or ValueError for what JSON cannot hold."""
        whole = dict(event) if isinstance(event, Mapping) else event.to_dict()
        whole.setdefault("event_id", str(uuid4()))
        whole.setdefault("timestamp", datetime.now(timezone.utc).isoformat(timespec="milliseconds"))
        line = json.dumps(whole, allow_nan=False).encode()
        with self._changed:
            # An event beyond the bound has room in an empty queue.
            self._changed.wait_for(
                lambda: self._closing
                or self._held_bytes == 0
                or self._held_bytes + len(line) <= self._maximum_bytes
            )
            if self._closing:
                raise ProducerClosed("the producer was closed")
            if not self._queue:
                self._waiting_since = time.monotonic()
            self._queue.append(line)
            self._queued_bytes += len(line)
            self._held_bytes += len(line)
            self._taken += 1
            self._changed.notify_all()

    def flush(self, timeout: float | None = None) -> bool:
        """Sends what is in the queue now, without waiting for full batches; returns whether all of it was answered within `timeout`
        seconds."""
        with self._changed:
            target = self._taken
            self._wanted = max(self._wanted, target)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._stopped.is_set() or self._answered >= target, timeout)
            return self._answered >= target

    def close(self, timeout: float = 30.0) -> bool:
        """Takes no more events, and sends what is in the queue, for `timeout` seconds; what is not answered by then is dropped. Returns
        whether every event was answered."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(timeout)
        with self._changed:
            self._stopped.set()
            left = [*self._sending, *self._queue]
            self._sending = []
            self._queue.clear()
            self._changed.notify_all()
        if left:
            self._on_dropped(DroppedEvents("closed", [json.loads(line) for line in left]))
        return not left

    def __enter__(self) -> Producer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        while self._take_batch():
            dropped = self._deliver(self._sending)
            with self._changed:
                if self._stopped.is_set():
                    return
                self._answered += len(self._sending)
                self._held_bytes -= sum(map(len, self._sending))
                self._sending = []
                self._changed.notify_all()
            for one in dropped:
                try:
                    self._on_dropped(one)
                except Exception as error:  # What the callback raises is the caller's, and ends no batch.
                    threading.excepthook(
                        threading.ExceptHookArgs((type(error), error, error.__traceback__, self._thread))
                    )

    def _take_batch(self) -> bool:
        """Waits until a batch is due; False when the producer has ended."""
        with self._changed:
            while (due := self._due_in()) is None or due > 0:
                if self._stopped.is_set() or (self._closing and not self._queue):
                    return False
                self._changed.wait(due)
            size = 0
            while self._queue and len(self._sending) < self._batch_events:
                size += len(self._queue[0])
                if self._sending and size > self._batch_bytes:
                    break
                self._sending.append(self._queue.popleft())
            self._queued_bytes -= sum(map(len, self._sending))
            self._waiting_since = time.monotonic()
            return True

    def _due_in(self) -> float | None:
        """Seconds until the next batch is due: 0 for now, None when nothing waits."""
        if not self._queue or self._stopped.is_set():
            return None
        is_full = len(self._queue) >= self._batch_events or self._queued_bytes >= self._batch_bytes
        if is_full or self._closing or self._answered < self._wanted:
            return 0
        return max(0.0, self._waiting_since + self._linger - time.monotonic())

    def _deliver(self, lines: list[bytes]) -> list[DroppedEvents]:
        """Sends a batch until the API has answered for each of its events, or the producer is stopped; returns those that it refuses."""
        body = gzip.compress(b"[" + b",".join(lines) + b"]", compresslevel=1)
        headers = {
            "accept": "application/json",
            "content-type": "application/json",
            "content-encoding": "gzip",
            "idempotency-key": str(uuid4()),
        }
        failures = 0
        while not self._stopped.is_set():
            answer = self._post(body, headers)
            if (dropped := _outcome(answer, lines)) is not None:
                return dropped
            failures += 1
            self._stopped.wait(_pause(failures, answer))
        return []

    def _post(self, body: bytes, headers: dict[str, str]) -> httpx.Response | None:
        try:
            return self._http.post("/ingest", params={"partial": "true"}, content=body, headers=headers, timeout=30)
        except httpx.HTTPError:
            return None


def _outcome(answer: httpx.Response | None, lines: list[bytes]) -> list[DroppedEvents] | None:
    """The events that the answer refuses; None when the batch has to be sent again. An ended credential, a wrong address and an answer of
    another program are mended by an operator, and the events keep until then."""
    if answer is None or not (answer.is_success or answer.status_code in (400, 413, 415, 422)):
        return None
    try:
        body = answer.json()
        if answer.is_success:
            rejected = body.get("rejected", [])
            return [
                DroppedEvents("invalid", [json.loads(lines[one["index"]])], one["errors"]) for one in rejected
            ]
        return [DroppedEvents("refused", [json.loads(line) for line in lines], problem=Problem.from_dict(body))]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _pause(failures: int, answer: httpx.Response | None) -> float:
    """Seconds until the next try: exponential, minus up to a half, and never less than Retry-After asks."""
    backoff = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(failures - 1, 16))
    asked = _seconds(answer.headers.get("retry-after", "")) if answer is not None else 0.0
    return max(backoff * (0.5 + random.random() / 2), min(asked, LONGEST_ASKED))


def _seconds(retry_after: str) -> float:
    """Retry-After as seconds from now: it is a number of seconds, or a date."""
    try:
        if retry_after.strip().isdigit():
            return float(retry_after)
        return (parsedate_to_datetime(retry_after) - datetime.now(timezone.utc)).total_seconds()
    except (ValueError, TypeError):
        return 0.0
