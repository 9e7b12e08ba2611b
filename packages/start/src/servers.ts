// Looks, before anything is started, whether the three servers let us in; and says what a lost disk would cost.
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

/** @throws Error that says what keeps us out of one of them, and which setting to change */
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

/** What a lost disk would cost. */
export async function copiesOfTheLog(servers: Servers): Promise<string> {
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
