// A producer: events are handed to it one by one, and it sends them in batches until each is answered. Each event gets its id before it is
// first sent, so an event that is sent again, also after a crash, counts once.
import { randomUUID } from 'node:crypto';
import type { EventToSend } from '../ingest.js';
import { admission } from './admission.js';
import { eventsOf } from './delivery.js';
import { openDiskQueue } from './disk-queue.js';
import { lockFolder } from './folder-lock.js';
import { createMemoryQueue } from './memory-queue.js';
import { settingsOf, type DroppedEvents, type ProducerOptions, type ProducerSettings } from './options.js';
import type { EventQueue } from './queue.js';
import { startSending } from './sending.js';

export interface Producer {
  /**
   * Takes an event; resolves when it is in the queue. In a full queue it waits for room, or drops the event, as `whenFull` says. An event
   * without an `event_id` gets a random one, and one without a `timestamp` the time of now.
   * @throws ProducerClosed after `close`, and Error when a queue on disk cannot be written
   */
  send(event: EventToSend): Promise<void>;
  /** Sends what is in the queue now, without waiting for full batches; resolves when all of it is answered. */
  flush(): Promise<void>;
  /**
   * Takes no more events, and sends what is in the queue, for 30 s or the time given. What is not answered by then stays on disk, or is
   * dropped.
   * @returns whether every event was answered
   */
  close(options?: { timeoutMs?: number }): Promise<boolean>;
  /** Bytes of events that are not answered yet. */
  readonly queuedBytes: number;
}

/** The producer takes no more events: it was closed. */
export class ProducerClosed extends Error {
  override readonly name = 'ProducerClosed';
}

/** Bytes after which a file of a queue on disk is followed by another. */
const segmentBytes = 8_000_000;

/**
 * Starts a producer. With `disk`, it first sends what an earlier process has left there.
 * @throws RangeError for an option that is not allowed, and Error when the folder is that of another producer, or cannot be written
 */
export async function createProducer(options: ProducerOptions): Promise<Producer> {
  const settings = settingsOf(options);
  const dropped = (events: DroppedEvents) => {
    // What the callback throws is the caller's, and ends no batch.
    if (options.onDropped) queueMicrotask(() => options.onDropped?.(events));
  };
  if (!options.disk) return run(options, settings, createMemoryQueue(settings.maximumBytes), dropped);
  const { folder, sync = false } = options.disk;
  const unlock = await lockFolder(folder);
  try {
    const queue = await openDiskQueue({
      folder,
      sync,
      maximumBytes: settings.maximumBytes,
      segmentBytes,
      onUnreadable: (events) => dropped({ reason: 'unreadable', events }),
    });
    return run(options, settings, queue, dropped, unlock);
  } catch (error) {
    await unlock();
    throw error;
  }
}

function run(
  options: ProducerOptions,
  settings: ProducerSettings,
  queue: EventQueue,
  dropped: (events: DroppedEvents) => void,
  release: () => Promise<void> = () => Promise.resolve(),
): Producer {
  const stop = new AbortController();
  const sending = startSending(options, settings, queue, stop.signal, dropped);
  const door = admission(queue, settings.whenFull, sending.added);
  sending.onRoom(door.letIn);
  let closing: Promise<boolean> | null = null;

  const close = async (timeoutMs: number): Promise<boolean> => {
    door.shut(new ProducerClosed('the producer was closed'));
    const timer = setTimeout(() => {
      stop.abort(new ProducerClosed('the producer was closed before its events were answered'));
    }, timeoutMs);
    await sending.end();
    clearTimeout(timer);
    const isDone = queue.settled >= queue.end;
    const left = await queue.close();
    if (left.length > 0) dropped({ reason: 'closed', events: eventsOf(left) });
    await release();
    return isDone;
  };

  return {
    get queuedBytes() {
      return queue.bytes;
    },
    async send(event) {
      const { event_id = randomUUID(), timestamp = new Date().toISOString() } = event;
      const whole = { ...event, event_id, timestamp };
      const isTaken = await door.admit(JSON.stringify(whole)).finally(sending.written);
      if (!isTaken) dropped({ reason: 'full', events: [whole] });
    },
    flush: () => sending.flush(),
    close: ({ timeoutMs = 30_000 } = {}) => (closing ??= close(timeoutMs)),
  };
}
