// The connection of one service to its own database.
import type { Logger } from 'pino';
import { serviceNames, type ServerAccess } from '@lead-scoring/contracts';
import { MongoClient, type Collection, type Db, type Document, type MongoClientOptions } from 'mongodb';
import { createDatabaseVerifier, type CheckpointVerifier } from './checkpoint-verifier.js';
import type { CollectionDeclaration } from './collection-declaration.js';
import { withRemedy } from './access-errors.js';
import { withClassifiedErrors } from './errors.js';
import { LeasedConnection } from './leased-connection.js';
import { OwnCheckpoints } from './own-checkpoints.js';
import type { WriteLease } from './write-lease.js';

export interface ReadModelConfiguration {
  uri: string;
  /** The service's database; see `databaseName`. */
  database: string;
  /**
   * Milliseconds without an answer of the server after which an operation fails. With the driver's one retry and the
   * search for a server, an operation ends within 2 × (timeoutMs + 3 s): keep that below a Kafka session (30 s).
   */
  timeoutMs?: number;
  /** Maximum number of connections to one server. Guarded writes use two at a time per partition. */
  maximumConnections?: number;
  /** The MONGODB_ settings for TLS; user and password are in the URI. */
  access?: ServerAccess | undefined;
}

/** The database engine; write strategies are chosen by it. */
export type Engine = 'mongodb' | 'ferretdb';

export interface ReadModel {
  readonly db: Db;
  readonly engine: Engine;
  /** The lease of the partition state that writes here; absent for readers. */
  readonly lease?: WriteLease;
  /** Verifies the checkpoints that partition states of this process own. */
  readonly checkpointVerifier: CheckpointVerifier;
  /** The checkpoints that partition states of this process own. */
  readonly ownCheckpoints: OwnCheckpoints;
  collection<Stored extends Document>(declaration: CollectionDeclaration<Stored>): Collection<Stored>;
  /** The name under which a reader's checkpoints are stored; absent where it is the reader's own. */
  checkpointName?(reader: string): string;
  /** Resolves when the server answers, rejects with a ReadModelError otherwise. For readiness. */
  ping(): Promise<void>;
  /**
   * Runs work that may take minutes (building an index, dropping a database) on a separate connection without a socket
   * timeout.
   */
  patiently<Result>(work: (db: Db) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** The name of a service's database in a namespace: `<namespace>_<service>`. */
export function databaseName(namespace: string, service: string): string {
  return `${namespace}_${service}`;
}

/**
 * Connects to the server and detects its engine.
 * @throws ReadModelError `database_unavailable` when no server answers in time
 */
export async function connectReadModel(
  configuration: ReadModelConfiguration,
  { logger }: { logger: Logger },
): Promise<ReadModel> {
  const options = clientOptions(configuration);
  // The driver's `timeoutMS` has no effect from 7.8 on: only the socket timeout detects a server that does not answer.
  const client = new MongoClient(configuration.uri, {
    ...options,
    socketTimeoutMS: options.waitQueueTimeoutMS,
  });
  const db = client.db(configuration.database);
  try {
    const engine = await withClassifiedErrors(async () => {
      await client.connect();
      return engineOf(await client.db('admin').command({ buildInfo: 1 }));
    });
    logger.info({ database: configuration.database, engine }, 'connected to the read model');
    const checkpointVerifier = createDatabaseVerifier({ db, engine });
    reportLostConnections(client, checkpointVerifier);
    return {
      db,
      engine,
      checkpointVerifier,
      ownCheckpoints: new OwnCheckpoints(),
      collection: collectionsOf(db),
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
    throw withRemedy(error);
  }
}

interface ClientOptions extends MongoClientOptions {
  connectionType: typeof LeasedConnection;
  waitQueueTimeoutMS: number;
}

function clientOptions({
  timeoutMs = 10_000,
  maximumConnections = 20,
  access = {},
}: ReadModelConfiguration): ClientOptions {
  return {
    connectionType: LeasedConnection,
    serverSelectionTimeoutMS: selectionTimeoutMs,
    connectTimeoutMS: selectionTimeoutMs,
    waitQueueTimeoutMS: timeoutMs,
    maxPoolSize: maximumConnections,
    // Acknowledged by a majority, so that the checkpoint that follows cannot outlive the data.
    writeConcern: { w: 'majority' },
    // Integers are read as numbers, whatever width the server stored them in; offsets are safe integers.
    promoteLongs: true,
    promoteValues: true,
    useBigInt64: false,
    ignoreUndefined: true,
    ...tlsOf(access),
  };
}

/** State read before a connection broke may be older than what was acknowledged: the verifier is told. */
function reportLostConnections(client: MongoClient, verifier: CheckpointVerifier): void {
  client.on('connectionClosed', ({ reason }) => {
    if (reason === 'error') verifier.connectionLost();
  });
  client.on('connectionPoolCleared', () => {
    verifier.connectionLost();
  });
}

/** One object for each collection, because concurrent calls are coalesced by it. */
function collectionsOf(db: Db): ReadModel['collection'] {
  const collections = new Map<string, Collection>();
  return <Stored extends Document>({ name }: CollectionDeclaration<Stored>) => {
    const collection = collections.get(name) ?? db.collection(name);
    collections.set(name, collection);
    return collection as unknown as Collection<Stored>;
  };
}

type Server = Pick<ReadModelConfiguration, 'uri' | 'access'>;

/**
 * Checks the connection, for tools that test the configuration before they start something.
 * @throws ReadModelError with the setting to change
 */
export async function checkDatabase(configuration: Server): Promise<void> {
  await withClient(configuration, (client) => client.db('admin').command({ ping: 1 }));
}

/**
 * The names of a namespace's databases that have collections, for tools that need it empty.
 * @throws ReadModelError with the setting to change
 */
export async function databasesOf(configuration: Server, namespace: string): Promise<string[]> {
  return withClient(configuration, async (client) => {
    const found: string[] = [];
    for (const service of serviceNames) {
      const name = databaseName(namespace, service);
      const collections = await client.db(name).listCollections({}, { nameOnly: true }).toArray();
      if (collections.length > 0) found.push(name);
    }
    return found;
  });
}

async function withClient<Result>(
  configuration: Server,
  use: (client: MongoClient) => Promise<Result>,
): Promise<Result> {
  const client = new MongoClient(configuration.uri, {
    serverSelectionTimeoutMS: selectionTimeoutMs,
    ...tlsOf(configuration.access ?? {}),
  });
  try {
    return await withClassifiedErrors(async () => {
      await client.connect();
      return use(client);
    });
  } catch (error) {
    throw withRemedy(error);
  } finally {
    await client.close();
  }
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
