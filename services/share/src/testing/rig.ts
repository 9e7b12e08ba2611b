// The service in this process on real servers, in a namespace of its own, without a gateway: commands and scoring's
// events in through the log, reads through the query port, by a clock that the test sets.
import { randomUUID } from 'node:crypto';
import { records as declarations, topics, type RecordDeclaration } from '@lead-scoring/contracts';
import {
  createEventLog,
  createProcessor,
  createProjector,
  createRecordWriter,
  createRequester,
  outgoing,
  requestRebuild,
  tail,
  type EventLog,
  type OutgoingRecord,
  type TailedRecord,
} from '@lead-scoring/event-log';
import { openExplanationPartition } from '@lead-scoring/explanations';
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
  internalAuthorizationHeader,
  signInternal,
} from '@lead-scoring/service';
import { renderPreviewImage } from '@lead-scoring/share-page/preview';
import { Kafka, logLevel } from 'kafkajs';
import { shareCollections } from '../collections.js';
import { createFindLeads, projectorName } from '../explanation/find-leads.js';
import type { ShareCommand } from '../links/events.js';
import { openSharePartition, processorName } from '../links/partition-state.js';
import { shareQueries } from '../queries.js';
import { beginRebuild, createEndOf, rebuilds } from '../rebuilds.js';
import { ouId } from './builders.js';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // A test looks into answers freely; what it finds is compared, never trusted.
  body: Record<string, unknown>;
}

export type ScoringEvent =
  | { type: 'LeadScored'; payload: declarations.LeadScored }
  | { type: 'RulesetCreated'; payload: declarations.RulesetCreated }
  | { type: 'RuleCreated'; payload: declarations.RuleCreated }
  | { type: 'RulesActivationChanged'; payload: declarations.RulesActivationChanged };

export interface Rig {
  log: EventLog;
  readModel: ReadModel;
  /** What the service takes for the time. */
  clock: { now: Date };
  /** Starts the projection of scoring's events; the function stops it. */
  startProjector(): Promise<() => Promise<void>>;
  /** Writes what scoring would have appended. */
  append(events: readonly ScoringEvent[]): Promise<void>;
  /** Writes it, and resolves when it is folded. */
  scored(events: readonly ScoringEvent[]): Promise<void>;
  request(command: ShareCommand): Promise<declarations.CommandReplied>;
  get(path: string, options?: { ou?: string; accept?: string }): Promise<Answer>;
  rebuild(): Promise<void>;
  /** Every document of every collection but checkpoints, in a form that can be compared. */
  documents(): Promise<Record<string, unknown[]>>;
  /** All that is on a topic now. */
  recordsOn(topic: 'share.commands' | 'share.events'): Promise<TailedRecord[]>;
  stop(): Promise<void>;
}

const internalSecret = 'a secret of tests that is long enough';
const scoringDeclarations = {
  LeadScored: declarations.leadScored,
  RulesetCreated: declarations.rulesetCreated,
  RuleCreated: declarations.ruleCreated,
  RulesActivationChanged: declarations.rulesActivationChanged,
} as const;

export async function startRig({ partitions = 3, findLeadsTimeoutMs = 10_000 } = {}): Promise<Rig> {
  const logger = createLogger({ name: 'test', level: process.env.LOG_LEVEL ?? 'silent' });
  const namespace = `share-test-${randomUUID().slice(0, 8)}`;
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
    { uri: required('MONGODB_URI'), database: databaseName(namespace, 'share') },
    { logger },
  );
  await ensureCollections(readModel, shareCollections);
  const writer = await createRecordWriter(log).start();
  const requester = await createRequester(log, { writer: writer.value }).start();
  const clock = { now: new Date('2026-01-01T12:00:00.000Z') };
  const server = await createQueryServer({
    host: '127.0.0.1',
    port: 0,
    routes: shareQueries({
      readModel,
      appUrl: 'https://app.example.com',
      now: () => clock.now,
      paintPreview: renderPreviewImage,
    }),
    healthChecks: {},
    internalSecret,
    logger,
    checkAnswers: true,
  }).start();
  const endOf = createEndOf(log);
  const onFatal = (error: Error) => {
    throw error;
  };
  const running = new Set<() => Promise<void>>();

  async function startProjector(): Promise<() => Promise<void>> {
    const projector = await createProjector(log, {
      name: projectorName,
      inputs: ['scoring.events'],
      rebuildsWith: 'share',
      open: (partition) =>
        Promise.resolve(
          openExplanationPartition(readModel, partition, {
            projectorName,
            cachedLeads: 100,
            beforeReset: () =>
              beginRebuild(readModel, { name: projectorName, partition, topic: 'scoring.events' }, endOf),
          }),
        ),
      logger,
      onFatal,
    }).start();
    const stop = async () => {
      if (running.delete(stop)) await projector.stop();
    };
    running.add(stop);
    await eventually('the projector runs', () => projector.value.ready());
    return stop;
  }

  const processor = await createProcessor(log, {
    name: 'share',
    inputs: ['share.commands'],
    output: 'share.events',
    open: (partition) =>
      Promise.resolve(
        openSharePartition(readModel, partition, {
          findLeads: createFindLeads(readModel, log, { timeoutMs: findLeadsTimeoutMs }),
          endOf,
        }),
      ),
    logger,
    onFatal,
  }).start();
  running.add(() => processor.stop());
  await eventually('the processor runs', () => processor.value.ready());
  await startProjector();

  const append = (events: readonly ScoringEvent[]) => writer.value.write(events.map(scoringRecord));

  return {
    log,
    readModel,
    clock,
    startProjector,
    append: async (events) => {
      await append(events);
    },
    scored: async (events) => {
      const watch = createPositionWatch(createCheckpoints(readModel), projectorName);
      const positions = (await append(events)).map(({ partition, offset }) => ({
        partition,
        offset: offset + 1n,
      }));
      if (!(await watch.wait('scoring.events', positions, 30_000)))
        throw new Error('the events were not folded in time');
    },
    request: ({ type, payload }) => {
      const declaration: RecordDeclaration =
        type === 'CreateShare' ? declarations.createShare : declarations.revokeShare;
      return requester.value.request({ declaration, key: payload.share_id, payload }, { timeoutMs: 20_000 });
    },
    get: async (path, { ou = ouId, accept } = {}) => {
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
          ...(accept !== undefined && { accept }),
        },
      });
      const text = await response.text();
      const isJson = /json/.test(response.headers.get('content-type') ?? '');
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: (isJson ? JSON.parse(text) : {}) as Record<string, unknown>,
      };
    },
    rebuild: () => rebuild(log, readModel, partitions),
    documents: async () => {
      const documents: Record<string, unknown[]> = {};
      for (const { name } of shareCollections) {
        if (name === rebuilds.name) continue;
        const found = await readModel.db.collection(name).find().sort({ _id: 1 }).toArray();
        documents[name] = JSON.parse(JSON.stringify(found)) as unknown[];
      }
      return documents;
    },
    recordsOn: async (topic) => {
      const found: TailedRecord[] = [];
      for await (const record of tail(log, topic, { from: 'beginning', follow: false })) found.push(record);
      return found;
    },
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
}

function scoringRecord(event: ScoringEvent): OutgoingRecord {
  const declaration: RecordDeclaration = scoringDeclarations[event.type];
  const key = event.type === 'LeadScored' ? event.payload.lead_id : event.payload.ou_id;
  return outgoing(declaration, { key, payload: event.payload });
}

/** Asks for a rebuild and waits until every partition has begun a new generation and come to where it was. */
async function rebuild(log: EventLog, readModel: ReadModel, partitions: number): Promise<void> {
  const checkpoints = createCheckpoints(readModel);
  const names = [processorName, projectorName];
  const generations = async () =>
    new Map(
      (
        await readModel.db.collection<{ _id: string; generation: number }>('checkpoints').find().toArray()
      ).map(({ _id, generation }) => [_id, generation]),
    );
  const old = await generations();
  const before = new Map(
    await Promise.all(names.map(async (name) => [name, await checkpoints.loadAll(name)] as const)),
  );
  await requestRebuild(log, 'share');
  await eventually('the partitions are rebuilt', async () => {
    const now = await generations();
    for (const name of names) {
      const reached = await checkpoints.loadAll(name);
      for (let partition = 0; partition < partitions; partition += 1) {
        const id = `${name}:${String(partition)}`;
        const [was, is] = [before.get(name)?.get(partition), reached.get(partition)];
        if ((now.get(id) ?? 0) <= (old.get(id) ?? 0)) return false;
        if ((is?.offset ?? 0n) < (was?.offset ?? 0n)) return false;
        if ((is?.positions['scoring.events'] ?? 0n) < (was?.positions['scoring.events'] ?? 0n)) return false;
      }
    }
    return true;
  });
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
  await admin
    .deleteGroups([`${namespace}.${processorName}`, `${namespace}.${projectorName}`])
    .catch(() => undefined);
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
