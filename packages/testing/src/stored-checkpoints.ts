// The places in the log that a service's stored documents have reached.
import type { ServiceName } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { databaseName, nameInEdition } from '@lead-scoring/read-model';
import { MongoClient } from 'mongodb';
import { readTopic } from './public-topics.js';
import { liveEdition } from './stored-documents.js';
import type { TestSystem } from './test-system.js';

/** The next offset of the service's own topic that the documents of its live edition lack, by partition. */
export async function storedOffsets(
  database: MongoClient,
  { namespace }: Pick<TestSystem, 'namespace'>,
  service: ServiceName,
): Promise<Map<number, number>> {
  const db = database.db(databaseName(namespace, service));
  const found = await db
    .collection<{ partition: number; offset: number }>('checkpoints')
    .find({ name: nameInEdition(service, await liveEdition(db)) })
    .toArray();
  return new Map(found.map(({ partition, offset }) => [partition, offset]));
}

/** The partitions whose stored documents lack committed records of the service's own topic. */
export async function partitionsToStore(
  database: MongoClient,
  system: Pick<TestSystem, 'endpoints' | 'namespace'>,
  service: ServiceName,
): Promise<number[]> {
  const recorded = await readTopic(system.endpoints, `${system.namespace}.${service}.events`);
  const lastOffsets = new Map(recorded.map(({ partition, offset }) => [partition, Number(offset)]));
  const stored = await storedOffsets(database, system, service);
  return [...lastOffsets].flatMap(([partition, last]) =>
    last >= (stored.get(partition) ?? 0) ? [partition] : [],
  );
}

/**
 * Waits until the services' stored documents have all that the services have recorded: a partition that is opened again after a crash folds
 * what the database has lost, and some documents are written seconds after their events.
 */
export async function untilAllIsStored(
  system: Pick<TestSystem, 'endpoints' | 'namespace'>,
  services: readonly ServiceName[],
): Promise<void> {
  const database = await MongoClient.connect(system.endpoints.mongodbUri);
  try {
    for (const service of services)
      await eventually(
        `${service} has stored all that it has recorded`,
        async () => (await partitionsToStore(database, system, service)).length === 0,
        60_000,
      );
  } finally {
    await database.close();
  }
}
