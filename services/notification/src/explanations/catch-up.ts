// Waits until the service's own explanations have folded the newest records: they may be behind the record that made a trigger fire.
import { createFoldWatch } from '@lead-scoring/capability';
import { createTopicEnds, type EventLog } from '@lead-scoring/event-log';
import type { ReadModel } from '@lead-scoring/read-model';
import { explanationsName } from './capability.js';

/** The explanations have not folded the requested records yet. Retriable. */
export class ExplanationsBehind extends Error {
  override readonly name = 'ExplanationsBehind';
  readonly retriable = true;
}

/**
 * Waits until the records that scoring has written before this call are folded: those on the configurations of these OUs or,
 * without OUs, all. False: the time limit was reached.
 */
export type CatchUp = (ouIds?: readonly string[]) => Promise<boolean>;

export function createCatchUp(readModel: ReadModel, log: EventLog, options: { timeoutMs: number }): CatchUp {
  const folded = createFoldWatch(readModel, explanationsName, options);
  const recorded = createTopicEnds(log, 'scoring.events');
  return async (ouIds) => (await folded.until('scoring.events', await recorded.of(ouIds))) !== null;
}
