// Reads the levels for the commands on triggers of a batch, once per OU.
import type { records } from '@lead-scoring/contracts';
import { lineOf } from '../levels/line-model.js';
import type { LevelReader } from '../levels/reader.js';
import type { KnownLevels } from './level-model.js';
import type { ConfigurationCommand } from './messages.js';

/** The levels of an OU; null for an OU without a command on a trigger by level. */
export type LevelsOf = (ouId: string) => KnownLevels;

/** Waits for newer levels where a command names a level that is not among the known ones. */
export async function levelsNamedIn(
  commands: readonly ConfigurationCommand[],
  levels: Pick<LevelReader, 'upToDate'>,
): Promise<LevelsOf> {
  const known = new Map<string, KnownLevels>();
  for (const [ouId, definitions] of milestonesByLevel(commands))
    known.set(
      ouId,
      await levels.upToDate(ouId, (now) => definitions.every((one) => lineOf(one, now) !== null)),
    );
  return (ouId) => known.get(ouId) ?? null;
}

function milestonesByLevel(
  commands: readonly ConfigurationCommand[],
): Map<string, records.MilestoneDefinition[]> {
  const milestones = new Map<string, records.MilestoneDefinition[]>();
  for (const { type, payload } of commands) {
    if (type !== 'CreateTrigger' && type !== 'ReplaceTrigger') continue;
    const { ou_id, definition } = payload;
    if (definition.kind === 'milestone' && definition.level !== undefined)
      milestones.set(ou_id, [...(milestones.get(ou_id) ?? []), definition]);
  }
  return milestones;
}
