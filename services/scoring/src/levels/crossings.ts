// The crossings of levels that decisions come to, each right after its decision: pure. They are recorded once, with the decision,
// and never looked for again.
import type { LevelledScoreType, records } from '@lead-scoring/contracts';
import {
  causeOf,
  crossingOf,
  scoreTypeOf,
  type ScoreDecision,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import type { LeadEvent, ScoreEvent } from '../scores/messages.js';

type Levels = ScoringConfiguration['levels'];

/**
 * The events of a batch with the crossings that follow its decisions.
 * @param levelsOf an OU's levels of engagement or of profile scores, in the version of the configuration that decided
 */
export function withCrossings(
  events: readonly LeadEvent[],
  levelsOf: (ouId: string, scoreType: LevelledScoreType) => Levels,
): readonly ScoreEvent[] {
  const followed: ScoreEvent[] = [];
  for (const event of events) {
    followed.push(event);
    if (event.type === 'LeadRemoved') continue;
    const payload = levelChangeOf(event.payload, levelsOf);
    if (payload) followed.push({ type: 'LeadLevelChanged', payload });
  }
  return followed;
}

/** null: the decision leaves the lead in its level. */
function levelChangeOf(
  decision: ScoreDecision,
  levelsOf: Parameters<typeof withCrossings>[1],
): records.LeadLevelChanged | null {
  const [score_type, cause] = [scoreTypeOf(decision), causeOf(decision)];
  // Deal scores have no levels.
  if (score_type === 'deal' || cause === 'deal') return null;
  const levels = levelsOf(decision.ou_id, score_type);
  const { previous_score, score } = decision;
  const isNew = 'new_lead' in decision && decision.new_lead === true;
  const crossing = crossingOf(levels, isNew ? null : previous_score, score);
  if (!crossing) return null;
  const { ou_id, lead_id, configuration_version, decided_at, fire_triggers } = decision;
  return {
    ou_id,
    lead_id,
    score_type,
    ...crossing,
    previous_score,
    score,
    configuration_version,
    changed_at: decided_at,
    cause,
    fire_triggers,
  };
}
