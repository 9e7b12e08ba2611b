// The event types that explanations are folded from.
import type { ReadTable } from '@lead-scoring/capability';

export const explanationReads = {
  'scoring.events': {
    LeadScored: 'taken',
    LeadRemoved: 'taken',
    RulesetCreated: 'taken',
    RulesetUpdated: 'taken',
    RuleCreated: 'taken',
    RulesActivationChanged: 'taken',
    EngagementLevelsSet: 'taken',
  },
} as const satisfies ReadTable;
