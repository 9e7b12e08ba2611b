// Commands that change the profile part of an OU's configuration.
import type { records } from '@lead-scoring/contracts';

export type ProfileCommand =
  | { type: 'SetProfileRulesActive'; payload: records.SetProfileRulesActive }
  | { type: 'AddProfileMapping'; payload: records.AddProfileMapping }
  | { type: 'RemoveProfileMapping'; payload: records.RemoveProfileMapping };
