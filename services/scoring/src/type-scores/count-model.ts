// How many scored events of each type decisions have. Pure.
import { eventTypeKey, type records } from '@lead-scoring/contracts';

/** By the key of the type. */
export type TypeCounts = ReadonlyMap<string, number>;

/** The events of each type that a decision gave points, or that a rule matched for none. */
export function scoredTypesOf({ scored_events }: Pick<records.LeadScored, 'scored_events'>): TypeCounts {
  const counts = new Map<string, number>();
  for (const { event_type } of scored_events) {
    const key = eventTypeKey(event_type);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

export function sumOfCounts(all: Iterable<TypeCounts>): TypeCounts {
  const sum = new Map<string, number>();
  for (const counts of all) for (const [key, events] of counts) sum.set(key, (sum.get(key) ?? 0) + events);
  return sum;
}
