// How the event log is reached: what a process is configured with.
import type { ServerAccess } from '@lead-scoring/contracts';

/** How to reach the event log, and which system's part of it is ours. */
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
  /** Records that an operator has given up, as `topic:partition:offset`: where one cannot be read, it is not folded. */
  skippedRecords?: readonly string[] | undefined;
  /** How the brokers and the registry let us in. Absent: in plain text, without a name. */
  access?: ServerAccess | undefined;
}

/** What a service's environment says of it: the part of its configuration that `createEventLogComponent` takes. */
export interface EventLogEnvironment extends ServerAccess {
  readonly KAFKA_BROKERS: string[];
  readonly SCHEMA_REGISTRY_URL: string;
  readonly NAMESPACE: string;
  readonly PARTITIONS: number;
  readonly REPLICATION_FACTOR?: number | undefined;
  readonly SKIP_RECORDS?: readonly string[] | undefined;
}
