// The number of aliases that the leads of an OU have claimed in a partition, folded from claims and deletions, so that no batch has
// to count claims.
import { FoldedDocuments } from '@lead-scoring/capability';
import { uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import { aliasCountId, aliasCounts, type AliasCountDocument } from './documents.js';

/** A number of new claims or, negative, of the claims of a deleted lead. */
export interface CountChange {
  ou_id: string;
  by: number;
  /** The offset of the record that caused the change, so that a change that is folded again does not count twice. */
  offset: number;
}

/** The most counters that stay in memory; each takes about 200 bytes. */
const cachedDocuments = 5_000;

export class AliasCounts {
  /** By OU. */
  readonly #counts: FoldedDocuments<AliasCountDocument>;

  constructor(
    readModel: Pick<ReadModel, 'collection' | 'engine'>,
    private readonly partition: number,
  ) {
    this.#counts = new FoldedDocuments(readModel, {
      collection: aliasCounts,
      idOf: (ouId) => aliasCountId(ouId, partition),
      cachedDocuments,
    });
  }

  /** Counts by OU; an OU without claims is absent. */
  async lookUp(ouIds: Iterable<string>): Promise<Map<string, number>> {
    const found = await this.#counts.load(ouIds);
    return new Map([...found].flatMap(([ouId, document]) => (document ? [[ouId, document.count]] : [])));
  }

  /** Resolves when the counts are stored. @param changes in the order of the log */
  async fold(changes: readonly CountChange[]): Promise<void> {
    if (changes.length === 0) return;
    const { partition } = this;
    await this.#counts.fold(
      changes.map(({ ou_id, by, offset }) => ({
        key: ou_id,
        offset,
        after: (last) => ({
          _id: aliasCountId(ou_id, partition),
          ou: uuidToBinary(ou_id),
          count: Math.max(0, (last?.count ?? 0) + by),
          partition,
          offset,
        }),
      })),
    );
  }

  forget(): void {
    this.#counts.forget();
  }
}
