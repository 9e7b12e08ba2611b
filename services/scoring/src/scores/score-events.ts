// The events of leads as records, with the crossings of levels that follow them.
import type { RecordDeclaration } from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import { withCrossings } from '../levels/crossings.js';
import { scoreRecords, type LeadEvent, type ScoreEvent } from './messages.js';
import type { CompiledRules } from './rule-model.js';

export function withLevelCrossings(
  decided: readonly LeadEvent[],
  rules: ReadonlyMap<string, CompiledRules>,
): readonly ScoreEvent[] {
  if (!hasLevels(rules)) return decided;
  return withCrossings(decided, (ouId, scoreType) => {
    const ofUnit = rules.get(ouId);
    return (scoreType === 'profile' ? ofUnit?.profileLevels : ofUnit?.levels) ?? [];
  });
}

function hasLevels(rules: ReadonlyMap<string, CompiledRules>): boolean {
  for (const { levels, profileLevels } of rules.values())
    if (levels.length > 0 || profileLevels.length > 0) return true;
  return false;
}

export function scoreEventRecord({ type, payload }: ScoreEvent): OutgoingRecord {
  const declaration: RecordDeclaration = scoreRecords[type];
  return outgoing(declaration, { key: payload.lead_id, payload });
}
