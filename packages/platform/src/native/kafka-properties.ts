// The properties file of a native Kafka broker.
import { guardListeners, type GuardedListeners } from './guarded-kafka.js';

export interface BrokerSettings {
  id: number;
  port: number;
  /** The controllers of all brokers, in order of id. */
  controllerPorts: readonly number[];
  /** Kafka's own data, made by `format`. */
  logDirectory: string;
  guarded?: { listeners: GuardedListeners; saslPort: number; certificatePort: number };
  /** A listener that advertises a proxy's port to its clients. */
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
    // Retention is set for each topic; a topic without a setting keeps its records.
    'log.retention.ms': -1,
    // Committed offsets of an empty group are kept as long as the records.
    'offsets.retention.minutes': 2_147_483_647,
    // Few partitions (Kafka's default: 50): each costs files and time at the start, and one machine gains nothing from more.
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
