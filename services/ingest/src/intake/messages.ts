// The commands that intake decides on, the events that it appends, and its decision on one batch of commands.
import { records, type ProblemCode, type routeDeclarations } from '@lead-scoring/contracts';

export type IntakeEvent =
  | { type: 'EventsIngested'; payload: records.EventsIngested }
  | { type: 'AliasClaimed'; payload: records.AliasClaimed }
  | { type: 'AliasLinked'; payload: records.AliasLinked }
  | { type: 'AliasUnlinked'; payload: records.AliasUnlinked }
  | { type: 'LeadConflicted'; payload: records.LeadConflicted }
  | { type: 'LeadDeleted'; payload: records.LeadDeleted }
  | { type: 'LeadDivided'; payload: records.LeadDivided }
  | { type: 'LeadMetadataPatched'; payload: records.LeadMetadataPatched }
  | { type: 'EventsRemembered'; payload: records.EventsRemembered }
  | { type: 'RepeatsDropped'; payload: records.RepeatsDropped }
  | { type: 'EventsCounted'; payload: records.EventsCounted }
  | { type: 'AliasesRefused'; payload: records.AliasesRefused };

export type IntakeCommand =
  | { type: 'IngestEvents'; payload: records.IngestEvents }
  | { type: 'LinkAlias'; payload: records.LinkAlias }
  | { type: 'JoinLead'; payload: records.JoinLead }
  | { type: 'MergeLead'; payload: records.MergeLead }
  | { type: 'UnmergeLead'; payload: records.UnmergeLead }
  | { type: 'DivideLead'; payload: records.DivideLead }
  | { type: 'SendDivided'; payload: records.SendDivided }
  | { type: 'DeleteLead'; payload: records.DeleteLead }
  | { type: 'PatchLeadMetadata'; payload: records.PatchLeadMetadata }
  | { type: 'CarryLeadMetadata'; payload: records.CarryLeadMetadata }
  | { type: 'UnlinkAlias'; payload: records.UnlinkAlias }
  | { type: 'RememberEvents'; payload: records.RememberEvents };

export const intakeEvents = {
  EventsIngested: records.eventsIngested,
  AliasClaimed: records.aliasClaimed,
  AliasLinked: records.aliasLinked,
  AliasUnlinked: records.aliasUnlinked,
  LeadConflicted: records.leadConflicted,
  LeadDeleted: records.leadDeleted,
  LeadDivided: records.leadDivided,
  LeadMetadataPatched: records.leadMetadataPatched,
  EventsRemembered: records.eventsRemembered,
  RepeatsDropped: records.repeatsDropped,
  EventsCounted: records.eventsCounted,
  AliasesRefused: records.aliasesRefused,
};

export const intakeCommands = {
  IngestEvents: records.ingestEvents,
  LinkAlias: records.linkAlias,
  JoinLead: records.joinLead,
  MergeLead: records.mergeLead,
  UnmergeLead: records.unmergeLead,
  DivideLead: records.divideLead,
  SendDivided: records.sendDivided,
  DeleteLead: records.deleteLead,
  PatchLeadMetadata: records.patchLeadMetadata,
  CarryLeadMetadata: records.carryLeadMetadata,
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

export type IntakeReply =
  | { outcome: 'done'; result?: routeDeclarations.LeadMetadata }
  | { outcome: 'rejected'; code: ProblemCode; message: string };
