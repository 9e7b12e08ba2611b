// The base of every service's integration tests: real servers, a namespace for each test, the service's query port, and access
// to the log. A service's own rig adds its processors and helpers.
import { randomUUID } from 'node:crypto';
import { createFoldWatch } from '@lead-scoring/capability';
import {
  type RecordDeclaration,
  type records,
  type ServiceName,
  type TopicName,
} from '@lead-scoring/contracts';
import {
  createEventLogComponent,
  createRecordWriter,
  createRequester,
  requestRebuild,
  tail,
  type Component,
  type EventLog,
  type OutgoingRecord,
  type RecordPosition,
  type RecordWriter,
  type TailedRecord,
} from '@lead-scoring/event-log';
import { listSharedSchemas } from '@lead-scoring/event-log/shared-schemas';
import { eventually, patientMs } from '@lead-scoring/platform/waiting';
import {
  createCheckpoints,
  createReadModelComponent,
  readEditions,
  type DeclaredCollection,
  type EditionedReadModel,
} from '@lead-scoring/read-model';
import {
  createLogger,
  createQueryServer,
  formatPositions,
  internalAuthorizationHeader,
  minimumPositionsHeader,
  signInternal,
  startInOrder,
  type BoundQuery,
  type ListeningServer,
  type Logger,
  type PartitionPosition,
  type Started,
} from '@lead-scoring/service';
import { endpointsFromEnvironment, removeNamespace } from './servers.js';

export { eventually } from '@lead-scoring/platform/waiting';
export { endpointsFromEnvironment, removeNamespace } from './servers.js';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed JSON; empty for another content type. Untyped, because tests only compare its members. */
  body: Record<string, unknown>;
}

export interface GetOptions {
  /** The reading OU. Default: the rig's. */
  ou?: string;
  /** The positions that the answer must reflect. */
  positions?: PartitionPosition[];
  headers?: Record<string, string>;
  /** Ends the request. */
  signal?: AbortSignal;
}

export interface ServiceRigOptions {
  /** The service that `rebuild` rebuilds; its name is in the names of the namespace, the database and the log's client. */
  service: ServiceName;
  /** Collections that are created at the start, and that `documents` returns. */
  collections: readonly DeclaredCollection[];
  /** The OU that reads, unless a request names another. */
  ouId: string;
  partitions?: number;
  /** Record declarations besides those of contracts, for a service that exists only in a test. */
  declarations?: readonly RecordDeclaration[];
}

export interface ServiceRig {
  readonly log: EventLog;
  readonly readModel: EditionedReadModel;
  readonly writer: RecordWriter;
  /** Silent unless LOG_LEVEL is set. */
  readonly logger: Logger;
  readonly partitions: number;
  /** For processors and projectors: throws the error, which fails the test run. */
  onFatal: (error: Error) => never;
  /** Opens the query port, to which `get` sends requests. */
  serve: (routes: readonly BoundQuery[]) => Promise<void>;
  /** Starts a processor or a projector; resolves when it is ready, with the function that stops it. `stop` stops all of them. */
  run: (component: Component<{ ready: () => boolean }>) => Promise<() => Promise<void>>;
  write: (sent: readonly OutgoingRecord[]) => Promise<RecordPosition[]>;
  /** Writes records of one topic; resolves when the processor or projector `reader` has folded their results. */
  deliver: (reader: string, sent: readonly OutgoingRecord[]) => Promise<void>;
  /** Writes a command, and resolves with its reply. */
  request: (command: OutgoingRecord, timeoutMs?: number) => Promise<records.CommandReplied>;
  get: (path: string, options?: GetOptions) => Promise<Answer>;
  /** Sends a query, and resolves when its answer begins. */
  open: (path: string, options?: GetOptions) => Promise<Response>;
  /** Sends a query with a body. */
  post: (path: string, body: unknown, options?: GetOptions) => Promise<Answer>;
  /** All records of a topic at present. */
  recordsOn: (topic: TopicName) => Promise<TailedRecord[]>;
  /** Rebuilds the service; waits until reads answer from the filled edition. */
  rebuild: () => Promise<void>;
  /** Resolves when the documents have all that the service has recorded, what it writes rarely included. */
  written: () => Promise<void>;
  /** Every document of the service's collections, or of the given ones, as JSON values. */
  documents: (of?: readonly DeclaredCollection[]) => Promise<Record<string, unknown[]>>;
  /** Stops everything, and removes the namespace from the servers. */
  stop: () => Promise<void>;
}

/** A swap in a test does not wait for readers of other processes. */
const editionTimes = { lookEveryMs: 100, writeBothMs: 500, keepMs: 1_000 };
const internalSecret = 'a secret of tests that is long enough';

/** Sends a request to a query port, as the gateway does. */
async function sendSigned(
  url: URL,
  {
    method,
    body,
    ouId,
    ou = ouId,
    positions,
    headers,
    signal,
  }: GetOptions & { method: string; body: string | undefined; ouId: string },
): Promise<Response> {
  const authorization = await signInternal(
    {
      ou_id: ou,
      organisation_id: ouId,
      credential_id: ouId,
      actor: 'test',
      role: 'viewer',
      request_id: 'test',
    },
    {
      method,
      target: `${url.pathname}${url.search}`,
      ...(body !== undefined && { body: Buffer.from(body) }),
    },
    internalSecret,
  );
  return fetch(url, {
    method,
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
      [internalAuthorizationHeader]: authorization,
      ...(positions && { [minimumPositionsHeader]: formatPositions(positions) }),
    },
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
  });
}

/** The whole answer. */
async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: (isJson ? JSON.parse(text) : {}) as Record<string, unknown>,
  };
}

/** Opens the log and the read model of a service in a new namespace. */
export async function openServiceRig(options: ServiceRigOptions): Promise<ServiceRig> {
  const { service, collections, ouId, partitions = 3, declarations = [] } = options;
  const endpoints = endpointsFromEnvironment();
  const namespace = `${service}-test-${randomUUID().slice(0, 8)}`;
  const logger = createLogger({ name: 'test', level: process.env.LOG_LEVEL ?? 'silent' });
  const configuration = {
    NAMESPACE: namespace,
    KAFKA_BROKERS: endpoints.kafkaBrokers,
    SCHEMA_REGISTRY_URL: endpoints.schemaRegistryUrl,
    MONGODB_URI: endpoints.mongodbUri,
    PARTITIONS: partitions,
  };
  await listSharedSchemas(endpoints.schemaRegistryUrl, namespace);
  const opened = await startInOrder(
    async (scope) => {
      const readModel = await scope.start(
        createReadModelComponent(configuration, { service, collections, logger, editionTimes }),
      );
      const log = await scope.start(
        createEventLogComponent(configuration, { service, logger, declarations }),
      );
      const writer = await scope.start(createRecordWriter(log, { timeoutMs: patientMs(5_000) }));
      const requester = await scope.start(createRequester(log, { writer }));
      return { readModel, log, writer, requester };
    },
    { logger },
  );
  const { readModel, log, writer, requester } = opened.value;
  const running = new Set<() => Promise<void>>();
  let server: Started<ListeningServer> | undefined;
  const recordsOn = async (topic: TopicName) => {
    const found: TailedRecord[] = [];
    for await (const record of tail(log, topic, { from: 'beginning', follow: false })) found.push(record);
    return found;
  };
  const ask = (method: 'GET' | 'POST', path: string, body: string | undefined, options: GetOptions = {}) => {
    if (!server) throw new Error('no query port is open: call `serve` first');
    const url = new URL(path, `http://127.0.0.1:${String(server.value.port)}`);
    return sendSigned(url, { method, body, ouId, ...options });
  };

  return {
    log,
    readModel,
    writer,
    logger,
    partitions,
    onFatal: (error) => {
      throw error;
    },
    serve: async (routes) => {
      server = await createQueryServer({
        host: '127.0.0.1',
        port: 0,
        routes,
        healthChecks: {},
        internalSecret,
        logger,
        checkAnswers: true,
      }).start();
    },
    run: async (component) => {
      const started = await component.start();
      const stop = async () => {
        if (running.delete(stop)) await started.stop();
      };
      running.add(stop);
      await eventually(`the ${component.name} is ready`, () => started.value.ready());
      return stop;
    },
    write: (sent) => writer.write(sent),
    deliver: async (reader, sent) => {
      const [first] = sent;
      if (!first) return;
      const positions = await writer.write(sent);
      const folded = await createFoldWatch(readModel, reader, { timeoutMs: patientMs(30_000) }).until(
        first.declaration.topic,
        positions.map(({ partition, offset }) => ({ partition, offset: offset + 1n })),
      );
      if (!folded) throw new Error(`${reader} has not folded the written records in time`);
    },
    request: (command, timeoutMs = 20_000) => requester.request(command, { timeoutMs: patientMs(timeoutMs) }),
    get: async (path, options) => read(await ask('GET', path, undefined, options)),
    open: (path, options) => ask('GET', path, undefined, options),
    post: async (path, body, options) => read(await ask('POST', path, JSON.stringify(body), options)),
    recordsOn,
    rebuild: async () => {
      const { rebuildId } = await requestRebuild(log, service);
      await eventually('the rebuild is done', async () => {
        const { done } = await readEditions(readModel, service);
        return done.includes(rebuildId);
      });
      await readModel.editions.look();
    },
    written: async () => {
      // A checkpoint names the first event whose changes are not written.
      const recorded = await recordsOn(`${service}.events`);
      await eventually('the documents have all that is recorded', async () => {
        const stored = await createCheckpoints(readModel).loadAll(service);
        return recorded.every(({ partition, offset }) => offset < (stored.get(partition)?.offset ?? 0n));
      });
    },
    documents: async (of = collections) => {
      const documents: Record<string, unknown[]> = {};
      for (const declaration of of) {
        const collection = readModel.collection(declaration);
        const found = await collection.find().sort({ _id: 1 }).toArray();
        documents[declaration.name] = JSON.parse(JSON.stringify(found)) as unknown[];
      }
      return documents;
    },
    stop: async () => {
      for (const stop of [...running]) await stop();
      await server?.stop();
      await opened.stop();
      await removeNamespace(endpoints, namespace);
    },
  };
}
