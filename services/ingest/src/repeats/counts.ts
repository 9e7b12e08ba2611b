// Counts the repeats and refused aliases of an OU, of all time and of each quarter of an hour, so that no read adds up batches.
import { FoldedDocuments, type DocumentChange } from '@lead-scoring/capability';
import type { records } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { allTime, countId, quarterOf } from './count-keys.js';
import { repeatCounts, type RepeatCountDocument } from './documents.js';

/** What a record adds. */
export interface CountedRecord {
  ou_id: string;
  /** When it was recorded, in milliseconds since 1970. */
  timeMs: number;
  offset: number;
  repeats: number;
  differing: number;
  refused: number;
}

/** The most counters that stay in memory; each takes about 200 bytes. */
const cachedDocuments = 5_000;

export class RepeatCounts {
  /** By OU and quarter of an hour. */
  readonly #counts: FoldedDocuments<RepeatCountDocument>;

  constructor(
    readModel: Pick<ReadModel, 'collection' | 'engine'>,
    private readonly partition: number,
  ) {
    this.#counts = new FoldedDocuments(readModel, {
      collection: repeatCounts,
      idOf: (key) => countId(...counterNamed(key), partition),
      cachedDocuments,
    });
  }

  /** Resolves when the counts are stored. @param counted in the order of the log */
  fold(counted: readonly CountedRecord[]): Promise<void> {
    return this.#counts.fold(
      counted.flatMap((record) => keysOf(record).map((key) => changeBy(record, key, this.partition))),
    );
  }

  forget(): void {
    this.#counts.forget();
  }
}

function changeBy(
  { offset, repeats, differing, refused }: CountedRecord,
  key: string,
  partition: number,
): DocumentChange<RepeatCountDocument> {
  return {
    key,
    offset,
    after: (last) => ({
      _id: countId(...counterNamed(key), partition),
      repeats: (last?.repeats ?? 0) + repeats,
      differing: (last?.differing ?? 0) + differing,
      refused: (last?.refused ?? 0) + refused,
      partition,
      offset,
    }),
  };
}

export function countedRepeats(
  { ou_id, count, differing = 0 }: records.RepeatsDropped,
  at: Pick<CountedRecord, 'timeMs' | 'offset'>,
): CountedRecord {
  return { ou_id, repeats: count, differing, refused: 0, ...at };
}

export function countedAliases(
  { ou_id, count }: records.AliasesRefused,
  at: Pick<CountedRecord, 'timeMs' | 'offset'>,
): CountedRecord {
  return { ou_id, repeats: 0, differing: 0, refused: count, ...at };
}

const ouIdLength = 36;

/** The counters that a record changes. */
function keysOf({ ou_id, timeMs }: CountedRecord): [string, string] {
  return [`${ou_id}${String(allTime)}`, `${ou_id}${String(quarterOf(timeMs))}`];
}

/** The counter that a key names. */
function counterNamed(key: string): [ouId: string, quarter: number] {
  return [key.slice(0, ouIdLength), Number(key.slice(ouIdLength))];
}
