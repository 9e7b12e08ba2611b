// The credentials and OUs that have ended according to the log. With them, every instance refuses an ended credential within
// seconds, also while the database is away or behind and its last answer would let the credential in.
import { records } from '@lead-scoring/contracts';
import { isRecord, tail, type EventLog, type TailedRecord } from '@lead-scoring/event-log';
import { defineComponent, pause, type Component, type Logger } from '@lead-scoring/service';
import { LRUCache } from 'lru-cache';

export interface Revocations {
  /** True when this credential or OU has ended within the part of the log that was read; otherwise the database decides. */
  has(id: string): boolean;
}

export interface RevocationsOptions {
  /** The age of the oldest records that are read at the start, and after the log was away. */
  lookBackMs?: number;
  retryPauseMs?: number;
}

/** Longer than a read model may lag and an instance may use stale values. */
const defaultLookBackMs = 3_600_000;
/** An entry takes about 100 bytes. */
const maximumRemembered = 100_000;

/** Follows `gateway.events`, beginning an hour back; continues by itself after the log was away. */
export function createRevocations(
  log: EventLog,
  logger: Logger,
  { lookBackMs = defaultLookBackMs, retryPauseMs = 1_000 }: RevocationsOptions = {},
): Component<Revocations> {
  return defineComponent('revocations', () => {
    const ended = new LRUCache<string, true>({ max: maximumRemembered });
    const stopping = new AbortController();
    const { signal } = stopping;
    const follow = async (): Promise<void> => {
      while (!signal.aborted)
        try {
          const from = new Date(Date.now() - lookBackMs);
          for await (const record of tail(log, 'gateway.events', { from, signal })) {
            const id = endedBy(record);
            if (id !== null) ended.set(id, true);
          }
        } catch (error) {
          logger.warn({ err: error }, 'the ends of credentials cannot be read from the log; trying again');
          await pause(retryPauseMs, signal);
        }
    };
    const following = follow();
    return Promise.resolve({
      value: { has: (id) => ended.has(id) },
      stop: () => {
        stopping.abort();
        return following;
      },
    });
  });
}

function endedBy(record: TailedRecord): string | null {
  if (isRecord(record, records.tokenRevoked)) return record.payload.token_id;
  if (isRecord(record, records.serviceAccountRevoked)) return record.payload.client_id;
  if (isRecord(record, records.orgUnitEnded)) return record.payload.ou_id;
  return null;
}
