// What intake decides: the events that it appends and the commands that it sends to other leads' partitions.
import type { ProblemCode, records } from '@lead-scoring/contracts';

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
  | { type: 'DeleteLead'; payload: records.DeleteLead }
  | { type: 'UnlinkAlias'; payload: records.UnlinkAlias }
  | { type: 'RememberEvents'; payload: records.RememberEvents };

export interface IntakeDecision {
  events: IntakeEvent[];
  /** Each goes to the partition of the lead under `lead_id`, and is decided there; `answers` is who waits for that. */
  commands: { lead_id: string; command: IntakeCommand; answers?: IntakeCommand }[];
  replies: { to: IntakeCommand; reply: IntakeReply }[];
}

export type IntakeReply = { outcome: 'done' } | { outcome: 'rejected'; code: ProblemCode; message: string };
