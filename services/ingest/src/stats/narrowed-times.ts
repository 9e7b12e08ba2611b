// Narrows the times in which counts have shown the first and the last event of a type: from 6 hours to a quarter of an hour, and from
// there to the second.
import { withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { eventPeriods } from '../analytics/documents.js';
import { visitCounts } from '../analytics/period-counts.js';
import { cellOf, cellStart, levels, periodIdsBetween } from '../analytics/period-keys.js';
import { shown, tooLarge, type TimeRange } from '../analytics/read-events.js';
import { secondsBetween } from '../events/keys.js';
import { searchSeconds, type Direction, type SeenSeconds } from './first-and-last.js';

/** Times in which the first and the last event of a type are. */
export interface SeenTimesOfType {
  first: TimeRange;
  last: TimeRange;
}

/**
 * The seconds of the first and the last event of each type; those of events that were deleted meanwhile are missing.
 * @param limit the most documents of seconds to read
 * @throws ProblemError 422 `range_too_large`
 */
export async function secondsWithin(
  readModel: ReadModel,
  ouId: string,
  types: ReadonlyMap<string, SeenTimesOfType>,
  limit: number,
): Promise<Map<string, SeenSeconds>> {
  const of = (which: keyof SeenTimesOfType) =>
    new Map([...types].map(([type, times]) => [type, times[which]] as const));
  const search = { readModel, ouId, left: limit, limit };
  const first = await narrowed(search, of('first'), 'later');
  const last = await narrowed(search, of('last'), 'earlier');
  return new Map(
    [...first].flatMap(([type, second]) => {
      const other = last.get(type);
      return other === undefined ? [] : [[type, { first: second, last: other }] as const];
    }),
  );
}

interface Search {
  readModel: ReadModel;
  ouId: string;
  limit: number;
  /** Documents of seconds that may still be read. */
  left: number;
}

async function narrowed(
  search: Search,
  times: ReadonlyMap<string, TimeRange>,
  direction: Direction,
): Promise<Map<string, number>> {
  const { readModel, ouId, limit } = search;
  const seconds = new Map<string, number>();
  const longer = new Map<string, TimeRange>();
  for (const [type, time] of times)
    if (time[1] - time[0] > 1_000) longer.set(type, time);
    else seconds.set(type, time[0] / 1_000);
  for (const [quarterMs, types] of grouped(await inQuarters(search, longer, direction))) {
    const range = secondsBetween(ouId, quarterMs / 1_000, (quarterMs + levels.hours.cellMs) / 1_000);
    const { found, read } = await searchSeconds(
      readModel,
      { ouId, range },
      types,
      direction,
      search.left + 1,
    );
    search.left -= read;
    if (search.left < 0) throw tooLarge(`${shown(limit)} seconds with events`);
    for (const [type, second] of found) seconds.set(type, second);
  }
  return seconds;
}

/** The beginning of the quarter of an hour of each type. */
async function inQuarters(
  { readModel, ouId }: Search,
  times: ReadonlyMap<string, TimeRange>,
  direction: Direction,
): Promise<Map<string, number>> {
  const { cellMs } = levels.hours;
  const quarters = new Map<string, number>();
  const long = new Map<string, number>();
  for (const [type, [fromMs, toMs]] of times)
    if (toMs - fromMs > cellMs) long.set(type, cellOf('hours', fromMs).period);
    else quarters.set(type, Math.floor(fromMs / cellMs) * cellMs);
  await withClassifiedErrors(async () => {
    for (const [period, types] of grouped(long))
      for await (const document of readModel
        .collection(eventPeriods)
        .find({ _id: periodIdsBetween(ouId, 'hours', period, period + 1) }))
        visitCounts(document, (type, cell) => {
          if (!types.has(type)) return;
          const startMs = cellStart('hours', { period, cell });
          const known = quarters.get(type);
          if (known === undefined || (direction === 'later' ? startMs < known : startMs > known))
            quarters.set(type, startMs);
        });
  });
  return quarters;
}

/** The types by their value. */
function grouped(values: ReadonlyMap<string, number>): Map<number, Set<string>> {
  const groups = new Map<number, Set<string>>();
  for (const [type, value] of values) {
    const group = groups.get(value) ?? new Set<string>();
    groups.set(value, group.add(type));
  }
  return groups;
}
