// Counts and measures attempts to deliver, by the type of their channel.
import { metricDeclarations, type records } from '@lead-scoring/contracts';
import { counterOf, durationOf } from '@lead-scoring/service';
import type { DestinationType } from './senders/sender.js';

/** Bucket boundaries in seconds, up to the time limit of an attempt. */
const durationBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

export type AttemptMetrics = (
  channel: DestinationType,
  attempt: Pick<records.RecordAttempt, 'outcome' | 'attempt' | 'duration_ms'>,
) => void;

export function createAttemptMetrics(): AttemptMetrics {
  const count = counterOf(metricDeclarations.deliveryAttempts);
  const measure = durationOf(metricDeclarations.attemptDuration, durationBuckets);
  return (channel, { outcome, attempt, duration_ms }) => {
    count(1, { channel, outcome, attempt: attempt === 1 ? 'first' : 'repeat' });
    measure(duration_ms / 1_000, { channel });
  };
}
