// The loop of a producer: takes batches from the queue when they are due, and sends a few at a time.
import { dueIn, type UntakenEvents } from './batching.js';
import { bell } from './bell.js';
import { deliverer, type Deliver } from './delivery.js';
import { flushes } from './flushes.js';
import type { DroppedEvents, ProducerOptions, ProducerSettings } from './options.js';
import type { BatchLimits, EventQueue, QueuedBatch } from './queue.js';

export interface Sending {
  /** An event was added to the queue. */
  added: () => void;
  /** An event that was added is written, or could not be. */
  written: () => void;
  /** What to call when the queue may have room. */
  onRoom(letIn: () => void): void;
  /** Resolves when the events of now are answered, or sending has ended. */
  flush(): Promise<void>;
  /** Resolves when nothing is left to send, or sending was stopped. No event may be added any more. */
  end(): Promise<void>;
}

/** How long to wait until a queue is asked again whose events are not written yet, and one that has failed. */
const askAgainMs = 20;
const failedMs = 1_000;

export function startSending(
  options: ProducerOptions,
  settings: ProducerSettings,
  queue: EventQueue,
  stop: AbortSignal,
  dropped: (events: DroppedEvents) => void,
): Sending {
  const { limits, lingerMs, concurrency } = settings;
  const deliver = deliverer(options, stop, dropped);
  const { ring, wait } = bell();
  const [waiting, untaken] = [flushes(queue), untakenEvents(queue)];
  let letIn = () => {};
  let isEnding = false;
  stop.addEventListener('abort', ring);

  const want = (until: number) => {
    untaken.want(until);
    ring();
  };
  const settled = () => {
    waiting.check();
    letIn();
  };
  const { running, takeBatch } = batchSender(queue, settings, deliver, {
    took: untaken.took,
    settled,
    failed: (error) => options.onRetry?.(asError(error), failedMs),
  });
  const loop = async () => {
    while (!stop.aborted && !(isEnding && queue.taken >= queue.end)) {
      const due = dueIn(untaken.now(), limits, lingerMs, Date.now());
      if (due !== 0) await wait(due ?? undefined);
      else if (running.size >= concurrency) await Promise.race(running);
      else await takeBatch().then((pauseMs) => (pauseMs > 0 ? wait(pauseMs) : undefined));
    }
    await Promise.all(running);
    waiting.end();
  };
  const ended = loop();

  return {
    added() {
      if (untaken.added(limits)) ring();
    },
    written() {
      settled();
      if (isEnding) ring();
    },
    onRoom(call) {
      letIn = call;
    },
    flush() {
      want(queue.end);
      return waiting.wait();
    },
    end() {
      isEnding = true;
      want(Infinity);
      return ended;
    },
  };
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));

interface BatchEvents {
  took: (events: number) => void;
  settled: () => void;
  /** The queue has failed. */
  failed: (error: unknown) => void;
}

/** Takes one batch after the other, and sends it without waiting for its answer. */
function batchSender(queue: EventQueue, { limits }: ProducerSettings, deliver: Deliver, events: BatchEvents) {
  const running = new Set<Promise<void>>();
  const send = async (batch: QueuedBatch): Promise<void> => {
    if (batch.lines.length > 0 && (await deliver(batch.lines)) === 'stopped') return;
    await queue.settle(batch).catch(events.failed);
    events.settled();
  };
  /** @returns how long to wait before the next one, in milliseconds */
  const takeBatch = async (): Promise<number> => {
    try {
      const batch = await queue.take(limits);
      if (!batch) return askAgainMs;
      events.took(batch.lines.length);
      const sent: Promise<void> = send(batch).finally(() => running.delete(sent));
      running.add(sent);
      return 0;
    } catch (error) {
      events.failed(error);
      return failedMs;
    }
  };
  return { running, takeBatch };
}

/** Counts what no batch has yet. What an earlier process has left is wanted from the beginning. */
function untakenEvents(queue: EventQueue) {
  let events = 0;
  let since: number | null = null;
  let wantedUntil = queue.end;
  return {
    /** @returns whether another time applies: the first event sets it, and a full batch is due at once */
    added(limits: BatchLimits) {
      events += 1;
      since ??= Date.now();
      return events === 1 || events >= limits.events || queue.end - queue.taken >= limits.bytes;
    },
    took: (count: number) => {
      const isMore = queue.taken < queue.end;
      events = isMore ? Math.max(0, events - count) : 0;
      since = isMore ? Date.now() : null;
    },
    want(until: number) {
      wantedUntil = Math.max(wantedUntil, until);
    },
    now: (): UntakenEvents => ({
      events,
      since,
      bytes: queue.end - queue.taken,
      wanted: queue.taken < wantedUntil,
    }),
  };
}
