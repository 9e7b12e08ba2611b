// The three servers, and where they are reached.
import type { GuardedAddresses } from './native/guarded-kafka.js';

export type ServerName = 'kafka' | 'schemaRegistry' | 'mongodb';
export type Provider = 'configured' | 'docker' | 'native';

export const serverNames: readonly ServerName[] = ['kafka', 'schemaRegistry', 'mongodb'];

export const serverTitles: Readonly<Record<ServerName, string>> = {
  kafka: 'Kafka',
  schemaRegistry: 'schema registry',
  mongodb: 'MongoDB',
};

export const serverVariables: Readonly<Record<ServerName, string>> = {
  kafka: 'KAFKA_BROKERS',
  schemaRegistry: 'SCHEMA_REGISTRY_URL',
  mongodb: 'MONGODB_URI',
};

export interface PlatformEndpoints {
  /** `host:port` of each broker; empty when Kafka was not asked for. */
  kafkaBrokers: string[];
  /** Base of a Confluent-compatible registry API; empty when the registry was not asked for. */
  schemaRegistryUrl: string;
  /** Without a database name; empty when MongoDB was not asked for. */
  mongodbUri: string;
}

/** Stops, kills and pauses a broker, for fault tests. Exists only for brokers that this run started itself. */
export interface BrokerControl {
  /** Kafka's node id, from 1. */
  id: number;
  /** `host:port`, the same after a restart. */
  address: string;
  /** Ends the broker until `start` is called. On SIGTERM (the default) it hands its partitions over first, on SIGKILL not. */
  stop: (signal?: 'SIGTERM' | 'SIGKILL') => Promise<void>;
  /**
   * Starts it again and waits until it answers and has joined the cluster.
   *
   * @throws Error when it does not come back
   */
  start: () => Promise<void>;
  /** Freezes the process: its connections stay open, nothing answers. */
  pause: () => void;
  resume: () => void;
}

/** The servers that one provider has started. */
export interface StartedServers {
  brokers: BrokerControl[];
  guarded?: GuardedAddresses;
  /** `host:port` that the proxy on `kafkaProxyPort` must forward to. */
  behindProxy?: string;
  processes: () => { name: string; pid: number }[];
  stop: () => Promise<void>;
}
