// Waits until the service's own explanations are folded: they may be behind what made a trigger fire.
import { createFoldWatch } from '@lead-scoring/capability';
import { createTopicEnds, type EventLog } from '@lead-scoring/event-log';
import type { ReadModel } from '@lead-scoring/read-model';
import { explanationsName } from './capability.js';

/** The explanations are behind what they are asked about: trying again helps. */
export class ExplanationsBehind extends Error {
  override readonly name = 'ExplanationsBehind';
  readonly retriable = true;
}

/**
 * Waits until all is folded that scoring has recorded by now: of the OUs' configurations, or, where no OUs are given, of
 * everything; false: it took too long.
 */
export type CatchUp = (ouIds?: readonly string[]) => Promise<boolean>;

export function createCatchUp(readModel: ReadModel, log: EventLog, options: { timeoutMs: number }): CatchUp {
  const folded = createFoldWatch(readModel, explanationsName, options);
  const recorded = createTopicEnds(log, 'scoring.events');
  return async (ouIds) => (await folded.until('scoring.events', await recorded.of(ouIds))) !== null;
}
