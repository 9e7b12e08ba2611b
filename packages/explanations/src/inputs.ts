// The event types that explanations are folded from.
import type { InputTable } from '@lead-scoring/event-log';

export const explanationInputs = {
  'scoring.events': {
    LeadScored: 'taken',
    LeadRemoved: 'taken',
    RulesetCreated: 'taken',
    RulesetUpdated: 'taken',
    RuleCreated: 'taken',
    RulesActivationChanged: 'taken',
    EngagementLevelsSet: 'taken',
  },
} as const satisfies InputTable;
