// The events of notification that define triggers. A kind of event that is new has to be named here: does it change a trigger?
import type { ReadTable } from '@lead-scoring/capability';

export const definitionReads = {
  'notification.events': {
    TriggerCreated: 'taken',
    TriggerReplaced: 'taken',
    TriggerDeleted: 'taken',
    // Where a trigger notifies has no part in when it fires.
    ChannelCreated: 'ignored',
    ChannelReplaced: 'ignored',
    ChannelSecretRotated: 'ignored',
    ChannelResealed: 'ignored',
    ChannelDeleted: 'ignored',
    MilestoneFired: 'ignored',
    SequenceFired: 'ignored',
    SurgeFired: 'ignored',
    TriggerRearmed: 'ignored',
    TriggerSuppressed: 'ignored',
    ActivityObserved: 'ignored',
    LeadForgotten: 'ignored',
    AccountMilestoneFired: 'ignored',
    AccountTriggerRearmed: 'ignored',
    AccountTriggerSuppressed: 'ignored',
    AccountForgotten: 'ignored',
    NotificationRequested: 'ignored',
    NotificationAttempted: 'ignored',
    NotificationsRedelivered: 'ignored',
    NotificationsForgotten: 'ignored',
    ChannelPaused: 'ignored',
    ChannelResumed: 'ignored',
    JobStarted: 'ignored',
    JobAdvanced: 'ignored',
    JobEnded: 'ignored',
    JobCancelled: 'ignored',
  },
} as const satisfies ReadTable;
