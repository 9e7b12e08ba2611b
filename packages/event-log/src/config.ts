// The configuration of a process' event log.
import type { ServerAccess } from '@lead-scoring/contracts';

/** The servers of the event log, and the namespace of this system on them. */
export interface EventLogConfig {
  brokers: string[];
  schemaRegistryUrl: string;
  /** Prefixes topics, groups, transactional ids and subjects: several systems may share one cluster. [a-z0-9-]{1,40} */
  namespace: string;
  clientId: string;
  /** Partitions of every topic of the system. */
  partitions: number;
  /** Copies of each record. Absent: as many as there are brokers, up to three. */
  replicationFactor?: number | undefined;
  /**
   * Records that an operator has released from folding, as `topic:partition:offset`: an unreadable record named here is
   * skipped.
   */
  skippedRecords?: readonly string[] | undefined;
  /** TLS and authentication settings for the brokers and the registry. Absent: plain text without authentication. */
  access?: ServerAccess | undefined;
}

/** The part of a service's environment variables that `createEventLogComponent` takes. */
export interface EventLogEnvironment extends ServerAccess {
  readonly KAFKA_BROKERS: string[];
  readonly SCHEMA_REGISTRY_URL: string;
  readonly NAMESPACE: string;
  readonly PARTITIONS: number;
  readonly REPLICATION_FACTOR?: number | undefined;
  readonly SKIP_RECORDS?: readonly string[] | undefined;
}
