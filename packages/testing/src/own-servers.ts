// Servers that a test may end, of its own; the others are those of the run. They are native processes, also where Docker
// provides the others: only those can be killed and moved.
import { startPlatform, type BrokerControl, type PlatformEndpoints } from '@lead-scoring/platform';
import { createLedger, createRules, type Ledger } from './ledger.js';
import { endpointsFromEnvironment } from './servers.js';
import { startTestSystem, type TestSystem } from './test-system.js';

export interface OwnBrokers {
  endpoints: PlatformEndpoints;
  brokers: readonly BrokerControl[];
  stop(): Promise<void>;
}

export interface OwnDatabase {
  endpoints: PlatformEndpoints;
  /** Those that run now: FerretDB, and the PostgreSQL that it stores in. One that ends is started again. */
  processes(): { name: string; pid: number }[];
  stop(): Promise<void>;
}

// An engine that cannot serve: the next provider in the chain is the native one.
const withoutDocker = { DOCKER_HOST: 'tcp://none.invalid:2375' };

/** @throws Error where native servers cannot run; it says what is missing */
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

/** One broker whose clients all go through a proxy, which is told where it is. */
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
 * @param options.dataDirectory where its data is kept; absent: a temporary folder
 * @throws Error where native servers cannot run; it says what is missing
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

/** A system on servers of the test's own, with the rules that its ledger knows; `stop` ends both. */
export async function startSystemOn(
  servers: OwnBrokers | OwnDatabase,
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
    system = await startTestSystem({ endpoints: servers.endpoints });
    await createRules(system);
    return { system, ledger: createLedger(system), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
