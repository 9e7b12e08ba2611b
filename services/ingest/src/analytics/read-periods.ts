// Counts the events of a time range by type: from the counts of 6 hours that lie wholly in one span of the query, the rest from the counts
// of quarters of an hour, and their rest from the documents of seconds. The work grows with the range, not with the number of events.
import { withClassifiedErrors, type EditionedReadModel, type ReadModel } from '@lead-scoring/read-model';
import { eventPeriods, versionWithPeriods, type EventPeriodDocument } from './documents.js';
import { visitCounts } from './period-counts.js';
import { cellOf, cellStart, levels, periodIdsBetween, readPeriod, type Level } from './period-keys.js';
import {
  SecondsTally,
  shown,
  spanFinder,
  timeOf,
  tooLarge,
  type AnalyticsLimits,
  type AskedSeries,
  type NoteTime,
  type TimeRange,
} from './read-events.js';
import type { SeriesTally } from './series-tally.js';

/** A read model that says which version of the service has folded its live edition. */
export interface VersionedReadModel extends ReadModel {
  readonly editions: Pick<EditionedReadModel['editions'], 'version'>;
}

/** The ranges of ids that are read at the same time. */
const readsAtOnce = 20;

/**
 * Adds the events by the key of their type. Distinct leads are counted from the documents of seconds, because numbers of leads in
 * several times do not add up. So are the events of an edition from before there were counts by time.
 * @throws ProblemError 422 `range_too_large`
 */
export async function tallyTypes(
  readModel: VersionedReadModel,
  asked: AskedSeries,
  limits: AnalyticsLimits,
  tally: SeriesTally,
  note: NoteTime = () => undefined,
): Promise<void> {
  const seconds = new SecondsTally(readModel, asked, limits, tally, note);
  let open: readonly TimeRange[] = [timeOf(asked.spans)];
  if (asked.metric === 'events' && readModel.editions.version() >= versionWithPeriods) {
    const periods = new PeriodsTally(readModel, asked, limits, tally, note);
    for (const level of ['days', 'hours'] as const) open = await periods.add(level, open);
  }
  await eachOf(open, (range) => seconds.add(range));
}

/** The documents of a period, one for each partition with events. */
interface Period {
  period: number;
  documents: EventPeriodDocument[];
}

/** In place of a bucket: the cell is in none, or an edge cuts it. */
const [outside, cutByEdge] = [-2, -1];

class PeriodsTally {
  readonly #placeOf: (timeMs: number) => number;
  #read = 0;

  constructor(
    private readonly readModel: ReadModel,
    private readonly asked: AskedSeries,
    private readonly limits: AnalyticsLimits,
    private readonly tally: SeriesTally,
    private readonly note: NoteTime,
  ) {
    this.#placeOf = spanFinder(asked.spans);
  }

  /** @returns the times that this level cannot count, without gaps joined, in the order of time */
  async add(level: Level, ranges: readonly TimeRange[]): Promise<TimeRange[]> {
    const open: TimeRange[] = [];
    await eachOf(ranges, async (range) => {
      for await (const period of this.#periods(level, range)) open.push(...this.#count(level, period, range));
    });
    return joined(open);
  }

  /** Each period with events. */
  async *#periods(level: Level, [fromMs, toMs]: TimeRange): AsyncGenerator<Period> {
    const [first, last] = [cellOf(level, fromMs), cellOf(level, toMs - 1)];
    let open: Period | undefined;
    for await (const document of this.readModel
      .collection(eventPeriods)
      .find({ _id: periodIdsBetween(this.asked.ouId, level, first.period, last.period + 1) })
      .sort({ _id: 1 })
      .limit(this.limits.periods - this.#read + 1)) {
      this.#read += 1;
      if (this.#read > this.limits.periods) throw tooLarge(`${shown(this.limits.periods)} counts of events`);
      const period = readPeriod(document._id);
      if (open && open.period !== period) yield open;
      if (open?.period !== period) open = { period, documents: [] };
      open.documents.push(document);
    }
    if (open) yield open;
  }

  /** @returns the times within the range that the documents of a period do not count */
  #count(level: Level, { period, documents }: Period, [fromMs, toMs]: TimeRange): TimeRange[] {
    const { cellMs, cells } = levels[level];
    const startOf = (cell: number) => cellStart(level, { period, cell });
    const within = (first: number, end: number): TimeRange => [
      Math.max(startOf(first), fromMs),
      Math.min(startOf(end), toMs),
    ];
    if (documents.some(({ has_too_many_types }) => has_too_many_types)) return [within(0, cells)];
    const buckets = Array.from({ length: cells }, (_, cell) =>
      this.#bucketOf(startOf(cell), cellMs, [fromMs, toMs]),
    );
    const cut = new Set<number>();
    for (const document of documents)
      visitCounts(document, (type, cell, events) => {
        const bucket = buckets[cell];
        if (bucket === undefined || bucket === outside) return;
        if (this.asked.typeKey !== null && type !== this.asked.typeKey) return;
        if (bucket === cutByEdge) {
          cut.add(cell);
          return;
        }
        this.tally.add(type, bucket, '', events);
        this.note(type, [startOf(cell), startOf(cell + 1)]);
      });
    return [...cut].map((cell) => within(cell, cell + 1));
  }

  /** The bucket in which the cell is whole. */
  #bucketOf(startMs: number, cellMs: number, [fromMs, toMs]: TimeRange): number {
    if (startMs + cellMs <= fromMs || startMs >= toMs) return outside;
    const bucket = this.#placeOf(startMs);
    return bucket >= 0 && bucket === this.#placeOf(startMs + cellMs - 1) ? bucket : cutByEdge;
  }
}

async function eachOf(
  ranges: readonly TimeRange[],
  read: (range: TimeRange) => Promise<void>,
): Promise<void> {
  await withClassifiedErrors(async () => {
    for (let at = 0; at < ranges.length; at += readsAtOnce)
      await Promise.all(ranges.slice(at, at + readsAtOnce).map(read));
  });
}

/** The ranges in the order of time; those that follow each other without a gap are one. */
function joined(ranges: readonly TimeRange[]): TimeRange[] {
  const all: TimeRange[] = [];
  for (const range of ranges.toSorted(([left], [right]) => left - right)) {
    const last = all.at(-1);
    if (last && range[0] <= last[1]) all[all.length - 1] = [last[0], Math.max(last[1], range[1])];
    else all.push(range);
  }
  return all;
}
