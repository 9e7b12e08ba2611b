// Folds the counts of events by time in a partition: adds new events, and subtracts those of deleted leads.
import { BufferedStates, withClassifiedErrors, WriteBehind, type ReadModel } from '@lead-scoring/read-model';
import type { records } from '@lead-scoring/contracts';
import type { RecurringValues } from '../events/recurring-values.js';
import type { FoldedEvents } from '../events/sections.js';
import { eventPeriods, type EventPeriodDocument } from './documents.js';
import { PeriodCounts } from './period-counts.js';
import { PeriodChanges, periodName, periodNamed } from './period-changes.js';
import { levels, periodId, periodIdsOf, readLevel, readPeriod, type Level } from './period-keys.js';

/** The most periods that stay in memory: each takes about 200 bytes for each of its types. */
const maximumCached = 1_000;
/** Periods from which a type is taken away at a time. */
const removedAtOnce = 500;

/** Events of an OU and one type in a quarter of an hour, which is numbered from 1970. */
interface CountedQuarter {
  ouId: string;
  typeKey: string;
  quarter: number;
  events: number;
}

/** What a record changes. */
export interface CountedRecord {
  offset: number;
  quarters: readonly CountedQuarter[];
}

export class EventPeriods {
  /** By `periodKey`. */
  readonly #periods: BufferedStates<PeriodCounts, EventPeriodDocument>;
  readonly #behind: WriteBehind;
  readonly #stored;

  constructor(
    readModel: ReadModel,
    private readonly partition: number,
    private readonly values: RecurringValues,
  ) {
    this.#stored = readModel.collection(eventPeriods);
    const idOf = (key: string) => periodId(...periodNamed(key), partition);
    this.#periods = new BufferedStates(readModel, {
      collection: eventPeriods,
      idOf,
      toState: (document, key) => new PeriodCounts(levels[periodNamed(key)[1]].cells, document),
      toDocument: (counts, key) => counts.document(idOf(key), partition),
      maximumCached,
      changesInPlace: true,
    });
    this.#behind = new WriteBehind([this.#periods]);
  }

  /** Resolves when the counts are stored. */
  fold(ingested: readonly FoldedEvents[]): Promise<void> {
    const changes = new PeriodChanges();
    for (const { payload, offset } of ingested)
      for (const { event_type, timestamp } of payload.events)
        changes.add(payload.ou_id, quarterOf(timestamp), this.values.typeKeyOf(event_type), 1, offset);
    return this.#change(changes);
  }

  /** Resolves when the counts are stored. @param deleted the events of deleted leads, at the offsets of the deletions */
  subtract(deleted: readonly CountedRecord[]): Promise<void> {
    const changes = new PeriodChanges();
    for (const { offset, quarters } of deleted)
      for (const { ouId, quarter, typeKey, events } of quarters)
        changes.add(ouId, quarter, typeKey, -events, offset);
    return this.#change(changes);
  }

  /**
   * Takes all events of a type away, by a record at an offset. All counts are stored after each fold, so the database knows in which
   * periods the type is.
   */
  async removeType(ouId: string, typeKey: string, offset: number): Promise<void> {
    const found = await withClassifiedErrors(() =>
      this.#stored
        .find({ _id: periodIdsOf(ouId), partition: this.partition, types: typeKey })
        .project<Pick<EventPeriodDocument, '_id'>>({ _id: 1 })
        .toArray(),
    );
    const names = found.map(({ _id }) => periodName(ouId, readLevel(_id), readPeriod(_id)));
    for (let from = 0; from < names.length; from += removedAtOnce) {
      for (const [name, counts] of await this.#periods.load(names.slice(from, from + removedAtOnce)))
        if (counts?.removeType(typeKey, offset)) this.#periods.put(name, counts);
      await this.#behind.write();
    }
  }

  forget(): void {
    this.#behind.forget();
  }

  async #change(changes: PeriodChanges): Promise<void> {
    const periods = await this.#periods.load(changes.keys());
    const countsOf = (key: string, level: Level) => {
      let counts = periods.get(key);
      if (!counts) periods.set(key, (counts = new PeriodCounts(levels[level].cells, null)));
      return counts;
    };
    for (const [key, counts] of changes.apply(countsOf)) this.#periods.put(key, counts);
    await this.#behind.write();
  }
}

/** Adds up events of an OU by type and quarter of an hour. */
export class CountedQuarters {
  readonly #types = new Map<string, Map<number, number>>();

  constructor(
    private readonly ouId: string,
    private readonly values: RecurringValues,
  ) {}

  add({ events }: Pick<records.EventsIngested, 'events'>): void {
    for (const { event_type, timestamp } of events) {
      const typeKey = this.values.typeKeyOf(event_type);
      let quarters = this.#types.get(typeKey);
      if (!quarters) this.#types.set(typeKey, (quarters = new Map<number, number>()));
      const quarter = quarterOf(timestamp);
      quarters.set(quarter, (quarters.get(quarter) ?? 0) + 1);
    }
  }

  counted(): CountedQuarter[] {
    const { ouId } = this;
    return [...this.#types].flatMap(([typeKey, quarters]) =>
      [...quarters].map(([quarter, events]) => ({ ouId, typeKey, quarter, events })),
    );
  }
}

const quarterOf = (timestamp: string) => Math.floor(Date.parse(timestamp) / levels.hours.cellMs);
