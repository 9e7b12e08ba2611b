// Commands that change an OU's configuration, and the decision that follows each.
import type { JsonValue, ProblemCode, records } from '@lead-scoring/contracts';
import type { ConfigurationEvent } from '@lead-scoring/scoring-domain';
import type { AccountConfigurationCommand } from '../accounts/messages.js';
import type { DecayCommand } from '../decays/messages.js';
import type { GridCommand } from '../levels/messages.js';
import type { ProfileCommand } from '../profile/messages.js';

export type ConfigurationCommand =
  | { type: 'CreateProfileRule'; payload: records.CreateProfileRule }
  | { type: 'CreateAccountRule'; payload: records.CreateAccountRule }
  | { type: 'CreateRuleset'; payload: records.CreateRuleset }
  | { type: 'UpdateRuleset'; payload: records.UpdateRuleset }
  | { type: 'DeleteRuleset'; payload: records.DeleteRuleset }
  | { type: 'CreateRule'; payload: records.CreateRule }
  | { type: 'UpdateRule'; payload: records.UpdateRule }
  | { type: 'DeleteRule'; payload: records.DeleteRule }
  | { type: 'SetRulesActive'; payload: records.SetRulesActive }
  | { type: 'SetEngagementLevels'; payload: records.SetEngagementLevels }
  | { type: 'ApplyConfiguration'; payload: records.ApplyConfiguration }
  | ProfileCommand
  | AccountConfigurationCommand
  | GridCommand
  | { type: 'CreateFilter'; payload: records.CreateFilter }
  | { type: 'UpdateFilter'; payload: records.UpdateFilter }
  | { type: 'DeleteFilter'; payload: records.DeleteFilter }
  | DecayCommand;

/** `done` without an event: the command took effect before. */
export type ConfigurationDecision =
  | {
      outcome: 'done';
      events: ConfigurationEvent[];
      /** Absent: `resultOf` says it. */
      result?: CommandResult;
    }
  | {
      outcome: 'rejected';
      code: ProblemCode;
      message: string;
      errors?: { path: string; message: string }[];
    };

/** An expected refusal: the caller is told why, and nothing changes. */
export type Refusal = Extract<ConfigurationDecision, { outcome: 'rejected' }>;

/** The resource in the form of its route's answer. */
export type CommandResult = JsonValue;
