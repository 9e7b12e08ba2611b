// Which credentials and OUs have ended, as the log says it: so that an ended one is refused within seconds on every
// instance, also while the database is away or behind, when what was last read there would go on letting it in.
import { records } from '@lead-scoring/contracts';
import { isRecord, tail, type EventLog, type TailedRecord } from '@lead-scoring/event-log';
import { defineComponent, pause, type Component, type Logger } from '@lead-scoring/service';
import { LRUCache } from 'lru-cache';

export interface Revocations {
  /** Whether the log says that this credential or OU has ended. False does not mean that it has not: the database knows all. */
  has(id: string): boolean;
}

export interface RevocationsOptions {
  /** How far back the log is read at the start, and after it could not be read. */
  lookBackMs?: number;
  retryPauseMs?: number;
}

/** Longer than a read model may lag and an instance serve what it last knew. */
const defaultLookBackMs = 3_600_000;
/** Each takes about 100 bytes. */
const maximumRemembered = 100_000;

/** Follows `gateway.events` from an hour ago on; reads on by itself after the log was away. */
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
          logger.warn({ err: error }, 'ended credentials are not followed on the log; trying again');
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
