// The commands that intake decides on, the events that it appends, and its decision on one batch of commands.
import { records, type ProblemCode } from '@lead-scoring/contracts';

export type IntakeEvent =
  | { type: 'EventsIngested'; payload: records.EventsIngested }
  | { type: 'AliasClaimed'; payload: records.AliasClaimed }
  | { type: 'AliasLinked'; payload: records.AliasLinked }
  | { type: 'LeadDeleted'; payload: records.LeadDeleted }
  | { type: 'EventsRemembered'; payload: records.EventsRemembered }
  | { type: 'RepeatsDropped'; payload: records.RepeatsDropped }
  | { type: 'AliasesRefused'; payload: records.AliasesRefused };

export type IntakeCommand =
  | { type: 'IngestEvents'; payload: records.IngestEvents }
  | { type: 'LinkAlias'; payload: records.LinkAlias }
  | { type: 'JoinLead'; payload: records.JoinLead }
  | { type: 'DeleteLead'; payload: records.DeleteLead }
  | { type: 'UnlinkAlias'; payload: records.UnlinkAlias }
  | { type: 'RememberEvents'; payload: records.RememberEvents };

export const intakeEvents = {
  EventsIngested: records.eventsIngested,
  AliasClaimed: records.aliasClaimed,
  AliasLinked: records.aliasLinked,
  LeadDeleted: records.leadDeleted,
  EventsRemembered: records.eventsRemembered,
  RepeatsDropped: records.repeatsDropped,
  AliasesRefused: records.aliasesRefused,
};

export const intakeCommands = {
  IngestEvents: records.ingestEvents,
  LinkAlias: records.linkAlias,
  JoinLead: records.joinLead,
  DeleteLead: records.deleteLead,
  UnlinkAlias: records.unlinkAlias,
  RememberEvents: records.rememberEvents,
};

export interface IntakeDecision {
  events: IntakeEvent[];
  /**
   * Each goes to the partition of the lead under `lead_id`, and is decided there. `answers` is the command whose sender waits
   * for that decision.
   */
  commands: { lead_id: string; command: IntakeCommand; answers?: IntakeCommand }[];
  replies: { to: IntakeCommand; reply: IntakeReply }[];
}

export type IntakeReply = { outcome: 'done' } | { outcome: 'rejected'; code: ProblemCode; message: string };
