// The credentials and OUs that have ended, and the members who have changed, according to the log. With them, every instance refuses an
// ended credential, and a demoted member what they may no longer do, within seconds: also while the database is away or behind and its
// last answer would let them in.
import { records } from '@lead-scoring/contracts';
import { isRecord, tail, type EventLog, type TailedRecord } from '@lead-scoring/event-log';
import { createBoundedCache } from '@lead-scoring/read-model';
import { defineComponent, pause, type Component, type Logger } from '@lead-scoring/service';
import type { Member } from '../identity/state.js';

/** What a member may do, as of the version of their state. */
export type MemberRights = Pick<Member, 'version' | 'role' | 'ou_ids'>;

export interface Revocations {
  /** The latest change of a member within the part of the log that was read; undefined: the database decides. */
  memberChange(memberId: string): MemberRights | undefined;
  /** True when this credential, member or OU has ended within the part of the log that was read; otherwise the database decides. */
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
    const ended = createBoundedCache<true>({ maximumEntries: maximumRemembered });
    const changed = createBoundedCache<MemberRights>({ maximumEntries: maximumRemembered });
    const stopping = new AbortController();
    const { signal } = stopping;
    const follow = async (): Promise<void> => {
      while (!signal.aborted)
        try {
          const from = new Date(Date.now() - lookBackMs);
          for await (const record of tail(log, 'gateway.events', { from, signal })) {
            const id = endedBy(record);
            if (id !== null) ended.set(id, true);
            if (isRecord(record, records.memberChanged)) {
              const { member_id, version, role, ou_ids } = record.payload;
              // After the log was away, changes that are known are read again.
              if (version > (changed.get(member_id)?.version ?? 0))
                changed.set(member_id, { version, role, ou_ids });
            }
          }
        } catch (error) {
          logger.warn(
            { err: error },
            'the ends of credentials and the changes of members cannot be read from the log; trying again',
          );
          await pause(retryPauseMs, signal);
        }
    };
    const following = follow();
    return Promise.resolve({
      value: { has: (id) => ended.has(id), memberChange: (memberId) => changed.get(memberId) },
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
  if (isRecord(record, records.memberRemoved)) return record.payload.member_id;
  if (isRecord(record, records.orgUnitEnded)) return record.payload.ou_id;
  return null;
}
