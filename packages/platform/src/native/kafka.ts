// Apache Kafka as plain Java processes: one broker, or three small ones, each also a controller (KRaft).
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { runCommand } from '../commands.js';
import type { BrokerControl } from '../endpoints.js';
import type { ProcessHandle } from '../processes.js';
import { verifyBroker, verifyKafka, verifyListening } from '../readiness.js';
import { waitUntil } from '../waiting.js';
import {
  guardedPorts,
  guardListeners,
  scramUsers,
  type GuardedAddresses,
  type GuardedListeners,
} from './guarded-kafka.js';
import type { NativeContext } from './native-server.js';

const KAFKA_VERSION = '4.1.0';
const SCALA_VERSION = '2.13';
const LOG4J_VERSION = '2.24.3';
const MAVEN_DEPENDENCY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';

export interface BrokerSettings {
  id: number;
  port: number;
  /** The controllers of all brokers, in order of id. */
  controllerPorts: readonly number[];
  /** Kafka's own data, made by `format`. */
  logDirectory: string;
  guarded?: { listeners: GuardedListeners; saslPort: number; certificatePort: number };
  /** A listener whose clients are told another port: a proxy's. */
  proxied?: { port: number; proxyPort: number };
}

/** The properties file of one broker. */
export function brokerProperties({
  id,
  port,
  controllerPorts,
  logDirectory,
  guarded,
  proxied,
}: BrokerSettings): string {
  const brokers = controllerPorts.length;
  const controllerPort = controllerPorts[id - 1];
  if (controllerPort === undefined) {
    throw new Error(`broker ${id} has no controller port`);
  }
  const inSync = brokers === 1 ? 1 : 2;
  const largestRecordBytes = 12 * 1024 * 1024;
  const properties: Record<string, string | number> = {
    'process.roles': 'broker,controller',
    'node.id': id,
    'controller.quorum.voters': controllerPorts
      .map((voterPort, index) => `${index + 1}@127.0.0.1:${voterPort}`)
      .join(','),
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'log.dirs': logDirectory,
    // A topic that nobody declared is a mistake in the code.
    'auto.create.topics.enable': 'false',
    'default.replication.factor': brokers,
    'min.insync.replicas': inSync,
    // Retention is set for each topic; what has no setting is kept.
    'log.retention.ms': -1,
    // As long as the log itself: a group that is empty is not forgotten before what it has read.
    'offsets.retention.minutes': 2_147_483_647,
    // Few partitions: each costs files and time at the start, and one machine gains nothing from fifty.
    'offsets.topic.num.partitions': 6,
    'offsets.topic.replication.factor': brokers,
    'transaction.state.log.num.partitions': 6,
    'transaction.state.log.replication.factor': brokers,
    'transaction.state.log.min.isr': inSync,
    'share.coordinator.state.topic.replication.factor': brokers,
    'share.coordinator.state.topic.min.isr': inSync,
    // The first member of a group need not wait for others.
    'group.initial.rebalance.delay.ms': 0,
    // A batch of events is one record, see the ingest service.
    'message.max.bytes': largestRecordBytes,
    'replica.fetch.max.bytes': largestRecordBytes,
    'fetch.max.bytes': 64 * 1024 * 1024,
    // The default takes 128 MB of a small heap.
    'log.cleaner.dedupe.buffer.size': 16 * 1024 * 1024,
    'num.network.threads': 2,
    'num.io.threads': 4,
  };
  if (guarded) guardListeners(properties, guarded);
  if (proxied) proxyListener(properties, proxied);
  return Object.entries(properties)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}

function proxyListener(
  properties: Record<string, string | number>,
  { port, proxyPort }: { port: number; proxyPort: number },
): void {
  for (const [key, value] of Object.entries({
    listeners: `PROXIED://127.0.0.1:${port}`,
    'advertised.listeners': `PROXIED://127.0.0.1:${proxyPort}`,
    'listener.security.protocol.map': 'PROXIED:PLAINTEXT',
  }))
    properties[key] = `${properties[key] ?? ''},${value}`;
}

const LOGGING_PROPERTIES = `status=error
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=[%d] %p %m (%c)%n
rootLogger.level=WARN
rootLogger.appenderRef.console.ref=console
`;

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>lead-scoring</groupId>
  <artifactId>kafka</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_${SCALA_VERSION}</artifactId>
      <version>${KAFKA_VERSION}</version>
    </dependency>
    <dependency>
      <groupId>org.apache.logging.log4j</groupId>
      <artifactId>log4j-slf4j-impl</artifactId>
      <version>${LOG4J_VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

async function install({ cache, machine, guardian, progress }: NativeContext): Promise<string> {
  const part = await cache.part(`kafka-${KAFKA_VERSION}`, async (directory) => {
    const env = await machine.maven();
    await progress.step(`Kafka ${KAFKA_VERSION}: fetching with Maven`, async () => {
      const pom = join(directory, 'pom.xml');
      writeFileSync(pom, POM);
      await runCommand(
        'mvn',
        [
          '--batch-mode',
          '--quiet',
          '--file',
          pom,
          `${MAVEN_DEPENDENCY_PLUGIN}:copy-dependencies`,
          `-DoutputDirectory=${join(directory, 'lib')}`,
          '-DincludeScope=runtime',
        ],
        { env, guardian },
      );
    });
  });
  return join(part, 'lib', '*');
}

/** A Kafka cluster id: 16 random bytes, not beginning with a dash, which the tools take for an option. */
export function randomClusterId(): string {
  for (;;) {
    const id = randomBytes(16).toString('base64url');
    if (!id.startsWith('-')) {
      return id;
    }
  }
}

/**
 * A broker of this machine lives for minutes and shares few cores: the optimising compiler and a collector with
 * threads of its own would take more from them than they give back (a flood of events: 7 µs of broker time each
 * instead of 16).
 */
function jvmOptions(brokers: number): string[] {
  const heap = brokers === 1 ? ['-Xms256m', '-Xmx768m'] : ['-Xms128m', '-Xmx384m'];
  return [...heap, '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
}

export interface NativeKafka {
  brokers: BrokerControl[];
  guarded?: GuardedAddresses | undefined;
  behindProxy?: string | undefined;
  stop: () => Promise<void>;
}

/**
 * Brings up a cluster of so many brokers and waits until it can be worked with.
 *
 * @throws Error when it cannot be installed or does not come up, or the kept data is of another cluster size
 */
export async function startKafka(
  context: NativeContext,
  brokers: 1 | 3,
  {
    guarded: guardedListeners,
    proxyPort,
  }: { guarded?: GuardedListeners | undefined; proxyPort?: number | undefined } = {},
): Promise<NativeKafka> {
  const { machine, directory, progress } = context;
  const [classPath, java] = await Promise.all([install(context), machine.java()]);
  const size = directory.fact('kafkaBrokers', () => String(brokers));
  if (size !== String(brokers)) {
    throw new Error(
      `the Kafka data in ${directory.path} is of ${size} broker(s), not ${brokers}; use another folder or remove it`,
    );
  }
  const clusterId = directory.fact('kafkaClusterId', randomClusterId);
  const ids = brokers === 1 ? [1] : [1, 2, 3];
  const ports = await directory.ports(ids.flatMap((id) => [`kafka-${id}`, `kafka-${id}-controller`]));
  const portOf = (name: string): number => ports[name] ?? 0;
  const controllerPorts = ids.map((id) => portOf(`kafka-${id}-controller`));
  const addresses = ids.map((id) => `127.0.0.1:${portOf(`kafka-${id}`)}`);

  const guarded = guardedListeners && {
    listeners: guardedListeners,
    ...(await guardedPorts(directory)),
  };
  const proxied = proxyPort !== undefined && {
    port: (await directory.ports(['kafka-proxied']))['kafka-proxied'],
    proxyPort,
  };

  const startBroker = async (id: number): Promise<ProcessHandle> => {
    const home = join(directory.path, 'kafka', `broker-${id}`);
    mkdirSync(home, { recursive: true });
    const logging = join(home, 'log4j2.properties');
    writeFileSync(logging, LOGGING_PROPERTIES);
    const data = join(home, 'data');
    const configure = (logDirectory: string): string => {
      const file = join(home, 'server.properties');
      const port = portOf(`kafka-${id}`);
      writeFileSync(
        file,
        brokerProperties({
          id,
          port,
          controllerPorts,
          logDirectory,
          ...(guarded && { guarded }),
          ...(proxied && { proxied }),
        }),
        { mode: 0o600 },
      );
      return file;
    };
    if (!existsSync(data)) {
      // Under another name until it is whole, so that an interrupted start is not taken for a broker's data.
      const half = `${data}.formatting`;
      rmSync(half, { recursive: true, force: true });
      await runCommand(
        java,
        [
          '-Xmx256m',
          '-XX:+UseSerialGC',
          '-XX:TieredStopAtLevel=1',
          `-Dlog4j2.configurationFile=${logging}`,
          '-cp',
          classPath,
          'kafka.tools.StorageTool',
          'format',
          '--cluster-id',
          clusterId,
          '--config',
          configure(half),
          ...scramUsers(guardedListeners),
        ],
        { guardian: context.guardian },
      );
      renameSync(half, data);
    }
    return context.supervise({
      name: `kafka-${id}`,
      command: java,
      args: [
        ...jvmOptions(brokers),
        `-Dlog4j2.configurationFile=${logging}`,
        '-cp',
        classPath,
        'kafka.Kafka',
        configure(data),
      ],
      // Not yet the whole truth, which is the cluster's; but a broker that ends at its start is told at once.
      ready: () => verifyListening(addresses[id - 1] ?? ''),
    });
  };

  return progress.step(
    `Kafka ${KAFKA_VERSION}: starting ${brokers} broker${brokers === 1 ? '' : 's'}`,
    async () => {
      const handles = await Promise.all(ids.map(startBroker));
      await waitUntil(() => verifyKafka(addresses), {
        description: 'Kafka did not become ready',
        timeoutMs: 120_000,
      });
      const controls = handles.map((handle, index): BrokerControl => {
        const id = index + 1;
        const address = addresses[index] ?? '';
        return {
          id,
          address,
          stop: (signal = 'SIGTERM') => handle.stop(signal),
          async start() {
            await handle.start();
            await waitUntil(() => verifyBroker(address, id), {
              description: `broker ${id} did not come back`,
              timeoutMs: 60_000,
            });
          },
          pause: () => handle.kill('SIGSTOP'),
          resume: () => handle.kill('SIGCONT'),
        };
      });
      return {
        brokers: controls,
        guarded: guarded && {
          sasl: `127.0.0.1:${guarded.saslPort}`,
          certificate: `127.0.0.1:${guarded.certificatePort}`,
        },
        ...(proxied && { behindProxy: `127.0.0.1:${proxied.port}` }),
        async stop() {
          // Nobody will read what a temporary cluster would still put in order.
          const signal = directory.temporary ? 'SIGKILL' : 'SIGTERM';
          await Promise.all(handles.map((handle) => handle.stop(signal)));
        },
      };
    },
  );
}
