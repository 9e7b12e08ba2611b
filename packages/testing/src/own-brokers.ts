// Brokers that a test may kill, of its own; registry and database are those of the run.
import { startPlatform, type BrokerControl, type PlatformEndpoints } from '@lead-scoring/platform';
import { endpointsFromEnvironment } from './servers.js';

export interface OwnBrokers {
  endpoints: PlatformEndpoints;
  brokers: readonly BrokerControl[];
  stop(): Promise<void>;
}

/**
 * Starts them as native processes, also where Docker provides the other servers: only those can be killed and moved.
 *
 * @throws Error where native servers cannot run; it says what is missing
 */
export async function startOwnBrokers(count: 1 | 3): Promise<OwnBrokers> {
  const platform = await startPlatform({
    brokers: count,
    servers: ['kafka'],
    // An engine that cannot serve: the next provider in the chain is the native one.
    environment: { ...process.env, KAFKA_BROKERS: '', DOCKER_HOST: 'tcp://none.invalid:2375' },
  });
  return {
    endpoints: { ...endpointsFromEnvironment(), kafkaBrokers: platform.endpoints.kafkaBrokers },
    brokers: platform.brokers,
    stop: () => platform.stop(),
  };
}
