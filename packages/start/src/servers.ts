// Checks, before any service starts, that the three servers accept our credentials; and describes the log's replication.
import type { ServerAccess } from '@lead-scoring/contracts';
import {
  checkSchemaRegistry,
  createEventLog,
  listReplication,
  replicationSentence,
  type EventLog,
} from '@lead-scoring/event-log';
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { checkDatabase } from '@lead-scoring/read-model';
import { pino } from 'pino';

export interface Servers {
  endpoints: PlatformEndpoints;
  namespace: string;
  partitions: number;
  access: ServerAccess;
}

/** @throws Error that names the server that refuses access, the reason, and the setting to change */
export async function checkAccess(servers: Servers): Promise<void> {
  const { endpoints, access } = servers;
  await withLog(servers, async (log) => {
    await Promise.all([
      listReplication(log),
      checkSchemaRegistry(log),
      checkDatabase({ uri: endpoints.mongodbUri, access }),
    ]);
  });
}

/** A sentence on how many copies of the log exist, and so what a lost disk would cost. */
export async function describeReplication(servers: Servers): Promise<string> {
  return withLog(
    servers,
    async (log) => `${replicationSentence(await listReplication(log))} (docs/runbooks/replication.md).`,
  );
}

async function withLog<Result>(
  { endpoints, namespace, partitions, access }: Servers,
  use: (log: EventLog) => Promise<Result>,
): Promise<Result> {
  const log = createEventLog(
    {
      brokers: endpoints.kafkaBrokers,
      schemaRegistryUrl: endpoints.schemaRegistryUrl,
      namespace,
      clientId: 'lead-scoring-start',
      partitions,
      access,
    },
    { logger: pino({ level: 'silent' }) },
  );
  try {
    return await use(log);
  } finally {
    await log.close();
  }
}
