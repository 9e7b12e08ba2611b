// The number of aliases that the leads of an OU have claimed in a partition, folded from claims and deletions, so that no batch has
// to count claims.
import { BufferedStates, uuidToBinary, WriteBehind, type ReadModel } from '@lead-scoring/read-model';
import { aliasCountId, aliasCounts, type AliasCountDocument } from './documents.js';

/** A number of new claims or, negative, of the claims of a deleted lead. */
export interface CountChange {
  ou_id: string;
  by: number;
  /** The offset of the record that caused the change, so that a change that is folded again does not count twice. */
  offset: number;
}

/** The most OUs whose count is cached; each takes about 200 bytes. */
const maximumCached = 5_000;

export class AliasCounts {
  /** By OU. */
  readonly #counts: BufferedStates<AliasCountDocument, AliasCountDocument>;
  readonly #behind: WriteBehind;

  constructor(
    readModel: Pick<ReadModel, 'collection' | 'engine'>,
    private readonly partition: number,
  ) {
    this.#counts = new BufferedStates(readModel, {
      collection: aliasCounts,
      idOf: (ouId) => aliasCountId(ouId, partition),
      toState: (document) => document,
      toDocument: (document) => document,
      maximumCached,
    });
    this.#behind = new WriteBehind([this.#counts]);
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
    const counts = await this.#counts.load(changes.map(({ ou_id }) => ou_id));
    for (const { ou_id, by, offset } of changes) {
      const last = counts.get(ou_id);
      // It was folded before a crash.
      if (last && last.offset >= offset) continue;
      const count = Math.max(0, (last?.count ?? 0) + by);
      const _id = aliasCountId(ou_id, partition);
      const after = { _id, ou: uuidToBinary(ou_id), count, partition, offset };
      counts.set(ou_id, after);
      this.#counts.put(ou_id, after);
    }
    await this.#behind.write();
  }

  forget(): void {
    this.#behind.forget();
  }
}
