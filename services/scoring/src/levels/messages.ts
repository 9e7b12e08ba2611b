// Commands that change an OU's profile levels and its grid.
import type { records } from '@lead-scoring/contracts';

export type GridCommand =
  | { type: 'SetProfileLevels'; payload: records.SetProfileLevels }
  | { type: 'SetScoringGrid'; payload: records.SetScoringGrid };
