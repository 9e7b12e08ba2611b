// Runs every service of the system as a process of its own, on running servers, and restarts a process that
// dies. `npm start`, the end-to-end tests and the benchmarks all use this.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { configurationExitCode, serviceNames, type ServiceName } from '@lead-scoring/contracts';
import {
  freePort,
  startGuardian,
  startProcess,
  type Guardian,
  type PlatformEndpoints,
  type ProcessHandle,
} from '@lead-scoring/platform';
import { obstacleAt } from './readiness.js';
import { Refusal, restartSentence } from './restarts.js';

export interface SystemSecrets {
  /** Authenticates the gateway to the services; at least 32 characters. */
  internalSecret: string;
  /** The gateway derives the secrets that it shows once from it; if it is lost, existing credentials stay valid. */
  tokenSecret: string;
  /** Secrets of notification channels are sealed with it; if it is lost, they must be entered again. */
  sealingSecret: string;
  /** The administrator's first token. */
  bootstrapToken: string;
}

export interface SystemOptions {
  /** The checkout; its services must be bundled. */
  root: string;
  endpoints: PlatformEndpoints;
  namespace: string;
  secrets: SystemSecrets;
  /** Log files go here, one per process. */
  logDirectory: string;
  organisation: { name: string; unit: string };
  /** The gateway's port; absent: any free one. */
  gatewayPort?: number;
  /** Processes per service; default one each. With 0 the service does not run; its port exists, and nothing listens on it. */
  instances?: Partial<Record<ServiceName, number>>;
  /** The longest pause before a process that keeps dying is restarted. Default: 30,000. */
  longestRestartDelayMs?: number;
  /** Environment variables of every service; they replace those that this package sets. */
  environment?: Record<string, string>;
  /** Environment variables of one service; they replace those of `environment`. Called at each start of a process. */
  environmentOf?: (name: ServiceName) => Record<string, string>;
  /** Called after each start of a service's process, the first included. */
  onChange?: (system: RunningSystem) => void;
  onProgress?: (message: string) => void;
  /** The program of a process of a service. Default: the service's bundle in the checkout. */
  programOf?: (name: ServiceName) => ServiceProgram;
}

export interface ServiceProgram {
  command: string;
  args: string[];
}

export interface RunningService {
  name: ServiceName;
  instance: number;
  /** The service's name; where the service has several processes, with the instance: `scoring-0`. */
  processName: string;
  url: string;
  /** The address of its metrics. */
  metricsUrl: string;
  process: ProcessHandle;
  logFile: string;
}

export interface RunningSystem {
  gatewayUrl: string;
  services: RunningService[];
  /**
   * Waits until every process answers /readyz with 200.
   * @throws ServiceRefusesToStart at once when a process has ended because of a setting
   * @throws Error with the reasons after the deadline
   */
  ready(timeoutMs: number): Promise<void>;
  /** Rejects with ServiceRefusesToStart when a process ends because of a setting; never resolves. */
  refused: Promise<never>;
  stop(): Promise<void>;
}

/** Starts the services. They find each other by URL; none needs another to start. */
export async function startSystem(options: SystemOptions): Promise<RunningSystem> {
  await mkdir(options.logDirectory, { recursive: true });
  const addresses = await ServiceAddresses.choose(options);
  const guardian = startGuardian();
  const services: RunningService[] = [];
  const refusal = new Refusal();
  const system: RunningSystem = {
    gatewayUrl: addresses.urlOf('gateway'),
    services,
    refused: refusal.happened,
    ready: (timeoutMs) => Promise.race([untilReady(services, timeoutMs, refusal), refusal.happened]),
    stop: async () => {
      // The gateway first, so that no producer gets a 202 from a system that is stopping.
      for (const name of serviceNames)
        await Promise.all(
          services.filter((service) => service.name === name).map((service) => service.process.stop()),
        );
      guardian.dismiss();
    },
  };
  const start: ServiceStart = {
    options,
    addresses,
    guardian,
    onStart: () => options.onChange?.(system),
    refusal,
  };
  try {
    for (const instance of instancesOf(options)) services.push(await startService(start, instance));
  } catch (error) {
    await system.stop();
    throw error;
  }
  return system;
}

/** One process of a service; instances of a service count from 0. */
interface ServiceInstance {
  name: ServiceName;
  instance: number;
}

/** The processes to start, service by service in the order of `serviceNames`. */
function instancesOf({ instances }: SystemOptions): ServiceInstance[] {
  return serviceNames.flatMap((name) =>
    Array.from({ length: instances?.[name] ?? 1 }, (_, instance) => ({ name, instance })),
  );
}

/** The port of every process. A service without processes has one as well, because the gateway is given its URL. */
class ServiceAddresses {
  readonly #ports = new Map<string, number>();
  readonly #internalPorts = new Map<number, number>();

  static async choose(options: SystemOptions): Promise<ServiceAddresses> {
    const addresses = new ServiceAddresses();
    const absent = serviceNames
      .filter((name) => options.instances?.[name] === 0)
      .map((name) => ({ name, instance: 0 }));
    for (const { name, instance } of [...instancesOf(options), ...absent])
      addresses.#ports.set(
        `${name}-${String(instance)}`,
        name === 'gateway' && instance === 0 && options.gatewayPort !== undefined
          ? options.gatewayPort
          : await freePort(),
      );
    for (const { name, instance } of instancesOf(options))
      if (name === 'gateway') addresses.#internalPorts.set(instance, await freePort());
    return addresses;
  }

  portOf(name: ServiceName, instance = 0): number {
    return this.#ports.get(`${name}-${String(instance)}`) ?? 0;
  }

  /** The port of health and metrics of a gateway, whose other port is public. */
  internalPortOf(instance: number): number {
    return this.#internalPorts.get(instance) ?? 0;
  }

  metricsUrlOf(name: ServiceName, instance: number): string {
    const port = name === 'gateway' ? this.internalPortOf(instance) : this.portOf(name, instance);
    return `http://127.0.0.1:${String(port)}/metrics`;
  }

  urlOf(name: ServiceName, instance = 0): string {
    return `http://127.0.0.1:${String(this.portOf(name, instance))}`;
  }
}

interface ServiceStart {
  options: SystemOptions;
  addresses: ServiceAddresses;
  guardian: Guardian;
  /** Called after each start of a process, the first included. */
  onStart: () => void;
  refusal: Refusal;
}

/** Starts one process of a service; it is restarted whenever it ends by itself. */
async function startService(
  { options, addresses, guardian, onStart, refusal }: ServiceStart,
  { name, instance }: ServiceInstance,
): Promise<RunningService> {
  const processName = (options.instances?.[name] ?? 1) === 1 ? name : `${name}-${String(instance)}`;
  const logFile = join(options.logDirectory, `${processName}.log`);
  const handle = await startProcess({
    name: processName,
    ...(options.programOf?.(name) ?? bundledProgram(options.root, name)),
    cwd: options.root,
    logFile,
    restart: true,
    ...(options.longestRestartDelayMs !== undefined && {
      longestRestartDelayMs: options.longestRestartDelayMs,
    }),
    guardian,
    env: () => environmentOf(options, name, addresses, instance),
    onStart,
    onRestart: (restart) => {
      const { exit, attempt, lastLogLines } = restart;
      const refuses = exit.code === configurationExitCode;
      if (refuses) refusal.report(processName, lastLogLines, logFile);
      // All services refuse a setting that all of them have: one sentence says so, that of `refused`.
      if (!refuses || attempt > 1) options.onProgress?.(restartSentence(restart, logFile));
    },
  });
  const [url, metricsUrl] = [addresses.urlOf(name, instance), addresses.metricsUrlOf(name, instance)];
  return { name, instance, processName, url, metricsUrl, logFile, process: handle };
}

function bundledProgram(root: string, name: ServiceName): ServiceProgram {
  const bundles = join(root, 'packages/start/dist/services');
  const programs = ['--import', join(bundles, 'telemetry.js'), join(bundles, `${name}.js`)];
  return { command: process.execPath, args: [...nodeFlags(), ...programs] };
}

/**
 * The options of Node for a service: stacks that name sources, and settings of V8's garbage collector. Batches are large and live as long as
 * a transaction: a larger young generation is collected less often. With 16 MB in place of 64 an event costs the gateway 1.4 times the
 * processor time under the greatest load (one round on a busy machine); a process that has just started would have 25 MB less. Records'
 * bytes are buffers outside the heap, some of which outlive the transaction; by default V8 marks the whole heap after every few dozen
 * megabytes of buffers, in pauses that stop the event loop. Counted as part of the heap, the buffers are collected with it. A collection
 * moves at most 1 MB of objects together, in place of 4, or of 12 when it gives memory back: to move them and to update what points to them
 * was more than half of the pauses of a process with many leads in memory. deploy/Dockerfile has the same options.
 */
export function nodeFlags(version = process.versions.node): string[] {
  const [major = 0] = version.split('.').map(Number);
  const ofEveryNode = ['--enable-source-maps', '--max-semi-space-size=64'];
  // Node exits on an option that it does not know; Node 26 knows the others.
  if (major < 26) return ofEveryNode;
  return [
    ...ofEveryNode,
    '--external-memory-accounted-in-global-limit',
    '--compaction-max-evacuated-bytes-mb=1',
    '--compaction-max-evacuated-bytes-mb-for-reduce-memory=1',
  ];
}

function environmentOf(
  options: SystemOptions,
  name: ServiceName,
  addresses: ServiceAddresses,
  instance: number,
): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    NODE_ENV: 'production',
    // V8's compiled code of a module is kept for the next process that loads it.
    NODE_COMPILE_CACHE: join(options.root, 'node_modules/.cache/compiled'),
    KAFKAJS_NO_PARTITIONER_WARNING: '1',
    NAMESPACE: options.namespace,
    KAFKA_BROKERS: options.endpoints.kafkaBrokers.join(','),
    SCHEMA_REGISTRY_URL: options.endpoints.schemaRegistryUrl,
    MONGODB_URI: options.endpoints.mongodbUri,
    HOST: '127.0.0.1',
    PORT: String(addresses.portOf(name, instance)),
    INTERNAL_SECRET: options.secrets.internalSecret,
    ...((name === 'gateway' || name === 'scoring') && { INGEST_URL: addresses.urlOf('ingest') }),
    ...((name === 'gateway' || name === 'ingest') && { SCORING_URL: addresses.urlOf('scoring') }),
    ...(name === 'gateway' && {
      INTERNAL_PORT: String(addresses.internalPortOf(instance)),
      TOKEN_SECRET: options.secrets.tokenSecret,
      NOTIFICATION_URL: addresses.urlOf('notification'),
      SHARE_URL: addresses.urlOf('share'),
      SITE_ANALYSIS_URL: addresses.urlOf('site-analysis'),
      BOOTSTRAP_ORGANISATION: options.organisation.name,
      BOOTSTRAP_OU: options.organisation.unit,
      BOOTSTRAP_TOKEN: options.secrets.bootstrapToken,
    }),
    ...((name === 'gateway' || name === 'notification') && {
      SEALING_SECRET: options.secrets.sealingSecret,
    }),
    ...((name === 'gateway' || name === 'notification' || name === 'share') && {
      APP_URL: addresses.urlOf('gateway'),
    }),
    ...options.environment,
    ...options.environmentOf?.(name),
  };
}

/**
 * Asks one process after the other, because a process that is asked for its readiness asks its database: so the processes that
 * start are asked by one request at a time, and not by six.
 */
async function untilReady(
  services: readonly RunningService[],
  timeoutMs: number,
  refusal: Refusal,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (const service of services)
    while ((await obstacleAt(service.url)) !== null) {
      if (refusal.hasHappened) return;
      if (Date.now() > deadline) return reportNotReady(services, timeoutMs);
      await delay(50);
    }
}

/** @throws Error with the reason of each process that is not ready, a line each */
async function reportNotReady(services: readonly RunningService[], timeoutMs: number): Promise<void> {
  const asked = await Promise.all(
    services.map(async (service) => ({ service, obstacle: await obstacleAt(service.url) })),
  );
  const reasons = asked.flatMap(({ service: { processName, logFile }, obstacle }) =>
    obstacle === null ? [] : [`${processName}: ${obstacle}; its log is ${logFile}`],
  );
  if (reasons.length > 0)
    throw new Error(`Not ready after ${String(timeoutMs / 1_000)} s:\n  ${reasons.join('\n  ')}`);
}
