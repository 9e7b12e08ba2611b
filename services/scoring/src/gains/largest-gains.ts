// Finds the leads of an OU that gained most since an hour. The statistics of each partition are read first: they hold its last gains
// and the number of its full lists before these, which are then read from the newest hours to the oldest.
import { setImmediate } from 'node:timers/promises';
import { bytesOf, uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { ProblemError } from '@lead-scoring/service';
import { histograms, type HistogramDocument } from '../leads/documents.js';
import {
  endOfHours,
  gainListKeysWithin,
  gainLists,
  placeOfList,
  type GainListDocument,
} from './documents.js';
import { entriesPerList } from './gain-model.js';
import { GainTally, type LeadGain } from './packed-gains-model.js';

export interface LargestGains {
  readonly gains: readonly LeadGain[];
  /** The number of leads that gained points. */
  readonly leads: number;
}

export interface GainRange {
  /** The first hour. */
  readonly from: number;
  /** The hour of now. */
  readonly now: number;
}

/** A question reads at most so many full lists: 1,000,000 gains of a lead in an hour. */
export const maximumLists = 10_000;

/** Lists that are summed up at once: other work goes on in between. */
const listsAtOnce = 500;

/** @throws ProblemError 422 `too_many_gains` where the hours have more lists than a question reads */
export async function largestGains(
  readModel: ReadModel,
  ouId: string,
  { from, now }: GainRange,
  limit: number,
  listsToRead = maximumLists,
): Promise<LargestGains> {
  const tally = new GainTally(from);
  const known = new Map<number, number>();
  for (const { partition, gains, gain_lists = 0 } of await loadOpenGains(readModel, ouId)) {
    known.set(partition, gain_lists);
    if (gains) tally.add(bytesOf(gains));
  }
  let left = listsToRead;
  for (const slice of slicesOf({ from, now })) {
    const found = await listsWithin(readModel, ouId, slice, left + 1);
    left -= found.length;
    if (left < 0) throw tooManyGains(now - slice.to);
    const counted = found
      .map((list) => ({ list, place: placeOfList(list._id) }))
      .filter(({ place }) => place.number < (known.get(place.partition) ?? 0))
      .sort((one, other) => other.place.number - one.place.number);
    for (const [index, { list }] of counted.entries()) {
      if (index % listsAtOnce === listsAtOnce - 1) await setImmediate();
      tally.add(bytesOf(list.entries));
    }
  }
  return { gains: tally.largest(limit), leads: tally.leads };
}

type StoredGains = Pick<HistogramDocument, '_id' | 'partition' | 'gains' | 'gain_lists'>;

function loadOpenGains(readModel: ReadModel, ouId: string): Promise<StoredGains[]> {
  return withClassifiedErrors(() =>
    readModel
      .collection(histograms)
      .find({ ou: uuidToBinary(ouId) })
      .project<StoredGains>({ partition: 1, gains: 1, gain_lists: 1 })
      .toArray(),
  );
}

/** A range of hours; `to` is not in it. */
interface HourSlice {
  readonly from: number;
  readonly to: number;
}

/** The hours from the newest to the oldest, in slices that double: the first one is an hour and what has passed of the next. A machine with a clock ahead may have later hours than now's. */
function slicesOf({ from, now }: GainRange): HourSlice[] {
  const slices: HourSlice[] = [];
  let to = endOfHours;
  for (let hours = 2; to > from; hours *= 2) {
    const start = Math.max(from, Math.min(to, now + 1) - hours);
    slices.push({ from: start, to });
    to = start;
  }
  return slices;
}

function listsWithin(
  readModel: ReadModel,
  ouId: string,
  { from, to }: HourSlice,
  limit: number,
): Promise<GainListDocument[]> {
  return withClassifiedErrors(() =>
    readModel
      .collection(gainLists)
      .find({ _id: gainListKeysWithin(ouId, from, to) })
      .limit(limit)
      .toArray(),
  );
}

function tooManyGains(hours: number): ProblemError {
  const most = `more than ${String((maximumLists * entriesPerList) / 1_000_000)} million gains of a lead in an hour`;
  return new ProblemError(
    422,
    'too_many_gains',
    hours > 0
      ? `The leads of this organizational unit have ${most} in these hours. Ask for at most ${String(hours)}.`
      : `The leads of this organizational unit have ${most} in the last hour alone. GET /top-leads lists the highest scores.`,
  );
}
