// Folds the counts of events by time in a partition: adds new events, and subtracts those of deleted leads.
import { BufferedStates, WriteBehind, type ReadModel } from '@lead-scoring/read-model';
import type { records } from '@lead-scoring/contracts';
import type { RecurringValues } from '../events/recurring-values.js';
import type { FoldedEvents } from '../events/sections.js';
import { eventPeriods, type EventPeriodDocument } from './documents.js';
import { PeriodCounts } from './period-counts.js';
import { cellOf, levels, periodId, type Level } from './period-keys.js';

/** The most periods that stay in memory: each takes about 200 bytes for each of its types. */
const maximumCached = 1_000;

const quarterMs = levels.hours.cellMs;

/** Events of one type in a quarter of an hour. */
interface CountedQuarter {
  ouId: string;
  typeKey: string;
  /** The first moment of the quarter, in milliseconds since 1970. */
  startMs: number;
  events: number;
}

/** Changes of the counts by one record. */
export interface CountedRecord {
  offset: number;
  quarters: readonly CountedQuarter[];
}

export class EventPeriods {
  /** By `periodKey`. */
  readonly #periods: BufferedStates<PeriodCounts, EventPeriodDocument>;
  readonly #behind: WriteBehind;

  constructor(
    readModel: ReadModel,
    partition: number,
    private readonly values: RecurringValues,
  ) {
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
    return this.#change(
      ingested.map(({ payload, offset }) => {
        const quarters = new CountedQuarters(payload.ou_id, this.values);
        quarters.add(payload);
        return { offset, quarters: quarters.counted() };
      }),
      1,
    );
  }

  /** Resolves when the counts are stored. @param deleted the events of deleted leads, at the offsets of the deletions */
  subtract(deleted: readonly CountedRecord[]): Promise<void> {
    return this.#change(deleted, -1);
  }

  forget(): void {
    this.#behind.forget();
  }

  /** @param counted in the order of the log */
  async #change(counted: readonly CountedRecord[], sign: 1 | -1): Promise<void> {
    const changes = counted.flatMap(({ offset, quarters }) =>
      quarters.flatMap(({ ouId, typeKey, startMs, events }) =>
        bothLevels.map((level) => {
          const { period, cell } = cellOf(level, startMs);
          return { key: periodKey(ouId, level, period), level, cell, typeKey, events: sign * events, offset };
        }),
      ),
    );
    const periods = await this.#periods.load(changes.map(({ key }) => key));
    for (const { key, level, cell, typeKey, events, offset } of changes) {
      let counts = periods.get(key);
      if (!counts) periods.set(key, (counts = new PeriodCounts(levels[level].cells, null)));
      if (counts.add(typeKey, cell, events, offset)) this.#periods.put(key, counts);
    }
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
      const startMs = Math.floor(Date.parse(timestamp) / quarterMs) * quarterMs;
      quarters.set(startMs, (quarters.get(startMs) ?? 0) + 1);
    }
  }

  counted(): CountedQuarter[] {
    const { ouId } = this;
    return [...this.#types].flatMap(([typeKey, quarters]) =>
      [...quarters].map(([startMs, events]) => ({ ouId, typeKey, startMs, events })),
    );
  }
}

const bothLevels = ['hours', 'days'] as const satisfies readonly Level[];
const ouIdLength = 36;

function periodKey(ouId: string, level: Level, period: number): string {
  return `${ouId}${level}${String(period)}`;
}

/** The period that a key names. */
function periodNamed(key: string): [ouId: string, level: Level, period: number] {
  const level = key.startsWith('days', ouIdLength) ? 'days' : 'hours';
  return [key.slice(0, ouIdLength), level, Number(key.slice(ouIdLength + level.length))];
}
