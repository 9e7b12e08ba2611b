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
}

/**
 * Installs what is missing and brings up the servers asked for, all at once.
 *
 * @throws Error of the first server that failed; none is left running then
 */
export async function startNative(options: NativeOptions): Promise<StartedServers> {
  const { servers, brokers, environment, directory, progress } = options;
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
    supervise: supervisor.supervise,
  };

  const endpoints: Partial<PlatformEndpoints> = {};
  const controls: BrokerControl[] = [];
  let guarded: GuardedAddresses | undefined;
  let behindProxy: string | undefined;
  const stops: (() => Promise<void>)[] = [];
  const starts: Record<ServerName, () => Promise<void>> = {
    async kafka() {
      const kafka = await startKafka(context, brokers, {
        guarded: options.guardedKafka,
        proxyPort: options.kafkaProxyPort,
      });
      ({ guarded, behindProxy } = kafka);
      endpoints.kafkaBrokers = kafka.brokers.map(({ address }) => address);
      controls.push(...kafka.brokers);
      stops.push(kafka.stop);
    },
    async schemaRegistry() {
      const registry = await startSchemaRegistry(context);
      endpoints.schemaRegistryUrl = registry.url;
      stops.push(registry.stop);
    },
    async mongodb() {
      const mongodb = await startMongodb(context);
      endpoints.mongodbUri = mongodb.uri;
      stops.push(mongodb.stop);
    },
  };

  const stop = async (): Promise<void> => {
    await Promise.allSettled(stops.map((stopServer) => stopServer()));
    await supervisor.stopAll();
    guardian.dismiss();
  };
  const results = await Promise.allSettled(servers.map((server) => starts[server]()));
  const failure = results.find((result) => result.status === 'rejected');
  if (failure) {
    await stop();
    throw failure.reason;
  }
  return {
    endpoints,
    brokers: controls,
    processes: supervisor.processes,
    stop,
    ...(guarded && { guarded }),
    ...(behindProxy !== undefined && { behindProxy }),
  };
}
