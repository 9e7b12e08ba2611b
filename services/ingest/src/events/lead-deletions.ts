// Takes the events of deleted leads out of all that was folded of them.
import {
  createGuardedWriter,
  withClassifiedErrors,
  type GuardedWriter,
  type ReadModel,
} from '@lead-scoring/read-model';
import { LeadShares, type DeletedShares, type EventTypeStatistics } from '../event-types/statistics.js';
import type { EventTypeShare } from '../event-types/fold.js';
import { deletionDocument, deletions } from './documents.js';
import type { OrderOfTime } from './order-of-time.js';
import type { RecordStore } from './record-store.js';
import type { RecurringValues } from './recurring-values.js';
import type { DeletedLead, FoldedEvents } from './sections.js';

/** What events are folded into. */
export interface EventFolds {
  readonly records: RecordStore;
  readonly time: OrderOfTime;
  readonly statistics: EventTypeStatistics;
}

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
   * First the statistics, for which the lead's events are needed, then the order of time, then the records by which
   * both are found: after a crash at any point the same again comes to the same end.
   * @param ingested the events that come just before the deletions
   */
  async fold(deleted: readonly DeletedLead[], ingested: readonly FoldedEvents[]): Promise<void> {
    const passingOf = (leadId: string) => ingested.filter(({ payload }) => payload.lead_id === leadId);
    const { records, time, statistics } = this.folds;
    const subtracted: DeletedShares[] = [];
    for (const first of firstOfEach(deleted))
      subtracted.push({
        offset: first.offset,
        shares: await this.#sharesOf(first, passingOf(first.payload.lead_id)),
      });
    await statistics.subtract(subtracted);
    for (const { payload, offset } of deleted) {
      const { lead_id } = payload;
      await time.remove(passingOf(lead_id), offset);
      await records.delete(lead_id, offset, (recorded) => time.remove(recorded, offset));
    }
    await this.#writer.write(
      this.#stored,
      deleted.map(({ payload, offset }) => deletionDocument(payload, { partition: this.partition, offset })),
    );
  }

  /** What a deleted lead's events have added to the statistics, those included that come just before the deletion. */
  async #sharesOf(
    { payload: { ou_id, lead_id }, offset: end }: DeletedLead,
    passing: readonly FoldedEvents[],
  ): Promise<EventTypeShare[]> {
    const sum = new LeadShares(ou_id, this.values);
    const added = new Set<number>();
    for (const { payload, offset } of passing) {
      sum.add(payload);
      added.add(offset);
    }
    await withClassifiedErrors(async () => {
      for await (const { payload, offset } of this.folds.records.before(lead_id, end))
        if (!added.has(offset)) sum.add(payload);
    });
    return sum.shares();
  }
}

/** The first deletion of each lead: a later one of the same batch finds nothing more. */
function firstOfEach(deleted: readonly DeletedLead[]): Iterable<DeletedLead> {
  const first = new Map<string, DeletedLead>();
  for (const one of deleted) if (!first.has(one.payload.lead_id)) first.set(one.payload.lead_id, one);
  return first.values();
}
