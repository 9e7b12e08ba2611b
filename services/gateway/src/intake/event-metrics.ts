// Counts what becomes of the events that producers send, once a request.
import { metricDeclarations } from '@lead-scoring/contracts';
import { counterOf, ProblemError } from '@lead-scoring/service';

const outcomes = ['accepted', 'invalid', 'over_quota', 'not_written'] as const;
type Outcome = (typeof outcomes)[number];

export type CountEvents = (outcome: Outcome, events: number) => void;

/** Each outcome is there from the start, with 0. */
export function createEventCounter(): CountEvents {
  const add = counterOf(metricDeclarations.sentEvents);
  for (const outcome of outcomes) add(0, { outcome });
  return (outcome, events) => {
    if (events > 0) add(events, { outcome });
  };
}

/** Reports how the write of a request's events ended, and resolves or rejects like the write. */
export async function countOutcome<Written>(
  write: Promise<Written>,
  report: (outcome: Outcome) => void,
): Promise<Written> {
  try {
    const written = await write;
    report('accepted');
    return written;
  } catch (error) {
    report(error instanceof ProblemError && error.status === 429 ? 'over_quota' : 'not_written');
    throw error;
  }
}
