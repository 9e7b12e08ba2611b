// How many aliases the leads of an OU have claimed in a partition: a count that is folded, so that nobody has to count claims.
import { nameBasedId } from '@lead-scoring/contracts';
import {
  createGuardedWriter,
  createStateCache,
  defineCollection,
  findByIds,
  keyOf,
  uuidToBinary,
  type Binary,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';

export interface AliasCountDocument extends GuardedDocument {
  _id: Binary;
  ou: Binary;
  count: number;
}

export const aliasCounts = defineCollection<AliasCountDocument>({ name: 'alias_counts', indexes: [] });

/** Claims that were made, or less than none that went with a lead. */
export interface CountChange {
  ou_id: string;
  by: number;
  /** Of the record on the log that says so: a change counts once, however often it is folded. */
  offset: number;
}

export interface AliasCounts {
  /** Absent of OUs without any. */
  lookUp(ouIds: Iterable<string>): Promise<Map<string, number>>;
  /** @param changes in the order of the log */
  fold(changes: readonly CountChange[]): Promise<void>;
  clear(): void;
}

/** OUs of which the count is in hand; some 200 bytes each. */
const maximumHeld = 5_000;

export function openAliasCounts(
  readModel: Pick<ReadModel, 'collection' | 'engine'>,
  partition: number,
): AliasCounts {
  const stored = readModel.collection(aliasCounts);
  const writer = createGuardedWriter(readModel);
  const held = createStateCache<AliasCountDocument>({ maximumEntries: maximumHeld });
  const idOf = (ouId: string) => uuidToBinary(nameBasedId(ouId, `alias-count:${String(partition)}`));

  const load = (ouIds: Iterable<string>) =>
    held.load(ouIds, async (missing) => {
      const ouOf = new Map(missing.map((ouId) => [keyOf(idOf(ouId)), ouId]));
      const found = await findByIds(stored, missing.map(idOf));
      return found.flatMap((document) => {
        const ouId = ouOf.get(keyOf(document._id));
        return ouId === undefined ? [] : [[ouId, document] as const];
      });
    });

  return {
    lookUp: async (ouIds) => {
      const found = await load(ouIds);
      return new Map([...found].flatMap(([ouId, document]) => (document ? [[ouId, document.count]] : [])));
    },
    fold: async (changes) => {
      if (changes.length === 0) return;
      const before = await load(changes.map(({ ou_id }) => ou_id));
      const after = new Map<string, AliasCountDocument>();
      for (const { ou_id, by, offset } of changes) {
        const last = after.get(ou_id) ?? before.get(ou_id);
        // Folded already, before a crash.
        if (last && last.offset >= offset) continue;
        const count = Math.max(0, (last?.count ?? 0) + by);
        after.set(ou_id, { _id: idOf(ou_id), ou: uuidToBinary(ou_id), count, partition, offset });
      }
      if (after.size === 0) return;
      const fresh = new Set([...after].flatMap(([ouId, document]) => (before.get(ouId) ? [] : [document])));
      await writer.write(stored, [...after.values()], { isNew: (document) => fresh.has(document) });
      for (const [ouId, document] of after) held.put(ouId, document);
    },
    clear: () => {
      held.clear();
    },
  };
}
