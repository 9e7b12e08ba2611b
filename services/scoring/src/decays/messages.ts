// Commands that change an OU's decay rules.
import type { records } from '@lead-scoring/contracts';

export type DecayCommand =
  | { type: 'CreateDecay'; payload: records.CreateDecay }
  | { type: 'UpdateDecay'; payload: records.UpdateDecay }
  | { type: 'DeleteDecay'; payload: records.DeleteDecay };
