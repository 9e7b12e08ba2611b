// The event log of one process: its connections, its codec, and the preparation of topics and schemas.
import type { Logger } from 'pino';

/** How to reach the event log, and which system's part of it is ours. */
export interface EventLogConfig {
  brokers: string[];
  schemaRegistryUrl: string;
  /** Prefixes topics, groups, transactional ids and subjects: several systems may share one cluster. [a-z0-9-]{1,40} */
  namespace: string;
  clientId: string;
  /** Partitions of every topic of the system. */
  partitions: number;
  replicationFactor: number;
  ssl?: boolean;
  sasl?: { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: string };
}

export interface EventLog {
  readonly config: EventLogConfig;
  /**
   * Makes and checks all declared topics, and registers the JSON Schemas of all declared records with BACKWARD
   * compatibility. Safe when several services do it at once; to be called before anything is written or read.
   * @throws EventLogError `incompatible_schema` or `topic_mismatch`, with the reason and what to change.
   */
  prepare(): Promise<void>;
  /** The partition of a key, as Kafka's default partitioner (murmur2). */
  partitionOf(key: string): number;
  close(): Promise<void>;
}

export function createEventLog(config: EventLogConfig, dependencies: { logger: Logger }): EventLog {
  throw new Error(`not yet: ${String(config)} ${String(dependencies)}`);
}
