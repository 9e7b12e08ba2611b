// Dead letters: records that a service could not take, listed and sent again.
import type { ServiceName, TopicName } from '@lead-scoring/contracts';
import type { EventLog } from './event-log.js';

export interface DeadLetter {
  /** `<partition>:<offset>` in the dead-letter topic. */
  id: string;
  /** Where the record came from. */
  origin: { topic: TopicName; partition: number; offset: bigint };
  type: string | null;
  key: string | null;
  reason: string;
  /** How many times the record has been parked, this one included. */
  attempts: number;
  /** ISO 8601 UTC: when it was parked. */
  time: string;
  bytes: number;
  retried: boolean;
}

/** All dead letters of a service, oldest first within each partition. */
export function listDeadLetters(log: EventLog, service: ServiceName): AsyncIterable<DeadLetter> {
  throw new Error(`not yet: ${String(log)} ${service}`);
}

export interface RetryDeadLettersOptions {
  /** Only these; default all that were not retried yet. */
  ids?: readonly string[];
  /** Also those that were retried before. */
  again?: boolean;
}

/** Sends dead letters to their service again, each once however often the command is given. */
export function retryDeadLetters(
  log: EventLog,
  service: ServiceName,
  options: RetryDeadLettersOptions = {},
): Promise<{ retried: DeadLetter[] }> {
  throw new Error(`not yet: ${String(log)} ${service} ${String(options)}`);
}
