// The running system for end-to-end tests: every service as a process of its own, in a namespace of its own, on the
// servers that the test run brought up. Tests speak to it as a client would.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secretFrom, type ServiceName } from '@lead-scoring/contracts';
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { startSystem, type RunningService, type RunningSystem } from '@lead-scoring/start';
import { Kafka, logLevel } from 'kafkajs';
import { MongoClient } from 'mongodb';
import { sitemapSite, startExampleSite } from './example-site.js';

export interface Answer<Body = unknown> {
  status: number;
  headers: Headers;
  body: Body;
}

export interface RequestOptions {
  method?: string;
  token?: string | null;
  headers?: Record<string, string>;
  /** Sent as JSON unless it is a string or bytes. */
  body?: unknown;
  timeoutMs?: number;
}

export interface TestSystem {
  system: RunningSystem;
  endpoints: PlatformEndpoints;
  namespace: string;
  url: string;
  /** The administrator's token. */
  token: string;
  ouId: string;
  /** A website that the system may analyse. */
  siteUrl: string;
  request<Body = unknown>(path: string, options?: RequestOptions): Promise<Answer<Body>>;
  /** One process of a service. */
  service(name: ServiceName, instance?: number): RunningService;
  stop(): Promise<void>;
}

export interface TestSystemOptions {
  endpoints?: PlatformEndpoints;
  instances?: Partial<Record<ServiceName, number>>;
  environment?: Record<string, string>;
  replicationFactor?: number;
}

/** The checkout that holds this file. */
export const checkout = join(import.meta.dirname, '../../..');

/** The servers of the test run, as `npm test` names them in the environment. */
export function endpointsFromEnvironment(environment: NodeJS.ProcessEnv = process.env): PlatformEndpoints {
  const { KAFKA_BROKERS, SCHEMA_REGISTRY_URL, MONGODB_URI } = environment;
  if (!KAFKA_BROKERS || !SCHEMA_REGISTRY_URL || !MONGODB_URI)
    throw new Error(
      'KAFKA_BROKERS, SCHEMA_REGISTRY_URL and MONGODB_URI must name running servers: run the tests with `npm test`.',
    );
  return {
    kafkaBrokers: KAFKA_BROKERS.split(','),
    schemaRegistryUrl: SCHEMA_REGISTRY_URL,
    mongodbUri: MONGODB_URI,
  };
}

/** Starts a system of its own; `stop` ends its processes and removes its topics, databases and logs. */
export async function startTestSystem(options: TestSystemOptions = {}): Promise<TestSystem> {
  const endpoints = options.endpoints ?? endpointsFromEnvironment();
  const namespace = `test-${randomBytes(5).toString('hex')}`;
  const logDirectory = await mkdtemp(join(tmpdir(), 'lead-scoring-test-'));
  const token = secretFrom('lsp_', randomBytes(32));
  const site = await startExampleSite(sitemapSite(['/pricing', '/about', '/blog']));
  const allowed = [site.target, options.environment?.ALLOW_PRIVATE_TARGETS ?? ''].filter((one) => one !== '');
  const system = await startSystem({
    root: checkout,
    endpoints,
    namespace,
    logDirectory,
    secrets: {
      internalSecret: randomBytes(32).toString('base64url'),
      tokenSecret: randomBytes(32).toString('base64url'),
      bootstrapToken: token,
    },
    organisation: { name: 'Test Organisation', unit: 'Main' },
    ...(options.instances && { instances: options.instances }),
    ...(options.replicationFactor !== undefined && { replicationFactor: options.replicationFactor }),
    environment: {
      RATE_LIMIT_PER_MINUTE: '1000000',
      RATE_LIMIT_BURST: '1000000',
      LOG_LEVEL: 'info',
      ...options.environment,
      ALLOW_PRIVATE_TARGETS: allowed.join(','),
      // Where no name server answers, that is soon found out.
      RES_OPTIONS: 'timeout:1 attempts:1',
    },
  });
  const request: TestSystem['request'] = async (
    path,
    { method, token: as = token, headers, body, timeoutMs } = {},
  ) => {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(`${system.gatewayUrl}${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(as !== null && { authorization: `Bearer ${as}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs ?? 60_000),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      body: (isJson && text !== '' ? JSON.parse(text) : text) as never,
    };
  };
  try {
    await system.ready(60_000);
    const ouId = await eventually(async () => {
      const units = await request<{ data: { id: string }[] }>('/org-units');
      return units.status === 200 ? units.body.data[0]?.id : undefined;
    }, 30_000);
    return {
      system,
      endpoints,
      namespace,
      url: system.gatewayUrl,
      token,
      ouId,
      siteUrl: site.url,
      request,
      service: (name, instance = 0) => {
        const found = system.services.find(
          (service) => service.name === name && service.instance === instance,
        );
        if (!found) throw new Error(`no process ${String(instance)} of ${name}`);
        return found;
      },
      stop: async () => {
        await system.stop();
        await site.stop();
        await removeNamespace(endpoints, namespace);
        await rm(logDirectory, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await system.stop();
    await site.stop();
    throw error;
  }
}

/**
 * Waits until `look` finds something, and gives that.
 * @param timeoutMs after which the last failure is thrown
 */
export async function eventually<Found>(
  look: () => Promise<Found | undefined>,
  timeoutMs: number,
  intervalMs = 50,
): Promise<Found> {
  const deadline = Date.now() + timeoutMs;
  let failure: unknown = new Error('nothing found');
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined) return found;
    } catch (error) {
      failure = error;
    }
    if (Date.now() > deadline) throw new Error(`Not within ${String(timeoutMs)} ms`, { cause: failure });
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}

/** Removes what a system left on shared servers: its topics and its databases. */
export async function removeNamespace(endpoints: PlatformEndpoints, namespace: string): Promise<void> {
  const admin = new Kafka({ brokers: endpoints.kafkaBrokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(`${namespace}.`));
  if (topics.length > 0) await admin.deleteTopics({ topics });
  await admin.disconnect();
  const mongo = await MongoClient.connect(endpoints.mongodbUri);
  const { databases } = await mongo.db('admin').admin().listDatabases({ nameOnly: true });
  for (const { name } of databases) if (name.startsWith(`${namespace}_`)) await mongo.db(name).dropDatabase();
  await mongo.close();
}
