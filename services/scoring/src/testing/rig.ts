// The service in this process on real servers, in a namespace of its own, without a gateway: records in through the
// log, reads through the query port.
import { randomUUID } from 'node:crypto';
import { records as declarations, topics, type RecordDeclaration } from '@lead-scoring/contracts';
import {
  createEventLog,
  createProcessor,
  createRecordWriter,
  createRequester,
  outgoing,
  requestRebuild,
  type EventLog,
  type OutgoingRecord,
  type ProcessorStatus,
  type RecordPosition,
} from '@lead-scoring/event-log';
import {
  connectReadModel,
  createCheckpoints,
  createPositionWatch,
  databaseName,
  ensureCollections,
  type ReadModel,
} from '@lead-scoring/read-model';
import {
  createLogger,
  createQueryServer,
  formatPositions,
  internalAuthorizationHeader,
  minimumPositionsHeader,
  signInternal,
  type PartitionPosition,
} from '@lead-scoring/service';
import { Kafka, logLevel } from 'kafkajs';
import type { ConfigurationCommand } from '../configuration/events.js';
import { createConfigurationReader } from '../configuration/store.js';
import { openPartition, processorName, scoringCollections } from '../partition-state.js';
import { scoringQueries } from '../queries.js';
import { ouId } from './builders.js';

export interface Answer {
  status: number;
  // A test looks into answers freely; what it finds is compared, never trusted.
  body: Record<string, unknown>;
}

export interface Rig {
  log: EventLog;
  readModel: ReadModel;
  /** Another processor of the same group; resolves when it runs, and stops when the function is called. */
  startProcessor(): Promise<() => Promise<void>>;
  write(sent: OutgoingRecord[]): Promise<RecordPosition[]>;
  /** Writes what ingest would have appended, and resolves when it is scored. */
  score(happened: (declarations.EventsIngested | declarations.LeadDeleted)[]): Promise<void>;
  request(command: ConfigurationCommand): Promise<declarations.CommandReplied>;
  get(path: string, options?: { ou?: string; positions?: PartitionPosition[] }): Promise<Answer>;
  rebuild(): Promise<void>;
  /** Every document of every collection but checkpoints, in a form that can be compared. */
  documents(): Promise<Record<string, unknown[]>>;
  stop(): Promise<void>;
}

const internalSecret = 'a secret of tests that is long enough';
const commands = {
  CreateRuleset: 'createRuleset',
  UpdateRuleset: 'updateRuleset',
  CreateRule: 'createRule',
  SetRulesActive: 'setRulesActive',
  SetEngagementLevels: 'setEngagementLevels',
} as const;

export async function startRig({ partitions = 3, processors = 1 } = {}): Promise<Rig> {
  const logger = createLogger({ name: 'test', level: process.env.LOG_LEVEL ?? 'silent' });
  const namespace = `scoring-test-${randomUUID().slice(0, 8)}`;
  const brokers = required('KAFKA_BROKERS').split(',');
  const log = createEventLog(
    {
      brokers,
      schemaRegistryUrl: required('SCHEMA_REGISTRY_URL'),
      namespace,
      clientId: 'test',
      partitions,
      replicationFactor: 1,
    },
    { logger },
  );
  await log.prepare();
  const readModel = await connectReadModel(
    { uri: required('MONGODB_URI'), database: databaseName(namespace, 'scoring') },
    { logger },
  );
  await ensureCollections(readModel, scoringCollections);
  const writer = await createRecordWriter(log).start();
  const requester = await createRequester(log, { writer: writer.value }).start();
  const watch = createPositionWatch(createCheckpoints(readModel), processorName);
  const server = await createQueryServer({
    host: '127.0.0.1',
    port: 0,
    routes: scoringQueries(readModel, createConfigurationReader(readModel), { positionTimeoutMs: 2_000 }),
    healthChecks: {},
    internalSecret,
    logger,
    checkAnswers: true,
  }).start();
  const running = new Set<() => Promise<void>>();

  async function startProcessor(): Promise<() => Promise<void>> {
    const configurations = createConfigurationReader(readModel);
    const processor = await createProcessor(log, {
      name: 'scoring',
      inputs: ['ingest.events', 'scoring.commands'],
      output: 'scoring.events',
      open: (partition) =>
        Promise.resolve(openPartition(readModel, partition, { configurations, cachedLeads: 1_000 })),
      logger,
      onFatal: (error) => {
        throw error;
      },
    }).start();
    const stop = async () => {
      if (running.delete(stop)) await processor.stop();
    };
    running.add(stop);
    await eventually('the processor runs', () => isRunning(processor.value));
    return stop;
  }

  async function written(sent: OutgoingRecord[]): Promise<PartitionPosition[]> {
    const last = new Map<number, bigint>();
    for (const { partition, offset } of await writer.value.write(sent))
      if (offset >= (last.get(partition) ?? 0n)) last.set(partition, offset);
    return [...last].map(([partition, offset]) => ({ partition, offset: offset + 1n }));
  }

  for (let index = 0; index < processors; index += 1) await startProcessor();

  const rig: Rig = {
    log,
    readModel,
    startProcessor,
    write: (sent) => writer.value.write(sent),
    score: async (happened) => {
      const positions = await written(
        happened.map((payload) =>
          'events' in payload
            ? outgoing(declarations.eventsIngested, { key: payload.lead_id, payload })
            : outgoing(declarations.leadDeleted, { key: payload.lead_id, payload }),
        ),
      );
      if (!(await watch.wait('ingest.events', positions, 30_000)))
        throw new Error('the events were not scored in time');
    },
    request: ({ type, payload }) => {
      const declaration: RecordDeclaration = declarations[commands[type]];
      return requester.value.request({ declaration, key: payload.ou_id, payload }, { timeoutMs: 20_000 });
    },
    get: async (path, { ou = ouId, positions } = {}) => {
      const authorization = await signInternal(
        {
          ou_id: ou,
          organisation_id: ouId,
          credential_id: ouId,
          actor: 'test',
          role: 'viewer',
          request_id: 'test',
        },
        internalSecret,
      );
      const response = await fetch(`http://127.0.0.1:${String(server.value.port)}${path}`, {
        headers: {
          [internalAuthorizationHeader]: authorization,
          ...(positions && { [minimumPositionsHeader]: formatPositions(positions) }),
        },
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    rebuild: () => rebuild(log, readModel, partitions),
    documents: () => documentsOf(readModel),
    stop: async () => {
      for (const stop of [...running]) await stop();
      await server.stop();
      await requester.stop();
      await writer.stop();
      await readModel.patiently((db) => db.dropDatabase());
      await readModel.close();
      await log.close();
      await removeNamespace(brokers, namespace);
    },
  };
  return rig;
}

function isRunning(status: ProcessorStatus): boolean {
  return status.ready();
}

/** Asks for a rebuild and waits until every partition has begun a new generation and come to the end of its log. */
async function rebuild(log: EventLog, readModel: ReadModel, partitions: number): Promise<void> {
  const checkpoints = createCheckpoints(readModel);
  const before = await checkpoints.loadAll(processorName);
  const generations = () =>
    readModel.db
      .collection<{ _id: string; partition: number; generation: number }>('checkpoints')
      .find()
      .toArray()
      .then((found) => new Map(found.map(({ partition, generation }) => [partition, generation])));
  const old = await generations();
  await requestRebuild(log, processorName);
  await eventually('the partitions are rebuilt', async () => {
    const [now, reached] = [await generations(), await checkpoints.loadAll(processorName)];
    return Array.from({ length: partitions }, (_, partition) => partition).every(
      (partition) =>
        (now.get(partition) ?? 0) > (old.get(partition) ?? 0) &&
        (reached.get(partition)?.offset ?? 0n) >= (before.get(partition)?.offset ?? 0n),
    );
  });
}

async function documentsOf(readModel: ReadModel): Promise<Record<string, unknown[]>> {
  const documents: Record<string, unknown[]> = {};
  for (const { name } of scoringCollections) {
    const found = await readModel.db.collection(name).find().sort({ _id: 1 }).toArray();
    documents[name] = JSON.parse(JSON.stringify(found)) as unknown[];
  }
  return documents;
}

/** Waits until a condition holds. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 30_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${String(timeoutMs)} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Removes what the namespace has left on the brokers and in the registry. */
async function removeNamespace(brokers: string[], namespace: string): Promise<void> {
  const admin = new Kafka({ brokers, clientId: 'test', logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const there = new Set(await admin.listTopics());
  const own = topics.map(({ name }) => `${namespace}.${name}`).filter((name) => there.has(name));
  if (own.length > 0) await admin.deleteTopics({ topics: own });
  await admin.deleteGroups([`${namespace}.${processorName}`]).catch(() => undefined);
  await admin.disconnect();
  const subjects = `${required('SCHEMA_REGISTRY_URL')}/subjects`;
  for (const subject of (await (await fetch(subjects)).json()) as string[]) {
    if (!subject.startsWith(`${namespace}.`)) continue;
    await fetch(`${subjects}/${encodeURIComponent(subject)}`, { method: 'DELETE' });
    await fetch(`${subjects}/${encodeURIComponent(subject)}?permanent=true`, { method: 'DELETE' });
  }
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`integration tests need ${name}`);
  return value;
}
