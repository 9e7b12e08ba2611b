// The number of aliases that the leads of an OU have claimed in a partition, folded from claims and deletions, so that no batch has
// to count claims.
import {
  createGuardedWriter,
  createStateCache,
  findByIds,
  keyOf,
  uuidToBinary,
  type GuardedWriter,
  type ReadModel,
  type StateCache,
} from '@lead-scoring/read-model';
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
  readonly #stored;
  readonly #writer: GuardedWriter;
  readonly #cache: StateCache<AliasCountDocument>;

  constructor(
    readModel: Pick<ReadModel, 'collection' | 'engine'>,
    private readonly partition: number,
  ) {
    this.#stored = readModel.collection(aliasCounts);
    this.#writer = createGuardedWriter(readModel);
    this.#cache = createStateCache({ maximumEntries: maximumCached });
  }

  /** Counts by OU; an OU without claims is absent. */
  async lookUp(ouIds: Iterable<string>): Promise<Map<string, number>> {
    const found = await this.#load(ouIds);
    return new Map([...found].flatMap(([ouId, document]) => (document ? [[ouId, document.count]] : [])));
  }

  /** @param changes in the order of the log */
  async fold(changes: readonly CountChange[]): Promise<void> {
    if (changes.length === 0) return;
    const { partition } = this;
    const before = await this.#load(changes.map(({ ou_id }) => ou_id));
    const after = new Map<string, AliasCountDocument>();
    for (const { ou_id, by, offset } of changes) {
      const last = after.get(ou_id) ?? before.get(ou_id);
      // It was folded before a crash.
      if (last && last.offset >= offset) continue;
      const count = Math.max(0, (last?.count ?? 0) + by);
      const _id = aliasCountId(ou_id, partition);
      after.set(ou_id, { _id, ou: uuidToBinary(ou_id), count, partition, offset });
    }
    if (after.size === 0) return;
    const fresh = new Set([...after].flatMap(([ouId, document]) => (before.get(ouId) ? [] : [document])));
    await this.#writer.write(this.#stored, [...after.values()], {
      isNew: (document) => fresh.has(document),
    });
    for (const [ouId, document] of after) this.#cache.put(ouId, document);
  }

  forget(): void {
    this.#cache.clear();
  }

  #load(ouIds: Iterable<string>): Promise<Map<string, AliasCountDocument | null>> {
    return this.#cache.load(ouIds, async (missing) => {
      const ids = missing.map((ouId) => aliasCountId(ouId, this.partition));
      const ouOf = new Map(missing.map((ouId, index) => [keyOf(ids[index]), ouId]));
      const found = await findByIds(this.#stored, ids);
      return found.flatMap((document) => {
        const ouId = ouOf.get(keyOf(document._id));
        return ouId === undefined ? [] : [[ouId, document] as const];
      });
    });
  }
}
