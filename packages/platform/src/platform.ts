// Finds or starts the three servers that the system runs on.
import { configuredServers, readConfiguredEndpoints, verifyConfigured } from './configured.js';
import { openDataDirectory } from './data-directory.js';
import { dockerObstacle, startDocker } from './docker.js';
import {
  serverNames,
  serverTitles,
  type BrokerControl,
  type PlatformEndpoints,
  type Provider,
  type ServerName,
  type StartedServers,
} from './endpoints.js';
import { nativeObstacle } from './native/machine.js';
import type { GuardedAddresses, GuardedListeners } from './native/guarded-kafka.js';
import { startNative } from './native/native-platform.js';
import { createProgress, type Progress } from './progress.js';
import { chooseProviders } from './provider-chain.js';

export interface PlatformOptions {
  /** Data is kept there between runs. Absent: a temporary folder, removed at the end. */
  dataDirectory?: string;
  /** Three: replication factor 3, two in-sync replicas needed. Default: 1. Has no effect on a configured Kafka. */
  brokers?: 1 | 3;
  /** Gives a native broker listeners that demand a password or a certificate, beside the plain one. */
  guardedKafka?: GuardedListeners;
  /** Gives a single native broker a listener that advertises this port of 127.0.0.1, on which the caller runs a proxy. */
  kafkaProxyPort?: number;
  /** Read for KAFKA_BROKERS, SCHEMA_REGISTRY_URL and MONGODB_URI. Default: this process's. */
  environment?: NodeJS.ProcessEnv;
  /** Default: all three. */
  servers?: readonly ServerName[];
  /** Gives the start up: the servers that have been started are ended, and then the start rejects. Later it has no effect: call `stop`. */
  signal?: AbortSignal;
  /** Called with each progress message, also when a server has died and is restarted. */
  onProgress?: (message: string) => void;
  /**
   * Called as soon as the addresses of all servers are known, before native servers answer: what waits for its servers can be
   * started meanwhile. Not called when one of them fails before.
   */
  onAddresses?: (endpoints: PlatformEndpoints, providers: RunningPlatform['providers']) => void;
}

export interface RunningPlatform {
  endpoints: PlatformEndpoints;
  /** The provider of each requested server. */
  providers: Partial<Record<ServerName, Provider>>;
  /** Empty when Kafka is not native. */
  brokers: BrokerControl[];
  /** The addresses of the listeners that `guardedKafka` asked for. */
  guarded?: GuardedAddresses | undefined;
  /** `host:port` of the listener that `kafkaProxyPort` asked for: the proxy must forward to it. */
  behindProxy?: string | undefined;
  /** The processes of native servers that run at this moment. A killed one is restarted under a new pid. */
  processes: () => { name: string; pid: number }[];
  /** Ends all that was started, and nothing else; calling it twice is fine. */
  stop: () => Promise<void>;
}

/**
 * Provides Kafka, the schema registry and MongoDB, each from the first of these that fits: an address in the
 * environment, a Docker engine, native processes. Resolves when all of them answer.
 *
 * @throws NoProviderError when none fits, naming the three ways out
 * @throws Error when a server fails to come up or `signal` is aborted; nothing is left running then
 */
export async function startPlatform(options: PlatformOptions = {}): Promise<RunningPlatform> {
  const { environment = process.env, servers = serverNames } = options;
  const progress = createProgress(options.onProgress ?? (() => undefined));
  const named = readConfiguredEndpoints(environment);
  const providers = await findProviders(configuredServers(named), options, progress);
  const servedBy = (provider: Provider): ServerName[] =>
    servers.filter((server) => providers[server] === provider);

  const wanted = pick(named, servedBy('configured'));
  await verifyConfigured(wanted);
  const endpoints: PlatformEndpoints = { kafkaBrokers: [], schemaRegistryUrl: '', mongodbUri: '', ...wanted };
  const announce = (part: Partial<PlatformEndpoints>): void => {
    Object.assign(endpoints, part);
    if (servers.every((server) => isKnown(endpoints, server))) options.onAddresses?.(endpoints, providers);
  };
  if (servers.every((server) => providers[server] === 'configured')) {
    announce({});
    return { endpoints, providers, brokers: [], processes: () => [], stop: () => Promise.resolve() };
  }

  const { started, stop } = await startServers(servedBy, { ...options, announce }, progress);
  let stopping: Promise<void> | undefined;
  return {
    endpoints,
    providers,
    brokers: started.flatMap((part) => part.brokers),
    guarded: started.find((part) => part.guarded)?.guarded,
    behindProxy: started.find((part) => part.behindProxy !== undefined)?.behindProxy,
    processes: () => started.flatMap((part) => part.processes()),
    stop: () => (stopping ??= stop()),
  };
}

function isKnown(
  { kafkaBrokers, schemaRegistryUrl, mongodbUri }: PlatformEndpoints,
  server: ServerName,
): boolean {
  const isNamed = {
    kafka: kafkaBrokers.length > 0,
    schemaRegistry: schemaRegistryUrl !== '',
    mongodb: mongodbUri !== '',
  };
  return isNamed[server];
}

/** Chooses a provider for each server, and reports the choice as progress. */
async function findProviders(
  configured: ReadonlySet<ServerName>,
  { brokers = 1, environment = process.env, servers = serverNames }: PlatformOptions,
  progress: Progress,
): Promise<RunningPlatform['providers']> {
  // The machine is inspected only for servers that are not configured: in production, for none.
  const needed = servers.filter((server) => !configured.has(server));
  const noDocker = needed.length > 0 ? await dockerObstacle(environment) : undefined;
  const dockerObstacles = obstaclesByServer(needed, noDocker, brokers);
  const noNative = Object.keys(dockerObstacles).length > 0 ? await nativeObstacle() : undefined;
  const providers = chooseProviders(servers, {
    configured,
    dockerObstacle: dockerObstacles,
    nativeObstacle: noNative,
  });
  progress.say(
    servers.map((server) => `${serverTitles[server]}: ${providers[server] ?? 'none'}`).join(', ') +
      (noDocker !== undefined ? ` (${noDocker})` : ''),
  );
  return providers;
}

const never = new AbortController().signal;

/**
 * Starts the servers that Docker and native processes provide, in a data folder that `stop` closes.
 *
 * @throws Error when one fails to come up; nothing is left running then
 */
async function startServers(
  servedBy: (provider: Provider) => ServerName[],
  {
    brokers = 1,
    environment = process.env,
    dataDirectory,
    guardedKafka,
    kafkaProxyPort,
    signal = never,
    announce,
  }: PlatformOptions & { announce: (part: Partial<PlatformEndpoints>) => void },
  progress: Progress,
): Promise<{ started: readonly StartedServers[]; stop: () => Promise<void> }> {
  signal.throwIfAborted();
  const directory = await openDataDirectory(dataDirectory, progress);
  const started: StartedServers[] = [];
  const stop = async (): Promise<void> => {
    try {
      await Promise.all(started.map((part) => part.stop()));
    } finally {
      directory.close();
    }
  };
  const settings = {
    brokers,
    guardedKafka,
    kafkaProxyPort,
    environment,
    directory,
    progress,
    signal,
    announce,
  };
  try {
    for (const [provider, start] of [
      ['docker', startDocker],
      ['native', startNative],
    ] as const) {
      const served = servedBy(provider);
      if (served.length > 0) {
        started.push(await start({ servers: served, ...settings }));
        signal.throwIfAborted();
      }
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { started, stop };
}

function obstaclesByServer(
  servers: readonly ServerName[],
  noDocker: string | undefined,
  brokers: 1 | 3,
): Partial<Record<ServerName, string>> {
  const obstacles: Partial<Record<ServerName, string>> = {};
  for (const server of servers) {
    const obstacle =
      noDocker ?? (server === 'kafka' && brokers === 3 ? 'the compose file has one broker' : undefined);
    if (obstacle !== undefined) {
      obstacles[server] = obstacle;
    }
  }
  return obstacles;
}

function pick(named: Partial<PlatformEndpoints>, servers: readonly ServerName[]): Partial<PlatformEndpoints> {
  const { kafkaBrokers, schemaRegistryUrl, mongodbUri } = named;
  return {
    ...(servers.includes('kafka') && kafkaBrokers ? { kafkaBrokers } : {}),
    ...(servers.includes('schemaRegistry') && schemaRegistryUrl !== undefined ? { schemaRegistryUrl } : {}),
    ...(servers.includes('mongodb') && mongodbUri !== undefined ? { mongodbUri } : {}),
  };
}
