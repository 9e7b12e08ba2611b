// Documents of a partition that each follow from their own records: loaded, folded and written once for each batch. A record that is
// folded again after a crash counts once.
import {
  BufferedStates,
  WriteBehind,
  type Binary,
  type CollectionDeclaration,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';

/** What a record makes of the document under a key. */
export interface DocumentChange<Stored> {
  readonly key: string;
  /** Offset of the record. */
  readonly offset: number;
  /** Pure. @returns the document with the record in it; null where there is none afterwards */
  readonly after: (before: Stored | null) => Stored | null;
}

export interface FoldedDocumentsOptions<Stored extends GuardedDocument & { _id: Binary }> {
  readonly collection: CollectionDeclaration<Stored>;
  /** The id of the document under a key. */
  readonly idOf: (key: string) => Binary;
  /** Documents that stay in memory. */
  readonly cachedDocuments: number;
}

export class FoldedDocuments<Stored extends GuardedDocument & { _id: Binary }> {
  readonly #documents: BufferedStates<Stored, Stored>;
  readonly #behind: WriteBehind;

  constructor(
    readModel: Pick<ReadModel, 'collection' | 'engine'>,
    { collection, idOf, cachedDocuments }: FoldedDocumentsOptions<Stored>,
  ) {
    this.#documents = new BufferedStates<Stored, Stored>(readModel, {
      collection,
      idOf,
      toState: (document) => document,
      toDocument: (document) => document,
      maximumCached: cachedDocuments,
    });
    this.#behind = new WriteBehind([this.#documents]);
  }

  /** The documents under these keys; null where there is none. */
  load(keys: Iterable<string>): Promise<Map<string, Stored | null>> {
    return this.#documents.load(keys);
  }

  /** Resolves when the documents are stored. @param changes in the order of their records */
  async fold(changes: readonly DocumentChange<Stored>[]): Promise<void> {
    if (changes.length === 0) return;
    const folded = await this.load(changes.map(({ key }) => key));
    for (const { key, offset, after } of changes) {
      const before = folded.get(key) ?? null;
      // Folded already, before a crash.
      if (before && before.offset >= offset) continue;
      const document = after(before);
      folded.set(key, document);
      this.#documents.put(key, document);
    }
    await this.#behind.write();
  }

  /** Drops the documents in memory, which may be ahead of the stored ones. */
  forget(): void {
    this.#behind.forget();
  }
}
