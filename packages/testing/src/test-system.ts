// The running system for end-to-end tests: every service as its own process, in a new namespace, on the servers of the test run.
// Tests use it as a client would.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secretFrom, type ServiceName } from '@lead-scoring/contracts';
import { listSharedSchemas } from '@lead-scoring/event-log/shared-schemas';
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { eventually, patientMs } from '@lead-scoring/platform/waiting';
import {
  startSystem,
  type RunningService,
  type RunningSystem,
  type SystemOptions,
} from '@lead-scoring/start';
import { sitemapSite, startExampleSite } from './example-site.js';
import { endpointsFromEnvironment, removeNamespace } from './servers.js';

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
  /** Stops every process in order, calls `meanwhile`, and starts the processes again. */
  restart(meanwhile: () => Promise<void>): Promise<void>;
  /** One process of a service. */
  service(name: ServiceName, instance?: number): RunningService;
  stop(): Promise<void>;
}

export interface TestSystemOptions {
  /** The checkout whose services run, from bundles. Default: this one. */
  root?: string;
  endpoints?: PlatformEndpoints;
  instances?: Partial<Record<ServiceName, number>>;
  /** The longest delay before the restart of a service that ends repeatedly. Default: the supervisor's. */
  longestRestartDelayMs?: number;
  environment?: Record<string, string>;
  environmentOf?: (name: ServiceName) => Record<string, string>;
  /** The program of a service. Default: its bundle in the checkout. */
  programOf?: SystemOptions['programOf'];
  /** Default: a new one. */
  namespace?: string;
  /** Whether the system registers its schemas, as after an installation. Default: it finds those that all tests share. */
  registersSchemas?: boolean;
}

/** For `instances`: the gateway, ingest and scoring run, and no other service. */
export const upToScoring: Partial<Record<ServiceName, number>> = {
  notification: 0,
  share: 0,
  'site-analysis': 0,
};

/** The root of the checkout with this file. */
export const checkout = join(import.meta.dirname, '../../..');

/** Sends requests to a gateway, or to a load balancer in front of several. */
export function requestsTo(url: string, token: string): TestSystem['request'] {
  return async (path, { method, token: as = token, headers, body, timeoutMs } = {}) => {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(`${url}${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(as !== null && { authorization: `Bearer ${as}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs ?? patientMs(60_000)),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      body: (isJson && text !== '' ? JSON.parse(text) : text) as never,
    };
  };
}

/** A system whose processes may take as long to become ready as this run's patience makes it. */
async function startPatiently(options: SystemOptions): Promise<RunningSystem> {
  const system = await startSystem(options);
  const ready = system.ready.bind(system);
  system.ready = (timeoutMs) => ready(patientMs(timeoutMs));
  return system;
}

/** Starts a system; `stop` ends its processes and removes its topics, databases and logs. */
export async function startTestSystem(options: TestSystemOptions = {}): Promise<TestSystem> {
  const endpoints = options.endpoints ?? endpointsFromEnvironment();
  const namespace = options.namespace ?? `test-${randomBytes(5).toString('hex')}`;
  // `npm run test:chaos` keeps the logs of a failed entry, and removes the others itself.
  const keptIn = process.env['KEEP_SERVICE_LOGS_IN'];
  const logDirectory = await mkdtemp(join(keptIn ?? tmpdir(), 'lead-scoring-test-'));
  const token = secretFrom('lsp_', randomBytes(32));
  const site = await startExampleSite(sitemapSite(['/pricing', '/about', '/blog']));
  const allowed = [site.target, options.environment?.ALLOW_PRIVATE_TARGETS ?? ''].filter((one) => one !== '');
  const settings: SystemOptions = {
    root: options.root ?? checkout,
    endpoints,
    namespace,
    logDirectory,
    secrets: {
      internalSecret: randomBytes(32).toString('base64url'),
      tokenSecret: randomBytes(32).toString('base64url'),
      sealingSecret: randomBytes(32).toString('base64url'),
      bootstrapToken: token,
    },
    organisation: { name: 'Test Organisation', unit: 'Main' },
    ...(options.instances && { instances: options.instances }),
    ...(options.longestRestartDelayMs !== undefined && {
      longestRestartDelayMs: options.longestRestartDelayMs,
    }),
    ...(options.environmentOf && { environmentOf: options.environmentOf }),
    ...(options.programOf && { programOf: options.programOf }),
    environment: {
      RATE_LIMIT_PER_MINUTE: '1000000',
      RATE_LIMIT_BURST: '1000000',
      LOG_LEVEL: 'info',
      ...options.environment,
      ALLOW_PRIVATE_TARGETS: allowed.join(','),
      // Without a reachable name server, a look-up fails after one second.
      RES_OPTIONS: 'timeout:1 attempts:1',
    },
  };
  const findsSchemas = options.registersSchemas !== true && options.root === undefined;
  if (findsSchemas) await listSharedSchemas(endpoints.schemaRegistryUrl, namespace);
  let system = await startPatiently(settings);
  const { gatewayUrl } = system;
  const request = requestsTo(gatewayUrl, token);
  try {
    await system.ready(60_000);
    const ouId = await eventually('the first OU is there', async () => {
      const units = await request<{ data: { id: string }[] }>('/org-units');
      return units.status === 200 ? units.body.data[0]?.id : undefined;
    });
    const running: TestSystem = {
      system,
      endpoints,
      namespace,
      url: gatewayUrl,
      token,
      ouId,
      siteUrl: site.url,
      request,
      restart: async (meanwhile) => {
        await system.stop();
        await meanwhile();
        system = await startPatiently({ ...settings, gatewayPort: Number(new URL(gatewayUrl).port) });
        running.system = system;
        await system.ready(60_000);
      },
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
        if (keptIn === undefined) await rm(logDirectory, { recursive: true, force: true });
      },
    };
    return running;
  } catch (error) {
    await system.stop();
    await site.stop();
    throw error;
  }
}
