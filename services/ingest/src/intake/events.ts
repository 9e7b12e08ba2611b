// What intake decides: the events that it appends and the commands that it sends to other leads' partitions.
import type { records } from '@lead-scoring/contracts';

export type IntakeEvent =
  | { type: 'EventsIngested'; payload: records.EventsIngested }
  | { type: 'AliasClaimed'; payload: records.AliasClaimed }
  | { type: 'AliasLinked'; payload: records.AliasLinked };

export type IntakeCommand =
  { type: 'IngestEvents'; payload: records.IngestEvents } | { type: 'LinkAlias'; payload: records.LinkAlias };

export interface IntakeDecision {
  events: IntakeEvent[];
  /** Each goes to the partition of the lead under `lead_id`, and is decided there. */
  commands: { lead_id: string; command: IntakeCommand }[];
  /** Events that had come before and were dropped. */
  repeats: number;
}
