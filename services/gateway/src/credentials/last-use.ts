// Records when each credential was last used, to the minute and without delaying requests.
import {
  createBoundedCache,
  binaryToUuid,
  defineCollection,
  findByIds,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { defineComponent, type Component, type Logger } from '@lead-scoring/service';
import { startPeriodicWrites } from '../periodic-writes.js';

interface LastUseDocument {
  _id: Binary;
  last_used_at: Date;
}

export const lastUses = defineCollection<LastUseDocument>({
  name: 'credential_last_uses',
  indexes: [],
  isLasting: true,
});

export interface LastUseRecorder {
  /** Notes that a credential was used now, without waiting; at most one write a minute follows. */
  used(credentialId: string): void;
}

const intervalMs = 60_000;
const writeEveryMs = 1_000;

/** Writes the noted uses together once a second. A failed write is dropped: the next minute's use is noted again. */
export function createLastUseRecorder(readModel: ReadModel, logger: Logger): Component<LastUseRecorder> {
  return defineComponent('last uses', () => {
    const recorded = createBoundedCache<number>({ maximumEntries: 20_000 });
    const pending = new Map<string, Date>();
    const write = async (): Promise<void> => {
      if (pending.size === 0) return;
      const batch = [...pending];
      pending.clear();
      try {
        await withClassifiedErrors(() =>
          readModel.collection(lastUses).bulkWrite(
            batch.map(([id, last_used_at]) => ({
              updateOne: {
                filter: { _id: uuidToBinary(id) },
                update: { $max: { last_used_at } },
                upsert: true,
              },
            })),
            { ordered: false },
          ),
        );
      } catch (error) {
        logger.debug({ err: error }, 'last uses were not recorded');
      }
    };
    const stop = startPeriodicWrites(write, writeEveryMs);
    return Promise.resolve({
      value: {
        used: (credentialId: string) => {
          const now = Date.now();
          if (now - (recorded.get(credentialId) ?? 0) < intervalMs) return;
          recorded.set(credentialId, now);
          pending.set(credentialId, new Date(now));
        },
      },
      stop,
    });
  });
}

/** The time of the last use of each credential, by id. */
export async function lastUsesOf(
  readModel: ReadModel,
  credentialIds: readonly string[],
): Promise<Map<string, string>> {
  const found = await findByIds(readModel.collection(lastUses), credentialIds.map(uuidToBinary));
  return new Map(found.map(({ _id, last_used_at }) => [binaryToUuid(_id), last_used_at.toISOString()]));
}
