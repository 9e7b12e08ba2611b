// The options of a producer, and what holds where they say nothing.
import { routeDeclarations } from '@lead-scoring/contracts';
import type { RequestFailed, ServiceUnreachable } from '../errors.js';
import type { EventToSend } from '../ingest.js';
import type { ClientOptions } from '../send.js';
import type { BatchLimits } from './queue.js';

export interface ProducerOptions extends ClientOptions {
  /** Events in a request, 1 to 5,000; default 1,000. */
  batchEvents?: number;
  /** Bytes of the events in a request before it is compressed, up to 5,000,000; default 1,000,000. */
  batchBytes?: number;
  /** The longest time that an event waits for others to fill its batch; default 500 ms. */
  lingerMs?: number;
  /** Requests at a time; default 1. With more, events may be logged in another order than they were sent in. */
  concurrency?: number;
  /** Bytes of events in the queue; default 64 MB in memory, 1 GB on disk. */
  maximumBytes?: number;
  /** What `send` does when the queue is full: wait for room (default), or drop the event. */
  whenFull?: 'wait' | 'drop';
  /** Keeps the queue in files: what was not answered when the process ended is sent by the next one. Default: in memory. */
  disk?: {
    /** A folder for this producer alone, on a disk of its own machine. */
    folder: string;
    /** Whether `send` waits until the disk has the event, so that it outlives a loss of power, and not only of the process. Default false. */
    sync?: boolean;
  };
  /** Called with each event that will not be sent again, and why. */
  onDropped?: (dropped: DroppedEvents) => void;
  /** Called before a batch is sent again, and when a queue on disk fails. */
  onRetry?: (why: Error, waitMs: number) => void;
}

export interface DroppedEvents {
  /**
   * `full`: there was no room. `invalid`: the API refused the event, `errors` says what to change. `refused`: the API refused the request,
   * `cause` says why. `closed`: the producer was closed before it was answered. `unreadable`: damaged on disk; `events` has texts.
   */
  reason: 'full' | 'invalid' | 'refused' | 'closed' | 'unreadable';
  events: readonly (EventToSend | string)[];
  errors?: readonly { path: string; message: string }[];
  cause?: RequestFailed | ServiceUnreachable;
}

export interface ProducerSettings {
  limits: BatchLimits;
  lingerMs: number;
  concurrency: number;
  maximumBytes: number;
  whenFull: 'wait' | 'drop';
}

/** The size of a request that stays below the API's limit. */
const largestBatchBytes = 5_000_000;

/** @throws RangeError that names the option and what is allowed */
export function settingsOf(options: ProducerOptions): ProducerSettings {
  const { events } = routeDeclarations.intakeLimits;
  const number = (name: keyof ProducerOptions, standard: number, least: number, most: number): number => {
    const value = options[name] ?? standard;
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
    throw new RangeError(`${name} must be a whole number from ${least} to ${most}`);
  };
  const { whenFull = 'wait' } = options;
  if (!['wait', 'drop'].includes(whenFull)) throw new RangeError('whenFull must be "wait" or "drop"');
  return {
    limits: {
      events: number('batchEvents', 1_000, 1, events),
      bytes: number('batchBytes', 1_000_000, 1, largestBatchBytes),
    },
    lingerMs: number('lingerMs', 500, 0, 60_000),
    concurrency: number('concurrency', 1, 1, 32),
    maximumBytes: number(
      'maximumBytes',
      options.disk ? 1_000_000_000 : 64_000_000,
      1,
      Number.MAX_SAFE_INTEGER,
    ),
    whenFull,
  };
}
