// Changes of the counts by time, of one batch: each quarter of an hour is looked up once, because this runs for every event.
import type { PeriodCounts } from './period-counts.js';
import { cellOf, cellStart, type Level } from './period-keys.js';

/** The cells of both levels in which the events of a quarter of an hour count. */
interface QuarterPlace {
  readonly hours: PlaceInLevel;
  readonly days: PlaceInLevel;
}

interface PlaceInLevel {
  readonly key: string;
  readonly cell: number;
  counts?: PeriodCounts;
  isChanged?: boolean;
}

interface Change {
  readonly place: QuarterPlace;
  readonly typeKey: string;
  readonly events: number;
  readonly offset: number;
}

export class PeriodChanges {
  /** By OU, then by quarter. */
  readonly #places = new Map<string, Map<number, QuarterPlace>>();
  readonly #changes: Change[] = [];

  /** @param events negative to subtract. Calls come in the order of the log */
  add(ouId: string, quarter: number, typeKey: string, events: number, offset: number): void {
    let quarters = this.#places.get(ouId);
    if (!quarters) this.#places.set(ouId, (quarters = new Map<number, QuarterPlace>()));
    let place = quarters.get(quarter);
    if (!place) quarters.set(quarter, (place = placeOf(ouId, quarter)));
    this.#changes.push({ place, typeKey, events, offset });
  }

  /** The keys of the periods that change. */
  keys(): Set<string> {
    return new Set(this.#allPlaces().map(({ key }) => key));
  }

  /** Applies the changes. @returns the counts that are to be stored, by key */
  apply(countsOf: (key: string, level: Level) => PeriodCounts): Map<string, PeriodCounts> {
    for (const { place, typeKey, events, offset } of this.#changes) {
      const { hours, days } = place;
      hours.counts ??= countsOf(hours.key, 'hours');
      days.counts ??= countsOf(days.key, 'days');
      if (hours.counts.add(typeKey, hours.cell, events, offset)) hours.isChanged = true;
      if (days.counts.add(typeKey, days.cell, events, offset)) days.isChanged = true;
    }
    return new Map(
      this.#allPlaces().flatMap(({ key, counts, isChanged }) => (counts && isChanged ? [[key, counts]] : [])),
    );
  }

  #allPlaces(): PlaceInLevel[] {
    return [...this.#places.values()].flatMap((quarters) =>
      [...quarters.values()].flatMap(({ hours, days }) => [hours, days]),
    );
  }
}

function placeOf(ouId: string, quarter: number): QuarterPlace {
  const startMs = cellStart('hours', { period: 0, cell: quarter });
  const within = (level: Level): PlaceInLevel => {
    const { period, cell } = cellOf(level, startMs);
    return { key: periodName(ouId, level, period), cell };
  };
  return { hours: within('hours'), days: within('days') };
}

const ouIdLength = 36;

/** The key of a period in memory. */
export function periodName(ouId: string, level: Level, period: number): string {
  return `${ouId}${level}${String(period)}`;
}

/** The period that a key names. */
export function periodNamed(key: string): [ouId: string, level: Level, period: number] {
  const level = key.startsWith('days', ouIdLength) ? 'days' : 'hours';
  return [key.slice(0, ouIdLength), level, Number(key.slice(ouIdLength + level.length))];
}
