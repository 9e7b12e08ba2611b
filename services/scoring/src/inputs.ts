// What the scoring service reads.
import type { InputTable } from '@lead-scoring/event-log';

export const scoringInputs = {
  'ingest.events': {
    EventsIngested: 'taken',
    LeadDeleted: 'taken',
    // The events themselves come under the lead that an alias is linked to; a dropped repeat gives no points.
    AliasClaimed: 'ignored',
    AliasLinked: 'ignored',
    EventsRemembered: 'ignored',
    RepeatsDropped: 'ignored',
    AliasesRefused: 'ignored',
  },
  'scoring.commands': {
    CreateRuleset: 'taken',
    UpdateRuleset: 'taken',
    CreateRule: 'taken',
    SetRulesActive: 'taken',
    SetEngagementLevels: 'taken',
  },
} as const satisfies InputTable;
