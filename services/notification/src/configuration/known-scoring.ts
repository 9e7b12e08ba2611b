// Reads the levels and filters for the commands on triggers of a batch, once per OU.
import type { records } from '@lead-scoring/contracts';
import { lineOf, namesScoring } from '@lead-scoring/scoring-domain/triggers';
import type { ScoringReader } from '../levels/reader.js';
import type { KnownScoring } from './scoring-names-model.js';
import type { ConfigurationCommand } from './messages.js';

/** The levels and filters of an OU; null for an OU without a command on a trigger that names one. */
export type ScoringOf = (ouId: string) => KnownScoring;

/** Waits for a newer configuration where a command names a level or a filter that is not in the known one. */
export async function scoringNamedIn(
  commands: readonly ConfigurationCommand[],
  scoring: Pick<ScoringReader, 'upToDate'>,
): Promise<ScoringOf> {
  const known = new Map<string, KnownScoring>();
  for (const [ouId, definitions] of milestonesNamingScoring(commands))
    known.set(
      ouId,
      await scoring.upToDate(ouId, (now) =>
        definitions.every(
          (one) =>
            lineOf(one, now) !== null &&
            (one.filter_id === undefined || now.filters.has(one.filter_id.toLowerCase())),
        ),
      ),
    );
  return (ouId) => known.get(ouId) ?? null;
}

function milestonesNamingScoring(
  commands: readonly ConfigurationCommand[],
): Map<string, records.MilestoneDefinition[]> {
  const milestones = new Map<string, records.MilestoneDefinition[]>();
  for (const { type, payload } of commands) {
    if (type !== 'CreateTrigger' && type !== 'ReplaceTrigger') continue;
    const { ou_id, definition } = payload;
    if (definition.kind === 'milestone' && namesScoring(definition))
      milestones.set(ou_id, [...(milestones.get(ou_id) ?? []), definition]);
  }
  return milestones;
}
