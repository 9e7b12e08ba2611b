// The decisions on records of ingest alone, without ticks of decay rules, for tests of units that have none.
import type { CausedEvent, LeadEvent } from '../scores/messages.js';

export function causedEvents(decided: readonly LeadEvent[]): CausedEvent[] {
  return decided.flatMap((event) => (event.type === 'ScoreAdjusted' ? [] : [event]));
}
