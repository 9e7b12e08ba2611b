// Removes the events of deleted leads from all documents into which they were folded.
import {
  createGuardedWriter,
  withClassifiedErrors,
  type GuardedWriter,
  type ReadModel,
} from '@lead-scoring/read-model';
import { CountedQuarters, type CountedRecord, type EventPeriods } from '../analytics/event-periods.js';
import type { DeletedTypes } from '../event-deletions/deleted-types-model.js';
import { LeadShares, type DeletedShares, type EventTypeStatistics } from '../event-types/statistics.js';
import { deletionDocument, deletions } from './documents.js';
import type { OrderOfTime } from './order-of-time.js';
import type { RecordedEvents, RecordStore } from './record-store.js';
import type { RecurringValues } from './recurring-values.js';
import type { DeletedLead, FoldedEvents } from './sections.js';

/** The folds of events. */
export interface EventFolds {
  readonly records: RecordStore;
  readonly time: OrderOfTime;
  readonly statistics: EventTypeStatistics;
  readonly periods: EventPeriods;
  /** The events of an OU that were deleted with their type. */
  readonly deletedTypes: (ouId: string) => Promise<DeletedTypes>;
}

/** What a deleted lead's events have added to the statistics of types and to the counts by time. */
type DeletedCounts = DeletedShares & CountedRecord;

export class LeadDeletions {
  readonly #stored;
  readonly #writer: GuardedWriter;

  constructor(
    readModel: ReadModel,
    private readonly partition: number,
    private readonly folds: EventFolds,
    private readonly values: RecurringValues,
  ) {
    this.#stored = readModel.collection(deletions);
    this.#writer = createGuardedWriter(readModel);
  }

  /**
   * Changes first the statistics and the counts by time, which need the lead's events, then the order of time, then the records, from
   * which the events are read: after a crash at any point, folding again has the same result.
   * @param ingested the events of the same section, just before the deletions
   */
  async fold(deleted: readonly DeletedLead[], ingested: readonly FoldedEvents[]): Promise<void> {
    const ingestedOf = (leadId: string) => ingested.filter(({ payload }) => payload.lead_id === leadId);
    const { records, time, statistics, periods } = this.folds;
    const subtracted: DeletedCounts[] = [];
    for (const first of firstOfEach(deleted))
      subtracted.push(await this.#countsOf(first, ingestedOf(first.payload.lead_id)));
    await Promise.all([statistics.subtract(subtracted), periods.subtract(subtracted)]);
    for (const { payload, offset } of deleted) {
      const { lead_id } = payload;
      await time.remove(ingestedOf(lead_id), offset);
      await records.delete(lead_id, offset, (recorded) => time.remove(recorded, offset));
    }
    await this.#writer.write(
      this.#stored,
      deleted.map(({ payload, offset }) => deletionDocument(payload, { partition: this.partition, offset })),
    );
  }

  /** What a deleted lead's events have added, including the events just before the deletion. */
  async #countsOf(
    { payload: { ou_id, lead_id }, offset: end }: DeletedLead,
    justIngested: readonly FoldedEvents[],
  ): Promise<DeletedCounts> {
    const shares = new LeadShares(ou_id, this.values);
    const quarters = new CountedQuarters(ou_id, this.values);
    // Events of a deleted type were taken away with the type.
    const deleted = await this.folds.deletedTypes(ou_id);
    const add = ({ payload, offset }: RecordedEvents) => {
      const left = deleted.visibleIn(payload, { partition: this.partition, offset });
      const counted = { ...payload, events: left.map(({ event }) => event) };
      shares.add(counted);
      quarters.add(counted);
    };
    const added = new Set<number>();
    for (const recorded of justIngested) {
      add(recorded);
      added.add(recorded.offset);
    }
    await withClassifiedErrors(async () => {
      for await (const recorded of this.folds.records.before(lead_id, end))
        if (!added.has(recorded.offset)) add(recorded);
    });
    return { ...shares.shares(end), quarters: quarters.counted() };
  }
}

/** The first deletion of each lead: after it, a later one of the same batch has nothing to remove. */
function firstOfEach(deleted: readonly DeletedLead[]): Iterable<DeletedLead> {
  const first = new Map<string, DeletedLead>();
  for (const one of deleted) if (!first.has(one.payload.lead_id)) first.set(one.payload.lead_id, one);
  return first.values();
}
