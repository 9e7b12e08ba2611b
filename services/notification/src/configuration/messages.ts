// The commands and events of configurations.
import type { JsonValue, ProblemCode, records } from '@lead-scoring/contracts';

export type ConfigurationCommand =
  | { type: 'CreateChannel'; payload: records.CreateChannel }
  | { type: 'ReplaceChannel'; payload: records.ReplaceChannel }
  | { type: 'DeleteChannel'; payload: records.DeleteChannel }
  | { type: 'RotateChannelSecret'; payload: records.RotateChannelSecret }
  | { type: 'CreateTrigger'; payload: records.CreateTrigger }
  | { type: 'ReplaceTrigger'; payload: records.ReplaceTrigger }
  | { type: 'DeleteTrigger'; payload: records.DeleteTrigger };

export type ConfigurationEvent =
  | { type: 'ChannelCreated'; payload: records.ChannelCreated }
  | { type: 'ChannelReplaced'; payload: records.ChannelReplaced }
  | { type: 'ChannelSecretRotated'; payload: records.ChannelSecretRotated }
  | { type: 'ChannelResealed'; payload: records.ChannelResealed }
  | { type: 'ChannelDeleted'; payload: records.ChannelDeleted }
  | { type: 'TriggerCreated'; payload: records.TriggerCreated }
  | { type: 'TriggerReplaced'; payload: records.TriggerReplaced }
  | { type: 'TriggerDeleted'; payload: records.TriggerDeleted };

export interface Refusal {
  code: ProblemCode;
  message: string;
  errors?: { path: string; message: string }[];
}

/** No events: the command took effect before. */
export type ConfigurationDecision =
  { outcome: 'done'; events: ConfigurationEvent[] } | ({ outcome: 'rejected' } & Refusal);

/** The body of the route's answer; undefined for routes without a body. */
export type CommandResult = JsonValue | undefined;
