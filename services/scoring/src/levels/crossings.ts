// The crossings of levels that decisions come to, each right after its decision: pure. They are recorded once, with the decision,
// and never looked for again.
import type { records } from '@lead-scoring/contracts';
import { crossingOf, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import type { LeadEvent, ScoreEvent } from '../scores/messages.js';

type Levels = ScoringConfiguration['levels'];

/**
 * The events of a batch with the crossings that follow its decisions.
 * @param levelsOf an OU's levels in the version of the configuration that decided
 */
export function withCrossings(
  events: readonly LeadEvent[],
  levelsOf: (ouId: string) => Levels,
): readonly ScoreEvent[] {
  const followed: ScoreEvent[] = [];
  for (const event of events) {
    followed.push(event);
    if (event.type !== 'LeadScored') continue;
    const payload = levelChangeOf(event.payload, levelsOf(event.payload.ou_id));
    if (payload) followed.push({ type: 'LeadLevelChanged', payload });
  }
  return followed;
}

/** null: the decision leaves the lead in its level. */
function levelChangeOf(decision: records.LeadScored, levels: Levels): records.LeadLevelChanged | null {
  const { previous_score, score } = decision;
  const crossing = crossingOf(levels, decision.new_lead ? null : previous_score, score);
  if (!crossing) return null;
  const { ou_id, lead_id, configuration_version, decided_at, fire_triggers } = decision;
  return {
    ou_id,
    lead_id,
    score_type: 'engagement',
    ...crossing,
    previous_score,
    score,
    configuration_version,
    changed_at: decided_at,
    cause: 'events',
    fire_triggers,
  };
}
