// The decisions on a lead as they are shown after events of a type were deleted: these events are in none of them, and what they had given
// is one sum, so that a score of before is told as it was. Pure.
import { eventTypeKey, type records } from '@lead-scoring/contracts';
import { momentOfEvent } from './moments.js';
import { isOfEvents, pointsOfEvent } from './scored-points.js';

/** The parts of a decision that deletions concern. */
export interface DeletableDecision {
  readonly decided_at: string;
  readonly as_of?: string | undefined;
  readonly scored_events?: readonly records.ScoredEvent[];
  readonly adjustments?: readonly records.ScoreAdjustment[] | undefined;
  readonly source?: records.LeadScored['source'];
  readonly deleted?: records.ScoreAdjusted['deleted'];
}

/** @param decisions all decisions on one lead, in their order; the same list where no events were deleted */
export function withoutDeletedEvents<Decision extends DeletableDecision>(
  decisions: readonly Decision[],
): readonly Decision[] {
  const left: Decision[] = [];
  /** By the key of the type: the offset before which its events are deleted. */
  const deleted = new Map<string, number>();
  // From the end, because a deletion concerns what was decided before it.
  for (const decision of [...decisions].reverse()) {
    if (decision.deleted) {
      const key = eventTypeKey(decision.deleted.event_type);
      deleted.set(key, Math.max(deleted.get(key) ?? 0, decision.deleted.before));
    }
    left.push(deleted.size === 0 ? decision : withoutTypes(decision, deleted));
  }
  return deleted.size === 0 ? decisions : left.reverse();
}

function withoutTypes<Decision extends DeletableDecision>(
  decision: Decision,
  deleted: ReadonlyMap<string, number>,
): Decision {
  const { scored_events = [], adjustments = [], source, decided_at } = decision;
  const offset = source?.offset ?? 0;
  const isDeleted = ({ event_type }: records.ScoredEvent) =>
    offset < (deleted.get(eventTypeKey(event_type)) ?? 0);
  const gone = scored_events.filter(isDeleted);
  if (gone.length === 0) return decision;
  const events = scored_events.filter((event) => !isDeleted(event));
  const points = gone.reduce((sum, event) => sum + pointsOfEvent(event), 0);
  const latest = gone
    .map((event) => momentOfEvent(event, { decided_at }))
    .sort()
    .at(-1);
  const sum: records.ScoreAdjustment = { reason: 'events_deleted', points };
  return {
    ...decision,
    scored_events: events,
    // What limits held back is summed up by event where events are left.
    adjustments: [...adjustments.filter((one) => !isOfEvents(one)), sum],
    ...(events.length === 0 && decision.as_of === undefined && { as_of: latest }),
  };
}
