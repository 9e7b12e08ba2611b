// Readers of the service's read models for capabilities and queries; all partitions of a process share them.
import type { EventLog } from '@lead-scoring/event-log';
import type { ReadModel } from '@lead-scoring/read-model';
import { createConfigurationReader, type ConfigurationReader } from './configuration/reader.js';
import { createCatchUp, type CatchUp } from './explanations/catch-up.js';
import { createScoringReader, type ScoringReader } from './levels/reader.js';

export interface Readers {
  configurations: ConfigurationReader;
  scoring: ScoringReader;
  /** Waits until the explanations are folded. */
  catchUp: CatchUp;
}

/** @param timeoutMs maximum waiting time of `catchUp` */
export function createReaders(
  readModel: ReadModel,
  log: EventLog,
  { timeoutMs }: { timeoutMs: number },
): Readers {
  const catchUp = createCatchUp(readModel, log, { timeoutMs });
  return {
    configurations: createConfigurationReader(readModel),
    scoring: createScoringReader(readModel, catchUp),
    catchUp,
  };
}
