// How a contender tells that what it accepted can be read. Both ways cost it next to nothing.
import {
  decodePosition,
  encodePosition,
  laterPosition,
  leadIdOf,
  type Position,
} from '@lead-scoring/contracts';
import { setTimeout as pause } from 'node:timers/promises';
import { openConnections, type Target } from './connection.js';

/**
 * min-position: a read that names the mark of the 202 waits on the server until the mark is visible;
 * progress: the consumer says up to which offset of each partition it has written.
 */
export type ReadableBy =
  { way: 'min-position'; target: Target; ouId: string } | { way: 'progress'; target: Target };

/** What was accepted, in the terms of both ways. */
interface AcceptedEvents {
  /** As far as the answers of POST /ingest reached. */
  mark: Position;
  /** The alias of one of the leads. */
  alias: string;
  /** How many events this contender accepted since it was started; 0 where the mark says enough. */
  inAll: number;
}

export interface Reader {
  /**
   * Resolves when what was accepted is readable.
   * @throws Error when it is not within the time
   */
  untilReadable(accepted: AcceptedEvents, timeoutMs: number): Promise<void>;
  close(): void;
}

/** The mark in the log that an answer of POST /ingest carries. */
export function markOf(answer: { position: string }): Position {
  const mark = decodePosition(answer.position);
  if (!mark) throw new Error(`not a position: ${answer.position}`);
  return mark;
}

export function joinMarks(marks: readonly Position[]): Position {
  return marks.reduce(laterPosition, new Map());
}

/** What the naive wiring's consumer answers to GET /progress. */
export interface Progress {
  /** Events written since it was started. */
  events: number;
  /** By partition, the offset that comes next. */
  offsets: [number, number][];
}

const pollIntervalMs = 10;

export function openReader(by: ReadableBy): Reader {
  return by.way === 'min-position' ? positionReader(by.target, by.ouId) : progressReader(by.target);
}

function positionReader(target: Target, ouId: string): Reader {
  const connections = openConnections(target, 64);
  return {
    untilReadable: async ({ mark, alias }, timeoutMs) => {
      const deadline = Date.now() + timeoutMs;
      const path = `/score/${leadIdOf(ouId, 'email', alias)}?min_position=${encodePosition(mark)}`;
      for (;;) {
        const answer = await connections.send('GET', path);
        if (answer.status === 200) return;
        // 503 and 504: not visible within the limits of the system's own.
        if ((answer.status !== 503 && answer.status !== 504) || Date.now() > deadline)
          throw new Error(
            `not readable after ${timeoutMs} ms: ${answer.status} ${answer.text.slice(0, 500)}`,
          );
        await pause(pollIntervalMs);
      }
    },
    close: () => connections.close(),
  };
}

function progressReader(target: Target): Reader {
  const connections = openConnections(target, 1);
  const waiting = new Set<{
    accepted: AcceptedEvents;
    resolve: () => void;
    reject: (error: Error) => void;
    until: number;
  }>();
  let polling = false;

  const poll = async () => {
    polling = true;
    while (waiting.size > 0) {
      const { text } = await connections.send('GET', '/progress');
      const progress = JSON.parse(text) as Progress;
      const written = new Map(progress.offsets);
      for (const one of waiting) {
        const done =
          progress.events >= one.accepted.inAll &&
          [...one.accepted.mark].every(([partition, offset]) => BigInt(written.get(partition) ?? 0) > offset);
        if (!done && Date.now() < one.until) continue;
        waiting.delete(one);
        if (done) one.resolve();
        else one.reject(new Error(`not readable in time: written up to ${text}`));
      }
      await pause(pollIntervalMs);
    }
    polling = false;
  };
  return {
    untilReadable: (accepted, timeoutMs) =>
      new Promise((resolve, reject) => {
        waiting.add({ accepted, resolve, reject, until: Date.now() + timeoutMs });
        if (!polling)
          poll().catch((error: unknown) => {
            for (const one of waiting) one.reject(error instanceof Error ? error : new Error(String(error)));
            waiting.clear();
            polling = false;
          });
      }),
    close: () => connections.close(),
  };
}
