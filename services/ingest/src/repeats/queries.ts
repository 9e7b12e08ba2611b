// Reads the numbers of repeats and of refused aliases: of batches, of all time, and by spans of time.
import { placeIn, type TimeSpan } from '@lead-scoring/contracts';
import { withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { tooLarge } from '../analytics/read-events.js';
import { allTime, countIdsBetween, quarterOf, quarterStart } from './count-keys.js';
import {
  droppedRepeats,
  refusedAliases,
  repeatCounts,
  repeatIdsOf,
  type RepeatCountDocument,
} from './documents.js';

export interface RepeatNumbers {
  repeats: number;
  differing: number;
  aliases_refused: number;
}

const none = (): RepeatNumbers => ({ repeats: 0, differing: 0, aliases_refused: 0 });

/** @param batches ids of batches; a repeated one counts once */
export async function repeatsOfBatches(
  readModel: ReadModel,
  ouId: string,
  batches: Iterable<string>,
): Promise<RepeatNumbers> {
  const filter = { $or: [...new Set(batches)].map((batchId) => ({ _id: repeatIdsOf(ouId, batchId) })) };
  const [found, refused] = await withClassifiedErrors(() =>
    Promise.all([
      readModel.collection(droppedRepeats).find(filter).toArray(),
      readModel.collection(refusedAliases).find(filter).toArray(),
    ]),
  );
  return {
    repeats: found.reduce((sum, { count }) => sum + count, 0),
    differing: found.reduce((sum, { differing = 0 }) => sum + differing, 0),
    aliases_refused: refused.reduce((sum, { count }) => sum + count, 0),
  };
}

export async function repeatsOfAllTime(readModel: ReadModel, ouId: string): Promise<RepeatNumbers> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(repeatCounts)
      .find({ _id: countIdsBetween(ouId, allTime, allTime) })
      .toArray(),
  );
  return sumOf(found.map(numbersIn));
}

/**
 * The numbers of each span, by the quarters of an hour that begin in it.
 * @param limit the most counters to read
 * @throws ProblemError 422 `range_too_large`
 */
export async function repeatsBySpan(
  readModel: ReadModel,
  ouId: string,
  spans: readonly [TimeSpan, ...TimeSpan[]],
  limit: number,
): Promise<RepeatNumbers[]> {
  const bySpan = spans.map(none);
  const [from, to] = [Date.parse(spans[0].from), Date.parse((spans.at(-1) ?? spans[0]).at)];
  let read = 0;
  await withClassifiedErrors(async () => {
    for await (const document of readModel
      .collection(repeatCounts)
      .find({ _id: countIdsBetween(ouId, quarterOf(from), quarterOf(to)) })
      .limit(limit + 1)) {
      read += 1;
      if (read > limit) throw tooLarge(`${limit.toLocaleString('en')} quarters of an hour with repeats`);
      const span = bySpan[placeIn(spans, new Date(quarterStart(document._id)).toISOString())];
      if (span) add(span, numbersIn(document));
    }
  });
  return bySpan;
}

/** The numbers of all together. */
export function sumOf(numbers: readonly RepeatNumbers[]): RepeatNumbers {
  const sum = none();
  for (const one of numbers) add(sum, one);
  return sum;
}

function numbersIn({ repeats, differing, refused }: RepeatCountDocument): RepeatNumbers {
  return { repeats, differing, aliases_refused: refused };
}

function add(sum: RepeatNumbers, { repeats, differing, aliases_refused }: RepeatNumbers): void {
  sum.repeats += repeats;
  sum.differing += differing;
  sum.aliases_refused += aliases_refused;
}
