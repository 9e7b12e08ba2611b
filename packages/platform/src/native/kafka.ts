// Apache Kafka as plain Java processes: one broker, or three small ones, each also a controller (KRaft).
import type { BrokerControl } from '../endpoints.js';
import { verifyKafka } from '../readiness.js';
import { waitUntil } from '../waiting.js';
import { guardedPorts, type GuardedAddresses, type GuardedListeners } from './guarded-kafka.js';
import { NativeBroker, type KafkaCluster } from './kafka-broker.js';
import { randomClusterId } from './kafka-cluster-id.js';
import { kafkaClassArchive, installKafka, KAFKA_VERSION } from './kafka-program.js';
import type { NativeContext } from './native-server.js';

export interface NativeKafka {
  brokers: BrokerControl[];
  guarded?: GuardedAddresses | undefined;
  behindProxy?: string | undefined;
  stop: () => Promise<void>;
}

/** Listeners beside the plain one. */
export interface FurtherListeners {
  guarded?: GuardedListeners | undefined;
  /** The port on 127.0.0.1 of the caller's proxy, which a listener advertises to its clients. */
  proxyPort?: number | undefined;
}

/**
 * Starts a cluster of `size` brokers and waits until it is ready.
 *
 * @throws Error when Kafka cannot be installed or does not come up, or the kept data belongs to another cluster size
 */
export async function startKafka(
  context: NativeContext,
  size: 1 | 3,
  listeners: FurtherListeners = {},
): Promise<NativeKafka> {
  const { machine, directory, progress } = context;
  const [classPath, java] = await Promise.all([installKafka(context), machine.java()]);
  requireSize(context, size);
  const javaOptions = await kafkaClassArchive(context, { java, classPath });
  const clusterId = directory.fact('kafkaClusterId', randomClusterId);
  const { ports, controllerPorts } = await brokerPorts(context, size);
  const cluster: KafkaCluster = {
    java,
    classPath,
    javaOptions,
    clusterId,
    controllerPorts,
    ...(await furtherListeners(context, listeners)),
  };
  const brokers = ports.map((port, index) => new NativeBroker(context, cluster, index + 1, port));
  context.announce({ kafkaBrokers: brokers.map(({ address }) => address) });
  return progress.step(`Kafka ${KAFKA_VERSION}: starting ${size} broker${size === 1 ? '' : 's'}`, () =>
    startCluster(context, cluster, brokers),
  );
}

/** @throws Error when the kept data belongs to another number of brokers */
function requireSize({ directory }: NativeContext, brokers: number): void {
  const size = directory.fact('kafkaBrokers', () => String(brokers));
  if (size !== String(brokers)) {
    throw new Error(
      `the Kafka data in ${directory.path} belongs to ${size} broker(s), not ${brokers}; use another folder or remove it`,
    );
  }
}

/** The plain listener's port and the controller's port of each broker, in order of id. */
async function brokerPorts(
  { directory }: NativeContext,
  brokers: number,
): Promise<{ ports: number[]; controllerPorts: number[] }> {
  const names = Array.from({ length: brokers }, (_, index) => `kafka-${index + 1}`);
  const ports = await directory.ports(names.flatMap((name) => [name, `${name}-controller`]));
  return {
    ports: names.map((name) => ports[name] ?? 0),
    controllerPorts: names.map((name) => ports[`${name}-controller`] ?? 0),
  };
}

async function furtherListeners(
  { directory }: NativeContext,
  { guarded, proxyPort }: FurtherListeners,
): Promise<Pick<KafkaCluster, 'guarded' | 'proxied'>> {
  return {
    ...(guarded && { guarded: { listeners: guarded, ...(await guardedPorts(directory)) } }),
    ...(proxyPort !== undefined && {
      proxied: { port: (await directory.ports(['kafka-proxied']))['kafka-proxied'], proxyPort },
    }),
  };
}

async function startCluster(
  { directory, guardian }: NativeContext,
  { guarded, proxied }: KafkaCluster,
  brokers: readonly NativeBroker[],
): Promise<NativeKafka> {
  const started = await Promise.all(
    brokers.map(async (broker) => ({ broker, handle: await broker.start() })),
  );
  await waitUntil(() => verifyKafka(brokers.map(({ address }) => address)), {
    description: 'Kafka did not become ready',
    timeoutMs: 120_000,
    abortReason: () => (guardian.mayStart ? undefined : 'everything is being ended'),
  });
  return {
    brokers: started.map(({ broker, handle }) => broker.controlOf(handle)),
    guarded: guarded && {
      sasl: `127.0.0.1:${guarded.saslPort}`,
      certificate: `127.0.0.1:${guarded.certificatePort}`,
    },
    ...(proxied && { behindProxy: `127.0.0.1:${proxied.port}` }),
    async stop() {
      // A temporary cluster need not shut down in order: its data is removed.
      const signal = directory.temporary ? 'SIGKILL' : 'SIGTERM';
      await Promise.all(started.map(({ handle }) => handle.stop(signal)));
    },
  };
}
