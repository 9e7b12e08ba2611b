// Servers of a single test, which it may kill; the run's servers are shared. They are native processes, even if Docker provides
// the run's servers, because a test can send signals only to native processes.
import { startPlatform, type BrokerControl, type PlatformEndpoints } from '@lead-scoring/platform';
import { createLedger, createRules, type Ledger } from './ledger.js';
import { endpointsFromEnvironment } from './servers.js';
import { startTestSystem, type TestSystem, type TestSystemOptions } from './test-system.js';

export interface OwnBrokers {
  endpoints: PlatformEndpoints;
  brokers: readonly BrokerControl[];
  stop(): Promise<void>;
}

export interface OwnDatabase {
  endpoints: PlatformEndpoints;
  /** The running processes: FerretDB and its PostgreSQL. A process that ends is started again. */
  processes(): { name: string; pid: number }[];
  stop(): Promise<void>;
}

// An unreachable Docker engine, so that the servers run as native processes.
const withoutDocker = { DOCKER_HOST: 'tcp://none.invalid:2375' };

/** @throws Error if native servers cannot run; its message says what is missing */
export async function startOwnBrokers(count: 1 | 3): Promise<OwnBrokers> {
  const platform = await startPlatform({
    brokers: count,
    servers: ['kafka'],
    environment: { ...process.env, KAFKA_BROKERS: '', ...withoutDocker },
  });
  return {
    endpoints: { ...endpointsFromEnvironment(), kafkaBrokers: platform.endpoints.kafkaBrokers },
    brokers: platform.brokers,
    stop: () => platform.stop(),
  };
}

/** One broker whose clients all connect through the proxy; `leadTo` gets the broker's address. */
export async function startBrokerBehind(proxy: {
  port: number;
  leadTo(address: string): void;
}): Promise<OwnBrokers> {
  const platform = await startPlatform({
    servers: ['kafka'],
    environment: { ...process.env, KAFKA_BROKERS: '', ...withoutDocker },
    kafkaProxyPort: proxy.port,
  });
  proxy.leadTo(platform.behindProxy ?? '');
  return {
    endpoints: { ...endpointsFromEnvironment(), kafkaBrokers: [`127.0.0.1:${proxy.port}`] },
    brokers: platform.brokers,
    stop: () => platform.stop(),
  };
}

/**
 * @param options.dataDirectory the folder of its data; absent: a temporary folder
 * @throws Error if native servers cannot run; its message says what is missing
 */
export async function startOwnDatabase(options: { dataDirectory?: string } = {}): Promise<OwnDatabase> {
  const platform = await startPlatform({
    ...options,
    servers: ['mongodb'],
    environment: { ...process.env, MONGODB_URI: '', ...withoutDocker },
  });
  return {
    endpoints: { ...endpointsFromEnvironment(), mongodbUri: platform.endpoints.mongodbUri },
    processes: () => platform.processes(),
    stop: () => platform.stop(),
  };
}

/** A system with the ledger's rules on the test's own servers; `stop` stops the system and the servers. */
export async function startSystemOn(
  servers: OwnBrokers | OwnDatabase,
  options: Pick<TestSystemOptions, 'instances'> = {},
): Promise<{ system: TestSystem; ledger: Ledger; stop: () => Promise<void> }> {
  let system: TestSystem | undefined;
  const stop = async () => {
    try {
      await system?.stop();
    } finally {
      await servers.stop();
    }
  };
  try {
    system = await startTestSystem({ ...options, endpoints: servers.endpoints });
    await createRules(system);
    return { system, ledger: createLedger(system), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
