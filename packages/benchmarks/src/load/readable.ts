// Detects when accepted events are readable, or have caused a notification. Every way costs the contender almost no time.
import {
  decodePosition,
  encodePosition,
  laterPosition,
  leadIdOf,
  type NotificationPayload,
  type Position,
} from '@lead-scoring/contracts';
import { createServer } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { openConnections, type Target } from './connection.js';

/**
 * min-position: a read with the position of the 202 waits on the server until that position is visible;
 * progress: the consumer reports the offset up to which it has written each partition;
 * webhook: the load generator receives the notification on this port.
 */
export type ReadableBy =
  | { way: 'min-position'; target: Target; ouId: string }
  | { way: 'progress'; target: Target }
  | { way: 'webhook'; port: number; ouId: string };

/** Accepted events, described for each of the ways. */
interface AcceptedEvents {
  /** The last position that the answers of POST /ingest named. */
  mark: Position;
  /** The alias of one of the leads. */
  alias: string;
  /** Its kind; absent: email. */
  aliasKind?: string | undefined;
  /** How many events this contender has accepted since it was started; 0 where the mark alone decides. */
  acceptedSinceStart: number;
}

export interface Reader {
  /**
   * Resolves when the accepted events are readable, with the time by performance.now().
   * @throws Error when they are not readable in time
   */
  untilReadable(accepted: AcceptedEvents, timeoutMs: number): Promise<number>;
  close(): void;
}

/** The position in the log that an answer of POST /ingest contains. */
export function markOf(answer: { position: string }): Position {
  const mark = decodePosition(answer.position);
  if (!mark) throw new Error(`not a position: ${answer.position}`);
  return mark;
}

export function joinMarks(marks: readonly Position[]): Position {
  return marks.reduce(laterPosition, new Map());
}

/** The answer of the naive wiring's consumer to GET /progress. */
export interface Progress {
  /** The number of events written since the start. */
  events: number;
  /** Pairs of a partition and its next offset to write. */
  offsets: [number, number][];
}

const pollIntervalMs = 10;

export function openReader(by: ReadableBy): Reader {
  switch (by.way) {
    case 'min-position':
      return positionReader(by.target, by.ouId);
    case 'progress':
      return progressReader(by.target);
    case 'webhook':
      return webhookReceiver(by.port, by.ouId);
  }
}

function positionReader(target: Target, ouId: string): Reader {
  const connections = openConnections(target, 64);
  return {
    untilReadable: async ({ mark, alias, aliasKind = 'email' }, timeoutMs) => {
      const deadline = Date.now() + timeoutMs;
      const path = `/score/${leadIdOf(ouId, aliasKind, alias)}?min_position=${encodePosition(mark)}`;
      for (;;) {
        const answer = await connections.send('GET', path);
        if (answer.status === 200) return performance.now();
        // 503 and 504: not visible within the system's own time limit.
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
    resolve: (at: number) => void;
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
          progress.events >= one.accepted.acceptedSinceStart &&
          [...one.accepted.mark].every(([partition, offset]) => BigInt(written.get(partition) ?? 0) > offset);
        if (!done && Date.now() < one.until) continue;
        waiting.delete(one);
        if (done) one.resolve(performance.now());
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

/** Receives notifications; the first one of a lead counts. */
function webhookReceiver(port: number, ouId: string): Reader {
  /** By lead: the time of the notification's first byte, and its id. */
  const notified = new Map<string, { at: number; id: string | undefined }>();
  const waiting = new Map<string, (at: number) => void>();
  let problem: Error | undefined;
  const server = createServer((req, res) => {
    const at = performance.now();
    const parts: Buffer[] = [];
    req.on('data', (part: Buffer) => parts.push(part));
    req.on('end', () => {
      res.writeHead(200).end();
      const payload = JSON.parse(Buffer.concat(parts).toString()) as NotificationPayload;
      if (!('lead' in payload.data)) return;
      const lead = payload.data.lead.id;
      const id = req.headers['webhook-id'] as string | undefined;
      const known = notified.get(lead);
      if (known && known.id !== id) problem = new Error(`lead ${lead} caused two notifications`);
      if (known) return;
      notified.set(lead, { at, id });
      waiting.get(lead)?.(at);
      waiting.delete(lead);
    });
  });
  server.on('error', (error) => (problem = error));
  server.listen(port, '127.0.0.1');
  return {
    untilReadable: async ({ alias }, timeoutMs) => {
      const lead = leadIdOf(ouId, 'email', alias);
      const at =
        notified.get(lead)?.at ??
        (await new Promise<number>((resolve, reject) => {
          const late = setTimeout(
            () => reject(new Error(`no notification of ${alias} within ${timeoutMs} ms`)),
            timeoutMs,
          );
          waiting.set(lead, (moment) => {
            clearTimeout(late);
            resolve(moment);
          });
        }));
      if (problem) throw problem;
      return at;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
