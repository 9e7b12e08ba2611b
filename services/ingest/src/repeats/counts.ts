// Counts the repeats and refused aliases of an OU, of all time and of each quarter of an hour, so that no read adds up batches.
import type { records } from '@lead-scoring/contracts';
import { BufferedStates, WriteBehind, type ReadModel } from '@lead-scoring/read-model';
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
const maximumCached = 5_000;

export class RepeatCounts {
  /** By `keyOf`. */
  readonly #counts: BufferedStates<RepeatCountDocument, RepeatCountDocument>;
  readonly #behind: WriteBehind;

  constructor(
    readModel: Pick<ReadModel, 'collection' | 'engine'>,
    private readonly partition: number,
  ) {
    this.#counts = new BufferedStates(readModel, {
      collection: repeatCounts,
      idOf: (key) => countId(...counterNamed(key), partition),
      toState: (document) => document,
      toDocument: (document) => document,
      maximumCached,
    });
    this.#behind = new WriteBehind([this.#counts]);
  }

  /** Resolves when the counts are stored. @param counted in the order of the log */
  async fold(counted: readonly CountedRecord[]): Promise<void> {
    const { partition } = this;
    const counts = await this.#counts.load(counted.flatMap(keysOf));
    for (const one of counted)
      for (const key of keysOf(one)) {
        const last = counts.get(key);
        // It was folded before a crash.
        if (last && last.offset >= one.offset) continue;
        const after = {
          _id: countId(...counterNamed(key), partition),
          repeats: (last?.repeats ?? 0) + one.repeats,
          differing: (last?.differing ?? 0) + one.differing,
          refused: (last?.refused ?? 0) + one.refused,
          partition,
          offset: one.offset,
        };
        counts.set(key, after);
        this.#counts.put(key, after);
      }
    await this.#behind.write();
  }

  forget(): void {
    this.#behind.forget();
  }
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
