// The connection of one service to its own database.
import type { Logger } from 'pino';
import { MongoClient, type Collection, type Db, type Document } from 'mongodb';
import type { CollectionDeclaration } from './collections.js';
import { withClassifiedErrors } from './errors.js';

export interface ReadModelConfiguration {
  uri: string;
  /** Database of this service; see `databaseName`. */
  database: string;
  /** Deadline of one operation, retries of the driver included. Well under a Kafka session (30 s). */
  timeoutMs?: number;
  /** Connections to one server. Guarded writes use two at a time per partition. */
  maximumConnections?: number;
}

/** Which engine answers on the wire. Strategies that differ in cost are chosen by it. */
export type Engine = 'mongodb' | 'ferretdb';

export interface ReadModel {
  readonly db: Db;
  readonly engine: Engine;
  collection<Stored extends Document>(declaration: CollectionDeclaration<Stored>): Collection<Stored>;
  /** Resolves when the server answers; rejects with a ReadModelError otherwise. For readiness. */
  ping(timeoutMs?: number): Promise<void>;
  close(): Promise<void>;
}

/** The database of a service within a namespace: `<namespace>_<service>`. */
export function databaseName(namespace: string, service: string): string {
  return `${namespace}_${service}`;
}

/**
 * Connects and asks the server what it is.
 * @throws ReadModelError `database_unavailable` when no server answers within the time
 */
export async function connectReadModel(
  configuration: ReadModelConfiguration,
  { logger }: { logger: Logger },
): Promise<ReadModel> {
  const timeoutMs = configuration.timeoutMs ?? 10_000;
  const client = new MongoClient(configuration.uri, {
    timeoutMS: timeoutMs,
    serverSelectionTimeoutMS: Math.min(timeoutMs, 5_000),
    connectTimeoutMS: Math.min(timeoutMs, 5_000),
    maxPoolSize: configuration.maximumConnections ?? 20,
    // Acknowledged by a majority: the checkpoint that follows must not be able to outlive the data.
    w: 'majority',
    retryWrites: !/[?&]retryWrites=false(&|$)/.test(configuration.uri),
    // Integers come back as numbers, whatever width the server stored them in; offsets are safe integers.
    promoteLongs: true,
    promoteValues: true,
    useBigInt64: false,
    ignoreUndefined: true,
  });
  const db = client.db(configuration.database);
  try {
    const engine = await withClassifiedErrors(async () => {
      await client.connect();
      return engineOf(await client.db('admin').command({ buildInfo: 1 }));
    });
    logger.info({ database: configuration.database, engine }, 'connected to the read model');
    return {
      db,
      engine,
      collection: (declaration) => db.collection(declaration.name),
      ping: (pingTimeoutMs = 2_000) =>
        withClassifiedErrors(async () => {
          await db.command({ ping: 1 }, { timeoutMS: pingTimeoutMs });
        }),
      close: () => client.close(),
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

function engineOf(buildInformation: Document): Engine {
  return 'ferretdb' in buildInformation || 'ferretdbVersion' in buildInformation ? 'ferretdb' : 'mongodb';
}
