// The moments at which the points of decisions count, by the clock of the events. The other clock, that of the system, is
// `decided_at`: when the system learned of the points. Explanations and the course of a score share these functions. Pure.
import type { records } from '@lead-scoring/contracts';

/** The times in a decision. */
export interface DecisionTimes {
  decided_at: string;
  /** The moment that a decision without an event is about; absent: the moment at which it was decided. */
  as_of?: string | undefined;
  scored_events: readonly Pick<records.ScoredEvent, 'timestamp'>[];
}

/**
 * The moment at which an event counts: its own time. An event that its producer dates after the decision on it counts at the
 * decision: it had happened by then. So every decision counts in full at the moment of the last decision.
 */
export function momentOfEvent(
  { timestamp }: Pick<records.ScoredEvent, 'timestamp'>,
  { decided_at }: Pick<DecisionTimes, 'decided_at'>,
): string {
  return timestamp < decided_at ? timestamp : decided_at;
}

/**
 * The moment at which the adjustments of a decision count: the moment of the latest event that gave points in the decision, so
 * that no points are taken back before they count. Without such an event, the moment that the decision is about.
 */
export function momentOfAdjustments({ decided_at, as_of, scored_events }: DecisionTimes): string {
  const [first, ...others] = scored_events;
  if (!first) return as_of !== undefined && as_of < decided_at ? as_of : decided_at;
  return others.reduce(
    (latest, event) => {
      const moment = momentOfEvent(event, { decided_at });
      return moment > latest ? moment : latest;
    },
    momentOfEvent(first, { decided_at }),
  );
}

/** The earliest moment of a range of hours before a moment; not before the year 0, which ISO 8601 writes in four digits. */
export function startOfRange({ at, range_hours }: { at: string; range_hours: number }): string {
  return new Date(Math.max(Date.parse(at) - range_hours * 3_600_000, -62_167_219_200_000)).toISOString();
}
