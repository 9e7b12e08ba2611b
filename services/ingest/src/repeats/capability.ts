// The dropped repeats and the refused aliases of each batch of events, and their counts by time, as a projection.
import { projection, type OpenCapability, type PartitionScope } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { isRecord, type FoldedRecord } from '@lead-scoring/event-log';
import { insertMissing, offsetToNumber } from '@lead-scoring/read-model';
import { countedAliases, countedRepeats, RepeatCounts, type CountedRecord } from './counts.js';
import {
  droppedRepeats,
  refusedAliases,
  refusedDocument,
  repeatCounts,
  repeatsDocument,
  type DroppedRepeatsDocument,
  type RefusedAliasesDocument,
} from './documents.js';

export const repeats = projection({
  name: 'repeats',
  events: { RepeatsDropped: records.repeatsDropped, AliasesRefused: records.aliasesRefused },
  collections: [droppedRepeats, refusedAliases, repeatCounts],
  open: (scope) => new Repeats(scope),
});

class Repeats implements OpenCapability {
  readonly #counts: RepeatCounts;

  constructor(private readonly scope: PartitionScope) {
    this.#counts = new RepeatCounts(scope.readModel, scope.partition);
  }

  async fold(folded: readonly FoldedRecord[]): Promise<void> {
    const { readModel, partition } = this.scope;
    const dropped: DroppedRepeatsDocument[] = [];
    const refused: RefusedAliasesDocument[] = [];
    const counted: CountedRecord[] = [];
    for (const record of folded) {
      const at = { partition, offset: offsetToNumber(record.offset) };
      if (isRecord(record, records.repeatsDropped)) {
        dropped.push(repeatsDocument(record.payload, at));
        counted.push(countedRepeats(record.payload, { offset: at.offset, timeMs: timeOf(record) }));
      } else if (isRecord(record, records.aliasesRefused)) {
        refused.push(refusedDocument(record.payload, at));
        counted.push(countedAliases(record.payload, { offset: at.offset, timeMs: timeOf(record) }));
      }
    }
    if (dropped.length > 0) await insertMissing(readModel.collection(droppedRepeats), dropped);
    if (refused.length > 0) await insertMissing(readModel.collection(refusedAliases), refused);
    if (counted.length > 0) await this.#counts.fold(counted);
  }

  /** Drops the state in memory, which may be ahead of the stored documents; the next fold starts from these. */
  forget(): void {
    this.#counts.forget();
  }
}

function timeOf({ headers }: Pick<FoldedRecord, 'headers'>): number {
  return Date.parse(headers.time);
}
