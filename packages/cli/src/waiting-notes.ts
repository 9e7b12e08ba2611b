// The notes of `lead-scoring ingest` on its waits, where there is no terminal for a progress bar, as in a scheduled job.
import { RequestFailed, type ServiceUnreachable } from '@lead-scoring/client';
import { duration, type Output } from './output.js';

/** Waits follow each other quickly when several requests are under way: one note in this time is enough. */
const pauseMs = 10_000;

/**
 * A function to call before each wait, which notes the reason and the time, and how many events are in.
 * It notes nothing where there is a terminal, whose progress bar shows the count.
 */
export function waitingNotes(
  output: Output,
  accepted: () => number,
  now: () => number = Date.now,
): (why: RequestFailed | ServiceUnreachable, waitMs: number) => void {
  let notedAt = -Infinity;
  return (why, waitMs) => {
    if (output.terminal || now() - notedAt < pauseMs) return;
    notedAt = now();
    const reason =
      why instanceof RequestFailed && why.status === 429
        ? 'The rate limit is reached'
        : 'The system does not take events now';
    output.note(`${reason}: waiting ${duration(Math.max(1, waitMs / 1_000))}. ${eventsIn(accepted())}\n`);
  };
}

/** A sentence on the events that were acknowledged. */
export function eventsIn(accepted: number): string {
  return `${accepted.toLocaleString('en')} ${accepted === 1 ? 'event is' : 'events are'} in.`;
}
