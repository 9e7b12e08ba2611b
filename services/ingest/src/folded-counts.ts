// Counters of a partition, folded from the log: a record that is folded again after a crash counts once.
import {
  BufferedStates,
  WriteBehind,
  type Binary,
  type CollectionDeclaration,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';

/** What a record adds to the counter under a key. */
export interface CountedChange<Counts> {
  key: string;
  offset: number;
  /** The counts after the record; `last` is null where there is no counter yet. */
  after: (last: Counts | null) => Counts;
}

/** The most counters that stay in memory; each takes about 200 bytes. */
const maximumCached = 5_000;

export class FoldedCounts<Document extends GuardedDocument> {
  readonly #counts: BufferedStates<Document, Document>;
  readonly #behind: WriteBehind;

  constructor(
    readModel: Pick<ReadModel, 'collection' | 'engine'>,
    counters: { collection: CollectionDeclaration<Document>; idOf: (key: string) => Binary },
  ) {
    this.#counts = new BufferedStates(readModel, {
      ...counters,
      toState: (document) => document,
      toDocument: (document) => document,
      maximumCached,
    });
    this.#behind = new WriteBehind([this.#counts]);
  }

  /** The counters under these keys; null where there is none. */
  load(keys: Iterable<string>): Promise<Map<string, Document | null>> {
    return this.#counts.load(keys);
  }

  /** Resolves when the counts are stored. @param changes in the order of the log */
  async fold(changes: readonly CountedChange<Document>[]): Promise<void> {
    const counts = await this.load(changes.map(({ key }) => key));
    for (const { key, offset, after } of changes) {
      const last = counts.get(key) ?? null;
      // It was folded before a crash.
      if (last && last.offset >= offset) continue;
      const counted = after(last);
      counts.set(key, counted);
      this.#counts.put(key, counted);
    }
    await this.#behind.write();
  }

  /** Drops the counts in memory, which may be ahead of the stored ones. */
  forget(): void {
    this.#behind.forget();
  }
}
