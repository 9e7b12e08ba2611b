// Rebuilds a service's read models and compares them with the earlier ones: replaying the log has to give the same documents.
import { requestRebuild, waitUntilConsumed } from '@lead-scoring/event-log';
import type { ServiceName } from '@lead-scoring/contracts';
import { differences, storedDocuments, type StoredDocuments } from './stored-documents.js';
import { openSystemLog } from './system-log.js';
import type { TestSystem } from './test-system.js';

/** Rebuilds a service; returns its documents before the rebuild, and their differences from those after it. */
export async function rebuilt(
  system: TestSystem,
  service: ServiceName,
  timeoutMs: number,
): Promise<{ before: StoredDocuments; differences: string[] }> {
  const database = `${system.namespace}_${service}`;
  const stored = () => storedDocuments(system.endpoints, database, { except: ['checkpoints'] });
  const before = await stored();
  const log = openSystemLog(system);
  try {
    await log.prepare();
    const { positions } = await requestRebuild(log, service);
    if (!(await waitUntilConsumed(log, service, `${service}.commands`, positions, { timeoutMs })))
      throw new Error(`${service} is not rebuilt after ${timeoutMs} ms`);
  } finally {
    await log.close();
  }
  return { before, differences: differences(before, await stored()) };
}
