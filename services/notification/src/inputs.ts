// The records that firing and delivery tell apart by their type.
import type { ReadTable } from '@lead-scoring/capability';

export const deliveryCommands = {
  RequestNotification: 'taken',
  TestChannel: 'taken',
  RecordAttempt: 'taken',
  ResumeChannel: 'taken',
  RedeliverNotification: 'taken',
  RedeliverNotifications: 'taken',
  ForgetLead: 'taken',
  BeginDelivery: 'taken',
} as const;

export const firingInputs = {
  'scoring.events': {
    LeadScored: 'taken',
    LeadRemoved: 'taken',
    // The explanations' projector folds these, and firing reads them there.
    RulesetCreated: 'ignored',
    RulesetUpdated: 'ignored',
    RuleCreated: 'ignored',
    RulesActivationChanged: 'ignored',
    EngagementLevelsSet: 'ignored',
  },
  'ingest.events': {
    EventsIngested: 'taken',
    LeadDeleted: 'taken',
    // No trigger is about aliases, and a repeat has fired what it fires.
    AliasClaimed: 'ignored',
    AliasLinked: 'ignored',
    EventsRemembered: 'ignored',
    RepeatsDropped: 'ignored',
    AliasesRefused: 'ignored',
  },
} as const satisfies ReadTable;
