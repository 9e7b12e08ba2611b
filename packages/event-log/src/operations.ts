// What operators ask of the log: lag, tailing a topic, rebuilding a read model.
import type { ServiceName, TopicName } from '@lead-scoring/contracts';
import type { EventLog } from './event-log.js';
import type { IncomingRecord } from './records.js';

export interface PartitionLag {
  topic: TopicName;
  partition: number;
  /** Next offset that the service will read. */
  position: bigint;
  /** Next offset that will be written. */
  end: bigint;
  /** `end - position`; a commit marker counts as one. */
  lag: bigint;
}

/** How far a service is behind, for each partition of each topic that it reads. */
export function listLag(log: EventLog, service: ServiceName): Promise<PartitionLag[]> {
  throw new Error(`not yet: ${String(log)} ${service}`);
}

/** A record of a tailed topic; `error` says why its payload could not be decoded. */
export type TailedRecord = IncomingRecord & { error?: string };

export interface TailOptions {
  from?: 'beginning' | 'end';
  /** Ends after what is there now in place of waiting for more. */
  follow?: boolean;
  signal?: AbortSignal;
}

/** The records of a topic, of all partitions; in order within each. */
export function tail(log: EventLog, topic: TopicName, options: TailOptions = {}): AsyncIterable<TailedRecord> {
  throw new Error(`not yet: ${String(log)} ${topic} ${String(options)}`);
}

/** Asks each partition of a service to drop its read models and fold them anew; resolves once the commands are written. */
export function requestRebuild(
  log: EventLog,
  service: ServiceName,
): Promise<{ rebuildId: string; positions: { partition: number; offset: bigint }[] }> {
  throw new Error(`not yet: ${String(log)} ${service}`);
}

/** Waits until a service has handled everything of a topic before these positions (and these themselves). */
export function waitUntilConsumed(
  log: EventLog,
  service: ServiceName,
  topic: TopicName,
  positions: readonly { partition: number; offset: bigint }[],
  options: { timeoutMs: number },
): Promise<boolean> {
  throw new Error(`not yet: ${String(log)} ${service} ${topic} ${String(positions)} ${String(options)}`);
}
