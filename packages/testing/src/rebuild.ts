// Rebuilds a service's read models and compares them with the earlier ones: replaying the log has to give the same documents.
import type { ServiceName } from '@lead-scoring/contracts';
import { requestRebuild } from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/platform/waiting';
import { databaseName, type StoredEditions } from '@lead-scoring/read-model';
import { MongoClient } from 'mongodb';
import { untilAllIsStored } from './stored-checkpoints.js';
import { differences, storedDocuments, type StoredDocuments } from './stored-documents.js';
import { openSystemLog } from './system-log.js';
import type { TestSystem } from './test-system.js';

/**
 * Rebuilds services at the same time; resolves when their reads answer from the filled editions.
 * @param filling called once, when a first edition is seen to be filled
 */
export async function rebuild(
  system: Pick<TestSystem, 'endpoints' | 'namespace'>,
  services: readonly ServiceName[],
  timeoutMs: number,
  filling: () => void = () => undefined,
): Promise<void> {
  let isFilling = false;
  const log = openSystemLog(system);
  const client = await MongoClient.connect(system.endpoints.mongodbUri);
  try {
    await log.prepare();
    await Promise.all(
      services.map(async (service) => {
        const { rebuildId } = await requestRebuild(log, service);
        const editions = client
          .db(databaseName(system.namespace, service))
          .collection<StoredEditions>('editions');
        await eventually(
          `${service} is rebuilt`,
          async () => {
            const found = await editions.findOne();
            if (found?.filling && !isFilling) {
              isFilling = true;
              filling();
            }
            return found?.done.includes(rebuildId) === true;
          },
          timeoutMs,
        );
      }),
    );
  } finally {
    await client.close();
    await log.close();
  }
}

/** Rebuilds a service; returns its documents before the rebuild, and their differences from those after it. */
export async function rebuilt(
  system: TestSystem,
  service: ServiceName,
  timeoutMs: number,
): Promise<{ before: StoredDocuments; differences: string[] }> {
  const database = databaseName(system.namespace, service);
  const stored = () => storedDocuments(system.endpoints, database, { except: ['checkpoints'] });
  await untilAllIsStored(system, [service]);
  const before = await stored();
  await rebuild(system, [service], timeoutMs);
  return { before, differences: differences(before, await stored()) };
}
