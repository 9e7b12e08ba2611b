// The connection of one service to its own database.
import type { Logger } from 'pino';
import type { ServerAccess } from '@lead-scoring/contracts';
import { MongoClient, type Collection, type Db, type Document, type MongoClientOptions } from 'mongodb';
import { createLook, type CheckpointLook } from './checkpoint-look.js';
import type { CollectionDeclaration } from './collection-declaration.js';
import { databaseProblem } from './access-errors.js';
import { ReadModelError, withClassifiedErrors } from './errors.js';
import { LeasedConnection } from './leased-connection.js';
import type { WriteLease } from './write-lease.js';

export interface ReadModelConfiguration {
  uri: string;
  /** Database of this service; see `databaseName`. */
  database: string;
  /**
   * Milliseconds without a word from the server after which an operation is given up. With the driver's one retry
   * and the search for a server, an operation ends within 2 × (timeoutMs + 3 s): keep that under a Kafka session (30 s).
   */
  timeoutMs?: number;
  /** Connections to one server. Guarded writes use two at a time per partition. */
  maximumConnections?: number;
  /** Its MONGODB_ settings: how the server lets us in, beside user and password, which are in the URI. */
  access?: ServerAccess | undefined;
}

/** Which engine answers on the wire. Strategies that differ in cost are chosen by it. */
export type Engine = 'mongodb' | 'ferretdb';

export interface ReadModel {
  readonly db: Db;
  readonly engine: Engine;
  /** Of the partition state that writes here; absent for who only reads. */
  readonly lease?: WriteLease;
  /** Whether the checkpoints that are held here are still what was stored. */
  readonly look: CheckpointLook;
  collection<Stored extends Document>(declaration: CollectionDeclaration<Stored>): Collection<Stored>;
  /** Resolves when the server answers; rejects with a ReadModelError otherwise. For readiness. */
  ping(): Promise<void>;
  /**
   * Runs work that may take minutes (building an index, dropping a database) on a connection of its own, on which
   * a silent server is waited for.
   */
  patiently<Result>(work: (db: Db) => Promise<Result>): Promise<Result>;
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
  const options: MongoClientOptions & { connectionType: typeof LeasedConnection } = {
    connectionType: LeasedConnection,
    serverSelectionTimeoutMS: selectionTimeoutMs,
    connectTimeoutMS: selectionTimeoutMs,
    waitQueueTimeoutMS: timeoutMs,
    maxPoolSize: configuration.maximumConnections ?? 20,
    // Acknowledged by a majority: the checkpoint that follows must not be able to outlive the data.
    writeConcern: { w: 'majority' },
    // Integers come back as numbers, whatever width the server stored them in; offsets are safe integers.
    promoteLongs: true,
    promoteValues: true,
    useBigInt64: false,
    ignoreUndefined: true,
    ...tlsOf(configuration.access ?? {}),
  };
  // The driver's own `timeoutMS` has no effect from 7.8 on: a silent server is noticed by its socket alone.
  const client = new MongoClient(configuration.uri, { ...options, socketTimeoutMS: timeoutMs });
  const db = client.db(configuration.database);
  try {
    const engine = await withClassifiedErrors(async () => {
      await client.connect();
      return engineOf(await client.db('admin').command({ buildInfo: 1 }));
    });
    logger.info({ database: configuration.database, engine }, 'connected to the read model');
    const look = createLook({ db, engine });
    client.on('connectionClosed', ({ reason }) => {
      if (reason === 'error') look.interrupted();
    });
    client.on('connectionPoolCleared', () => {
      look.interrupted();
    });
    const collections = new Map<string, Collection>();
    return {
      db,
      engine,
      look,
      // One object for each, by which the calls that come at a time are gathered.
      collection: <Stored extends Document>({ name }: CollectionDeclaration<Stored>) => {
        const collection = collections.get(name) ?? db.collection(name);
        collections.set(name, collection);
        return collection as unknown as Collection<Stored>;
      },
      ping: () =>
        withClassifiedErrors(async () => {
          await db.command({ ping: 1 });
        }),
      patiently: (work) =>
        withClassifiedErrors(async () => {
          const patient = new MongoClient(configuration.uri, { ...options, maxPoolSize: 2 });
          try {
            return await work(patient.db(configuration.database));
          } finally {
            await patient.close();
          }
        }),
      close: () => client.close(),
    };
  } catch (error) {
    await client.close();
    throw explained(error);
  }
}

/**
 * Whether the server lets us in, for tools that look before they start something.
 * @throws ReadModelError that says what keeps us out, and which setting to change
 */
export async function checkDatabase(
  configuration: Pick<ReadModelConfiguration, 'uri' | 'access'>,
): Promise<void> {
  const client = new MongoClient(configuration.uri, {
    serverSelectionTimeoutMS: selectionTimeoutMs,
    ...tlsOf(configuration.access ?? {}),
  });
  try {
    await withClassifiedErrors(async () => {
      await client.connect();
      await client.db('admin').command({ ping: 1 });
    });
  } catch (error) {
    throw explained(error);
  } finally {
    await client.close();
  }
}

/** The same error with what keeps us out of the server, and which setting to change, where that is known. */
function explained(error: unknown): unknown {
  const problem = databaseProblem(error);
  if (problem === undefined || !(error instanceof ReadModelError)) return error;
  return new ReadModelError(error.code, problem, error.retriable, { cause: error });
}

const selectionTimeoutMs = 3_000;

function tlsOf(access: ServerAccess): MongoClientOptions {
  const { MONGODB_CA_FILE: ca, MONGODB_CERTIFICATE_KEY_FILE: certificate } = access;
  if (ca === undefined && certificate === undefined) return {};
  return {
    tls: true,
    ...(ca !== undefined && { tlsCAFile: ca }),
    ...(certificate !== undefined && { tlsCertificateKeyFile: certificate }),
  };
}

function engineOf(buildInformation: Document): Engine {
  return 'ferretdb' in buildInformation ? 'ferretdb' : 'mongodb';
}
