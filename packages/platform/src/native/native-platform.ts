// The third provider: the servers as processes of this machine, for when there is no Docker engine.
import type { DataDirectory } from '../data-directory.js';
import type { BrokerControl, PlatformEndpoints, ServerName, StartedServers } from '../endpoints.js';
import { startGuardian } from '../guardian.js';
import type { Progress } from '../progress.js';
import { openBuildCache } from './build-cache.js';
import type { GuardedAddresses, GuardedListeners } from './guarded-kafka.js';
import { startKafka } from './kafka.js';
import { inspectMachine } from './machine.js';
import { startMongodb } from './mongodb.js';
import { createSupervisor, type NativeContext } from './native-server.js';
import { startSchemaRegistry } from './schema-registry.js';

export interface NativeOptions {
  servers: readonly ServerName[];
  brokers: 1 | 3;
  guardedKafka?: GuardedListeners | undefined;
  kafkaProxyPort?: number | undefined;
  environment: NodeJS.ProcessEnv;
  directory: DataDirectory;
  progress: Progress;
  /** Gives the start up. */
  signal: AbortSignal;
  /** Called with the address of each server once it is known, before the server answers. */
  announce: (part: Partial<PlatformEndpoints>) => void;
}

/**
 * Installs missing programs and starts the requested servers, all at the same time.
 *
 * @throws Error of the first server that failed, or the reason of the abortion; none is left running then
 */
export async function startNative(options: NativeOptions): Promise<StartedServers> {
  const { servers, environment, directory, progress, announce } = options;
  const guardian = startGuardian();
  if (directory.temporary) {
    guardian.removeAfterwards(directory.path);
  }
  const supervisor = createSupervisor(directory, guardian, progress);
  const cache = openBuildCache(environment, progress);
  const machine = inspectMachine({ environment, cache, guardian, progress });
  const context: NativeContext = {
    cache,
    machine,
    guardian,
    progress,
    directory,
    announce,
    supervise: supervisor.supervise,
  };

  const started = new NativeServers(context, options);
  const stop = async (): Promise<void> => {
    await started.stop();
    await supervisor.stopAll();
    guardian.dismiss();
  };
  // Ends also what installs, builds or is not ready yet, which no handle stops.
  const ended = whenAborted(options.signal, () => guardian.endAll());
  const results = await Promise.allSettled(servers.map((server) => started.start(server)));
  await ended();
  if (options.signal.aborted) {
    await supervisor.stopAll();
    throw options.signal.reason;
  }
  const failure = results.find((result) => result.status === 'rejected');
  if (failure) {
    await stop();
    throw failure.reason;
  }
  const { brokers, guarded, behindProxy } = started;
  return {
    brokers,
    processes: supervisor.processes,
    stop,
    ...(guarded && { guarded }),
    ...(behindProxy !== undefined && { behindProxy }),
  };
}

/**
 * Calls `end` when the signal is aborted.
 *
 * @returns a function to call when it need not be called any more, and which waits until `end` has ended
 */
function whenAborted(signal: AbortSignal, end: () => Promise<void>): () => Promise<void> {
  let ended = Promise.resolve();
  const listener = (): void => {
    ended = end();
  };
  signal.addEventListener('abort', listener, { once: true });
  return () => {
    signal.removeEventListener('abort', listener);
    return ended;
  };
}

/** The servers that have been started so far. */
class NativeServers {
  readonly brokers: BrokerControl[] = [];
  guarded: GuardedAddresses | undefined;
  behindProxy: string | undefined;
  readonly #stops: (() => Promise<void>)[] = [];

  constructor(
    private readonly context: NativeContext,
    private readonly options: NativeOptions,
  ) {}

  start(server: ServerName): Promise<void> {
    switch (server) {
      case 'kafka':
        return this.#startKafka();
      case 'schemaRegistry':
        return this.#startSchemaRegistry();
      case 'mongodb':
        return this.#startMongodb();
    }
  }

  async stop(): Promise<void> {
    await Promise.allSettled(this.#stops.map((stopServer) => stopServer()));
  }

  async #startKafka(): Promise<void> {
    const { brokers, guardedKafka, kafkaProxyPort } = this.options;
    const kafka = await startKafka(this.context, brokers, {
      guarded: guardedKafka,
      proxyPort: kafkaProxyPort,
    });
    this.guarded = kafka.guarded;
    this.behindProxy = kafka.behindProxy;
    this.brokers.push(...kafka.brokers);
    this.#stops.push(kafka.stop);
  }

  async #startSchemaRegistry(): Promise<void> {
    const registry = await startSchemaRegistry(this.context);
    this.#stops.push(registry.stop);
  }

  async #startMongodb(): Promise<void> {
    const mongodb = await startMongodb(this.context);
    this.#stops.push(mongodb.stop);
  }
}
