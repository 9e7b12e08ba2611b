// The service in this process on real servers, in a namespace of its own, without a gateway: commands in through the log,
// reads through the query port, and analyses that end when a test says so.
import { randomUUID } from 'node:crypto';
import { records as declarations, topics, type SiteAnalysis } from '@lead-scoring/contracts';
import {
  createEventLog,
  createProcessor,
  createRecordWriter,
  createRequester,
  outgoing,
  requestRebuild,
  type EventLog,
} from '@lead-scoring/event-log';
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
  internalAuthorizationHeader,
  signInternal,
} from '@lead-scoring/service';
import { Kafka, logLevel } from 'kafkajs';
import { analysisQueries } from '../analyses/queries.js';
import { openPartition, processorName, siteAnalysisCollections } from '../partition-state.js';
import { createAnalysisRunner } from '../running/runner.js';
import { at, ouId } from './builders.js';

/** An analysis that some process has begun. */
export interface Begun {
  url: string;
  signal: AbortSignal;
  succeed(result: SiteAnalysis): void;
  /** With a RangeError: the site is unreachable. */
  fail(error: Error): void;
}

export interface Rig {
  log: EventLog;
  /** In the order in which they began. */
  begun: Begun[];
  /** Waits until so many analyses of this URL have begun; gives the last. */
  beginning(url: string, count?: number): Promise<Begun>;
  /** Ends the process, and with it what it runs, without a result, as its death would; then starts another. */
  restart(): Promise<void>;
  request(payload: declarations.AnalyzeSite): Promise<declarations.CommandReplied>;
  get(path: string, ou?: string): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Milliseconds by which the services' clock is ahead of when everything is requested. */
  clock: { aheadMs: number };
  rebuild(): Promise<void>;
  /** Every document of every collection but checkpoints, in a form that can be compared. */
  documents(): Promise<Record<string, unknown[]>>;
  stop(): Promise<void>;
}

const internalSecret = 'a secret of tests that is long enough';
export const maximumAtOnce = 3;

export async function startRig({ partitions = 2 } = {}): Promise<Rig> {
  const logger = createLogger({ name: 'test', level: process.env.LOG_LEVEL ?? 'silent' });
  const namespace = `site-analysis-test-${randomUUID().slice(0, 8)}`;
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
  await ensureCollections(readModel, siteAnalysisCollections);
  const writer = await createRecordWriter(log).start();
  const requester = await createRequester(log, { writer: writer.value }).start();
  const server = await createQueryServer({
    host: '127.0.0.1',
    port: 0,
    routes: analysisQueries(readModel),
    healthChecks: {},
    internalSecret,
    logger,
    checkAnswers: true,
  }).start();
  const begun: Begun[] = [];
  const clock = { aheadMs: 0 };
  const now = () => new Date(Date.parse(at) + clock.aheadMs);

  async function startProcess(): Promise<() => Promise<void>> {
    const runner = await createAnalysisRunner(
      {
        analyze: (url, signal) =>
          new Promise((succeed, fail) => {
            begun.push({ url, signal, succeed, fail });
            signal.addEventListener('abort', () => {
              fail(new Error('stopped'));
            });
          }),
        failureOf: (error) =>
          error instanceof RangeError ? { code: 'site_unreachable', message: error.message } : null,
        writer: writer.value,
        now,
        logger,
      },
      { maximumAtOnce, budgetMs: 60_000 },
    ).start();
    const processor = await createProcessor(log, {
      name: 'site-analysis',
      inputs: ['site-analysis.commands'],
      output: 'site-analysis.events',
      open: (partition) =>
        Promise.resolve(
          openPartition(readModel, partition, {
            runner: runner.value,
            refusalOf: (url) =>
              url.startsWith('ftp:') ? { code: 'scheme_not_allowed', message: 'Use https.' } : null,
            wantedForMs: 24_000,
            now,
          }),
        ),
      logger,
      onFatal: (error) => {
        throw error;
      },
    }).start();
    await eventually('the processor runs', () => processor.value.ready());
    return async () => {
      await processor.stop();
      await runner.stop();
    };
  }

  let stopProcess = await startProcess();

  const rig: Rig = {
    log,
    begun,
    clock,
    restart: async () => {
      await stopProcess();
      stopProcess = await startProcess();
    },
    beginning: async (url, count = 1) => {
      const found = () => begun.filter((one) => one.url === url);
      await eventually(`${url} is analysed`, () => found().length >= count);
      const last = found().at(-1);
      if (!last) throw new Error(`nobody analyses ${url}`);
      return last;
    },
    request: (payload) =>
      requester.value.request(outgoing(declarations.analyzeSite, { key: payload.ou_id, payload }), {
        timeoutMs: 30_000,
      }),
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
    rebuild: () => rebuild(log, readModel, partitions),
    documents: () => documentsOf(readModel),
    stop: async () => {
      await stopProcess();
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
  for (const { name } of siteAnalysisCollections) {
    const found = await readModel.db.collection(name).find().sort({ _id: 1 }).toArray();
    documents[name] = JSON.parse(JSON.stringify(found)) as unknown[];
  }
  return documents;
}

/** Waits until a condition holds. */
async function eventually(
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
