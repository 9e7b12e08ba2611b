// What the notification service reads, by the part of it that takes the records.
import type { InputTable } from '@lead-scoring/event-log';

export const configurationCommands = {
  CreateChannel: 'taken',
  ReplaceChannel: 'taken',
  DeleteChannel: 'taken',
  RotateChannelSecret: 'taken',
  CreateTrigger: 'taken',
  ReplaceTrigger: 'taken',
  DeleteTrigger: 'taken',
} as const;

/** Of all configurations of the partition. */
export const resealingCommands = { ResealSecrets: 'taken' } as const;

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
} as const satisfies InputTable;

export const notificationInputs = {
  ...firingInputs,
  'notification.commands': { ...configurationCommands, ...resealingCommands, ...deliveryCommands },
} as const satisfies InputTable;
