// The event store as one projection with several classes: the records of each lead, the order of events by time, statistics of event
// types, counts by time, and deletions of leads. They are one projection because the deletion of a lead changes all of them in an order
// that keeps a crash at any point harmless: see `LeadDeletions`.
import { projection, type OpenCapability, type PartitionScope } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { isRecord, type FoldedRecord } from '@lead-scoring/event-log';
import { eventPeriods } from '../analytics/documents.js';
import { EventPeriods } from '../analytics/event-periods.js';
import { eventTypes, eventUnits } from '../event-types/documents.js';
import { EventTypeStatistics } from '../event-types/statistics.js';
import { dividedRecords, leadEnds } from '../merges/documents.js';
import { DividedRecords } from '../merges/divided-records.js';
import { deletedTypes } from '../event-deletions/documents.js';
import { TypeDeletions } from '../event-deletions/type-deletions.js';
import { deletions, eventRecords, eventSeconds, knownEvents } from './documents.js';
import { LeadDeletions, type EventFolds } from './lead-deletions.js';
import { OrderOfTime } from './order-of-time.js';
import type { ReadHistories } from './read-histories.js';
import { RecordStore } from './record-store.js';
import { createRecurringValues } from './recurring-values.js';
import { sectionsOf, type Section } from './sections.js';

export interface EventStoreOptions {
  /** The most event types of an OU that lists show from one partition. */
  readonly listedTypes: number;
  /** Of records of deleted leads that are in memory at a time; default 8 MB. */
  readonly deletedBytes?: number | undefined;
}

export function eventStore(options: EventStoreOptions) {
  return projection({
    name: 'event-store',
    events: {
      EventsIngested: records.eventsIngested,
      EventsRemembered: records.eventsRemembered,
      LeadDeleted: records.leadDeleted,
      LeadDivided: records.leadDivided,
      EventsOfTypeDeleted: records.eventsOfTypeDeleted,
      DeletedEventsCleared: records.deletedEventsCleared,
      RecountBegun: records.recountBegun,
      EventTypesRecounted: records.eventTypesRecounted,
    },
    collections: [
      eventRecords,
      eventSeconds,
      knownEvents,
      eventTypes,
      eventUnits,
      eventPeriods,
      deletions,
      leadEnds,
      dividedRecords,
      deletedTypes,
    ],
    open: (scope) => new EventStore(scope, options),
  });
}

class EventStore implements OpenCapability {
  /** Records that a decision has read of the leads that its fold removes. */
  readonly histories: ReadHistories;
  readonly #folds: EventFolds;
  readonly #deletions: LeadDeletions;
  readonly #divided: DividedRecords;
  readonly #typeDeletions: TypeDeletions;

  constructor({ readModel, partition }: PartitionScope, { listedTypes, deletedBytes }: EventStoreOptions) {
    const values = createRecurringValues();
    const folds = {
      records: new RecordStore(readModel, partition, values),
      time: new OrderOfTime(readModel, partition, values),
      statistics: new EventTypeStatistics(readModel, { partition, listedTypes }, values),
      periods: new EventPeriods(readModel, partition, values),
    };
    const typeDeletions = new TypeDeletions(readModel, partition, folds, (eventType) =>
      values.typeKeyOf(eventType),
    );
    this.histories = folds.records.histories;
    this.#typeDeletions = typeDeletions;
    this.#folds = { ...folds, deletedTypes: (ouId) => typeDeletions.marksOf(ouId) };
    this.#divided = new DividedRecords(readModel, partition);
    this.#deletions = new LeadDeletions(readModel, partition, this.#folds, values, deletedBytes);
  }

  async fold(folded: readonly FoldedRecord[]): Promise<void> {
    for (const section of sectionsOf(folded)) await this.#foldSection(section);
  }

  async #foldSection({ ingested, others, deleted, ofType, recount }: Section): Promise<void> {
    const { records: store, time, statistics, periods } = this.#folds;
    if (ingested.length > 0) {
      const deletedNext = new Set(deleted.map(({ payload }) => payload.lead_id));
      await Promise.all([
        store.fold(ingested, deletedNext),
        time.fold(ingested),
        statistics.fold(ingested),
        periods.fold(ingested),
      ]);
    }
    if (others.length > 0) {
      await store.remember(
        others.flatMap((record) => (isRecord(record, records.eventsRemembered) ? [record.payload] : [])),
      );
      await this.#divided.delete(
        others.flatMap((record) => (isRecord(record, records.leadDivided) ? [record.payload] : [])),
      );
    }
    if (deleted.length > 0) {
      for (const one of deleted)
        if (isDivision(one.payload))
          await this.#divided.keep(
            one,
            ingested.filter(({ payload }) => payload.lead_id === one.payload.lead_id),
          );
      await this.#deletions.fold(deleted, ingested);
    }
    if (ofType) await this.#typeDeletions.fold(ofType);
    if (recount?.type === 'RecountBegun') await statistics.beginRecount(recount.payload, recount.offset);
    if (recount?.type === 'EventTypesRecounted')
      await statistics.setRecounted(recount.payload, recount.offset);
  }

  /** Drops the state in memory, which may be ahead of the stored documents; the next fold starts from these. */
  forget(): void {
    this.histories.clear();
    this.#folds.time.forget();
    this.#folds.statistics.forget();
    this.#folds.periods.forget();
    this.#typeDeletions.forget();
  }
}

/** Whether a lead ends because its events are sent again, each to the lead that its alias names now. */
function isDivision({ lead_id, joined_to }: records.LeadDeleted): boolean {
  return joined_to === lead_id;
}
