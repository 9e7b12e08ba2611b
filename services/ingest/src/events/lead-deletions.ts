// Removes the events of deleted leads from all documents into which they were folded.
import pLimit from 'p-limit';
import {
  createGuardedWriter,
  withClassifiedErrors,
  type GuardedWriter,
  type ReadModel,
} from '@lead-scoring/read-model';
import { CountedQuarters, type CountedRecord, type EventPeriods } from '../analytics/event-periods.js';
import type { DeletedTypes } from '../event-deletions/deleted-types-model.js';
import { LeadShares, type DeletedShares, type EventTypeStatistics } from '../event-types/statistics.js';
import { leadEndDocument, leadEnds } from '../merges/documents.js';
import { deletionDocument, deletions } from './documents.js';
import type { OrderOfTime } from './order-of-time.js';
import type { RecordStore } from './record-store.js';
import type { RecurringValues } from './recurring-values.js';
import type { DeletedLead, FoldedEvents, RecordedEvents } from './sections.js';

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

interface LeadWithCounts {
  readonly leadId: string;
  /** The offset of the deletion. */
  readonly offset: number;
  readonly counts: DeletedCounts;
  /** Its records; null where they are too many to be kept. */
  readonly recorded: readonly RecordedEvents[] | null;
}

/** Leads that a process reads at the same time. */
const reads = pLimit(8);
const usualBytesInMemory = 8 * 1024 * 1024;

export class LeadDeletions {
  readonly #stored;
  readonly #ends;
  readonly #writer: GuardedWriter;

  /** @param bytesInMemory of records of deleted leads that are in memory at a time */
  constructor(
    readModel: ReadModel,
    private readonly partition: number,
    private readonly folds: EventFolds,
    private readonly values: RecurringValues,
    private readonly bytesInMemory = usualBytesInMemory,
  ) {
    this.#stored = readModel.collection(deletions);
    this.#ends = readModel.collection(leadEnds);
    this.#writer = createGuardedWriter(readModel);
  }

  /**
   * Changes first the statistics and the counts by time, which need the lead's events, then the order of time, then the records, from
   * which the events are read: after a crash at any point, folding again has the same result.
   * @param ingested the events of the same section, just before the deletions
   */
  async fold(deleted: readonly DeletedLead[], ingested: readonly FoldedEvents[]): Promise<void> {
    const { statistics, periods } = this.folds;
    const ingestedOf = ofLeads(ingested);
    const room = { bytes: this.bytesInMemory };
    const leads = await reads.map([...firstOfEach(deleted)], (first) =>
      this.#leadOf(first, ingestedOf(first.payload.lead_id), room),
    );
    const counts = leads.map((lead) => lead.counts);
    await Promise.all([statistics.subtract(counts), periods.subtract(counts)]);
    await this.#remove(leads, ingestedOf);
    const { partition } = this;
    const removed = deleted.filter(({ payload }) => payload.joined_to === undefined);
    await Promise.all([
      this.#writer.write(
        this.#stored,
        removed.map(({ payload, offset }) => deletionDocument(payload, { partition, offset })),
      ),
      this.#writer.write(
        this.#ends,
        deleted.map(({ payload, offset }) => leadEndDocument(payload, { partition, offset })),
      ),
    ]);
  }

  /** Removes the events of the leads from the order of time, and their records, in the order of the deletions; many small leads at once. */
  async #remove(
    leads: readonly LeadWithCounts[],
    ingestedOf: (leadId: string) => readonly RecordedEvents[],
  ): Promise<void> {
    const { records, time } = this.folds;
    let small: { recorded: readonly RecordedEvents[]; offset: number }[] = [];
    const removeSmall = async () => {
      await time.remove(small);
      await records.deleteThese(small.flatMap(({ recorded }) => recorded));
      small = [];
    };
    for (const { leadId, offset, recorded } of leads)
      if (recorded) small.push({ recorded, offset });
      else {
        await removeSmall();
        await time.remove([{ recorded: ingestedOf(leadId), offset }]);
        await records.delete(leadId, offset, (some) => time.remove([{ recorded: some, offset }]));
      }
    await removeSmall();
  }

  /** What a deleted lead's events have added, including the events just before the deletion. */
  async #leadOf(
    { payload: { ou_id, lead_id }, offset: end }: DeletedLead,
    justIngested: readonly FoldedEvents[],
    room: { bytes: number },
  ): Promise<LeadWithCounts> {
    const shares = new LeadShares(ou_id, this.values);
    const quarters = new CountedQuarters(ou_id, this.values);
    // Events of a deleted type were taken away with the type.
    const deleted = await this.folds.deletedTypes(ou_id);
    let recorded: RecordedEvents[] | null = [];
    const add = (one: RecordedEvents, bytes: number) => {
      const { payload, offset } = one;
      const left = deleted.visibleIn(payload, { partition: this.partition, offset });
      const counted = { ...payload, events: left.map(({ event }) => event) };
      shares.add(counted);
      quarters.add(counted);
      room.bytes -= bytes;
      if (room.bytes >= 0) recorded?.push(one);
      else recorded = null;
    };
    const added = new Set<number>();
    for (const one of justIngested) {
      add(one, one.json.length);
      added.add(one.offset);
    }
    await withClassifiedErrors(async () => {
      for await (const { bytes, ...one } of this.folds.records.before(lead_id, end))
        if (!added.has(one.offset)) add(one, bytes);
    });
    const counts = { ...shares.shares(end), quarters: quarters.counted() };
    return { leadId: lead_id, offset: end, counts, recorded };
  }
}

/** The records of each lead. */
function ofLeads(ingested: readonly FoldedEvents[]): (leadId: string) => readonly FoldedEvents[] {
  const byLead = new Map<string, FoldedEvents[]>();
  for (const one of ingested) {
    const known = byLead.get(one.payload.lead_id);
    if (known) known.push(one);
    else byLead.set(one.payload.lead_id, [one]);
  }
  return (leadId) => byLead.get(leadId) ?? [];
}

/** The first deletion of each lead: after it, a later one of the same batch has nothing to remove. */
function firstOfEach(deleted: readonly DeletedLead[]): Iterable<DeletedLead> {
  const first = new Map<string, DeletedLead>();
  for (const one of deleted) if (!first.has(one.payload.lead_id)) first.set(one.payload.lead_id, one);
  return first.values();
}
