// The deliveries of the service on real servers: its processor with nothing but deliveries, real senders, and channels that
// a test configures.
import { randomUUID } from 'node:crypto';
import { records as declarations, topics } from '@lead-scoring/contracts';
import {
  createEventLog,
  createProcessor,
  createRecordWriter,
  createRequester,
  outgoing,
  requestRebuild,
  tail,
  type EventLog,
  type OutgoingRecord,
  type TailedRecord,
} from '@lead-scoring/event-log';
import { createOutbound, parsePrivateTargets } from '@lead-scoring/outbound';
import {
  connectReadModel,
  createCheckpoints,
  databaseName,
  ensureCollections,
  type ReadModel,
} from '@lead-scoring/read-model';
import {
  createLogger,
  createQueryServer,
  createSealing,
  internalAuthorizationHeader,
  signInternal,
} from '@lead-scoring/service';
import { Kafka, logLevel } from 'kafkajs';
import { emptyNotificationConfiguration, type Channel } from '../configuration/state.js';
import { systemClock } from '../delivery/clock.js';
import { publishedLimits } from '../delivery/limits.js';
import { openDelivery } from '../delivery/partition.js';
import { deliveryQueries } from '../delivery/queries.js';
import { publishedPolicy, type DeliveryPolicy } from '../delivery/schedule.js';
import { createSenders } from '../delivery/senders/senders.js';
import { createSlots } from '../delivery/slots.js';
import { deliveryCollections } from '../delivery/store.js';
import { ouId } from './delivery-builders.js';

export interface Answer {
  status: number;
  body: Record<string, unknown>;
}

export interface DeliveryRig {
  log: EventLog;
  readModel: ReadModel;
  /** What is configured; to be changed at any time. */
  channels: Map<string, Channel>;
  /** Starts the processor; the function stops it. */
  start(): Promise<() => Promise<void>>;
  write(...commands: OutgoingRecord[]): Promise<void>;
  request(command: OutgoingRecord): Promise<declarations.CommandReplied>;
  get(path: string, ou?: string): Promise<Answer>;
  eventsOn(): Promise<TailedRecord[]>;
  rebuild(): Promise<void>;
  /** Every document of deliveries, in a form that can be compared. */
  documents(): Promise<Record<string, unknown[]>>;
  stop(): Promise<void>;
}

export const sealing = createSealing('a secret of tests that is long enough');
const internalSecret = 'a secret of tests that is long enough';
const processorName = 'notification';

export async function startDeliveryRig({
  partitions = 3,
  policy = publishedPolicy,
  targets = [],
}: { partitions?: number; policy?: DeliveryPolicy; targets?: string[] } = {}): Promise<DeliveryRig> {
  const logger = createLogger({ name: 'test', level: process.env['LOG_LEVEL'] ?? 'silent' });
  const namespace = `delivery-test-${randomUUID().slice(0, 8)}`;
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
    { uri: required('MONGODB_URI'), database: databaseName(namespace, processorName) },
    { logger },
  );
  await ensureCollections(readModel, deliveryCollections);
  const writer = await createRecordWriter(log).start();
  const requester = await createRequester(log, { writer: writer.value }).start();
  const outbound = createOutbound({
    userAgent: 'LeadScoring/1.0',
    allowedPrivateTargets: parsePrivateTargets(targets.join(',')),
  });
  const server = await createQueryServer({
    host: '127.0.0.1',
    port: 0,
    routes: deliveryQueries(readModel),
    healthChecks: {},
    internalSecret,
    logger,
    checkAnswers: true,
  }).start();
  const channels = new Map<string, Channel>();
  const running = new Set<() => Promise<void>>();
  const send = createSenders({ outbound, secrets: sealing, slack: null, mail: null, timeoutMs: 2_000 });

  async function start(): Promise<() => Promise<void>> {
    const slots = createSlots({ maximum: 1_000, forAiling: 200 });
    const processor = await createProcessor(log, {
      name: processorName,
      inputs: ['notification.commands'],
      output: 'notification.events',
      open: (partition) => {
        const checkpoints = createCheckpoints(readModel);
        const delivery = openDelivery(readModel, partition, {
          configurations: {
            load: (ouIds) =>
              Promise.resolve(
                new Map(
                  [...ouIds].map((id) => [
                    id,
                    {
                      ...emptyNotificationConfiguration(id),
                      channels: new Map([...channels].filter(([, { ou_id }]) => ou_id === id)),
                    },
                  ]),
                ),
              ),
          },
          send,
          slots,
          writer: writer.value,
          policy,
          limits: publishedLimits,
          clock: systemClock,
          logger,
        });
        return Promise.resolve({
          checkpoint: () => checkpoints.load(processorName, partition),
          decide: (incoming) => delivery.decide(incoming),
          fold: (events) => delivery.fold(events),
          caughtUp: () => {
            delivery.caughtUp();
            return Promise.resolve();
          },
          store: (checkpoint) => checkpoints.store(processorName, partition, checkpoint),
          reset: async () => {
            await checkpoints.reset(processorName, partition);
            await delivery.reset();
          },
          close: () => delivery.close(),
        });
      },
      logger,
      onFatal: (error) => {
        throw error;
      },
    }).start();
    await eventually('the processor runs', () => processor.value.ready());
    const stop = async () => {
      if (running.delete(stop)) await processor.stop();
    };
    running.add(stop);
    return stop;
  }

  return {
    log,
    readModel,
    channels,
    start,
    write: async (...commands) => {
      await writer.value.write(commands);
    },
    request: (command) => requester.value.request(command, { timeoutMs: 20_000 }),
    get: async (path, ou = ouId) => {
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
        headers: { [internalAuthorizationHeader]: authorization },
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    eventsOn: async () => {
      const found: TailedRecord[] = [];
      for await (const record of tail(log, 'notification.events', { from: 'beginning', follow: false }))
        found.push(record);
      return found;
    },
    rebuild: async () => {
      const generations = async () =>
        (
          await readModel.db.collection<{ _id: string; generation: number }>('checkpoints').find().toArray()
        ).reduce((sum, { generation }) => sum + generation, 0);
      const before = await generations();
      const reached = await createCheckpoints(readModel).loadAll(processorName);
      await requestRebuild(log, processorName);
      await eventually('the partitions are rebuilt', async () => {
        if ((await generations()) < before + partitions) return false;
        const now = await createCheckpoints(readModel).loadAll(processorName);
        return [...reached].every(([partition, { offset }]) => (now.get(partition)?.offset ?? 0n) >= offset);
      });
    },
    documents: async () => {
      const documents: Record<string, unknown[]> = {};
      for (const { name } of deliveryCollections) {
        const found = await readModel.db.collection(name).find().sort({ _id: 1 }).toArray();
        documents[name] = JSON.parse(JSON.stringify(found)) as unknown[];
      }
      return documents;
    },
    stop: async () => {
      for (const stop of [...running]) await stop();
      await server.stop();
      await requester.stop();
      await writer.stop();
      await outbound.close();
      await readModel.patiently((db) => db.dropDatabase());
      await readModel.close();
      await log.close();
      await removeNamespace(brokers, namespace);
    },
  };
}

/** The commands that firing sends. */
export function requestRecord(payload: declarations.RequestNotification): OutgoingRecord {
  return outgoing(declarations.requestNotification, { key: payload.channel_id, payload });
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
