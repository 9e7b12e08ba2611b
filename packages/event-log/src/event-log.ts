// The event log of one process: its connections, its codec, and the preparation of topics and schemas.
import { setImmediate } from 'node:timers/promises';
import {
  recordDeclarations,
  type RecordDeclaration,
  type ServiceName,
  type TopicName,
} from '@lead-scoring/contracts';
import type { Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import { createCodec, type Codec } from './codec.js';
import type { Component } from './component.js';
import type { EventLogConfig, EventLogEnvironment } from './config.js';
import { EventLogError } from './errors.js';
import { createKafka, createKafkaConnection, type KafkaConnection } from './kafka/kafka-connection.js';
import { partitionOfKey } from './kafka/murmur2.js';
import { createRegistryClient, type RegistryClient } from './registry-client.js';
import { createSchemaStore, type SchemaStore } from './schemas.js';
import { wireTopic } from './topic-names.js';
import { ensureTopics } from './topics.js';

/** The members of the log for other modules of this package; not for services. */
export interface EventLogInternals {
  readonly kafka: Kafka;
  readonly codec: Codec;
  readonly registry: RegistryClient;
  readonly schemas: SchemaStore;
  readonly logger: Logger;
  readonly wire: (topic: TopicName) => string;
  readonly connect: () => KafkaConnection;
  readonly giveWay: () => Promise<unknown>;
}

export const internals = Symbol('internals');

export interface EventLogOptions {
  readonly logger: Logger;
  /** Record types besides those of contracts, for test services. */
  readonly declarations?: readonly RecordDeclaration[] | undefined;
  /**
   * Awaited after every few milliseconds of reading a history, so that live work comes in between. Default: until the other work of
   * this thread has had its turn.
   */
  readonly giveWay?: (() => Promise<unknown>) | undefined;
}

export interface EventLog {
  readonly config: EventLogConfig;
  /**
   * Creates and checks all declared topics, and registers the JSON Schemas of all declared records with BACKWARD
   * compatibility. Several services may call it concurrently; call it before any record is written or read.
   * @throws EventLogError `incompatible_schema` or `topic_mismatch`, with the reason and what to change.
   */
  prepare(): Promise<void>;
  /** Prepares the schemas alone: for a thread of a process that has prepared its own log. */
  prepareSchemas(): Promise<void>;
  /** The partition of a key, computed as by Kafka's default partitioner (murmur2). */
  partitionOf(key: string): number;
  /** Closes every connection that is still open. Components close their own when they stop. */
  close(): Promise<void>;
  readonly [internals]: EventLogInternals;
}

/** Creates the event log of this process without connecting. */
export function createEventLog(
  config: EventLogConfig,
  { logger, declarations, giveWay = () => setImmediate() }: EventLogOptions,
): EventLog {
  if (!/^[a-z0-9-]{1,40}$/.test(config.namespace)) {
    throw new EventLogError(
      'invalid_record',
      `namespace "${config.namespace}" must be 1 to 40 of a-z, 0-9 and -`,
    );
  }
  const kafka = createKafka(config, logger);
  const registry = createRegistryClient({
    url: config.schemaRegistryUrl,
    clientId: config.clientId,
    access: config.access ?? {},
  });
  const schemas = createSchemaStore({
    registry,
    namespace: config.namespace,
    ...(declarations && { declarations: [...recordDeclarations, ...declarations] }),
  });
  const connections = new Set<KafkaConnection>();
  return {
    config,
    async prepare() {
      await Promise.all([ensureTopics(kafka, config, logger), schemas.register()]);
    },
    prepareSchemas: () => schemas.register(),
    partitionOf: (key) => partitionOfKey(key, config.partitions),
    close() {
      for (const connection of connections) connection.close();
      connections.clear();
      return Promise.resolve();
    },
    [internals]: {
      kafka,
      codec: createCodec(schemas),
      registry,
      schemas,
      logger,
      wire: (topic) => wireTopic(config.namespace, topic),
      connect() {
        const connection = createKafkaConnection(kafka, (closed) => connections.delete(closed));
        connections.add(connection);
        return connection;
      },
      giveWay,
    },
  };
}

/** Creates the event log of a service from the settings of its process, without connecting. */
export function eventLogOf(
  configuration: EventLogEnvironment,
  { service, ...options }: EventLogOptions & { service: ServiceName },
): EventLog {
  return createEventLog(
    {
      brokers: configuration.KAFKA_BROKERS,
      schemaRegistryUrl: configuration.SCHEMA_REGISTRY_URL,
      namespace: configuration.NAMESPACE,
      clientId: service,
      partitions: configuration.PARTITIONS,
      replicationFactor: configuration.REPLICATION_FACTOR,
      skippedRecords: configuration.SKIP_RECORDS,
      access: configuration,
    },
    options,
  );
}

/** The event log as a component of a service's process: prepared at the start, closed at the end. */
export function createEventLogComponent(
  configuration: EventLogEnvironment,
  options: Parameters<typeof eventLogOf>[1],
): Component<EventLog> {
  // The same log in each repetition of a start: its schemas are made once.
  let log: EventLog | undefined;
  return {
    name: 'event log',
    waitsForServer: true,
    start: async () => {
      const value = (log ??= eventLogOf(configuration, options));
      await value.prepare();
      return { value, stop: () => value.close() };
    },
  };
}
