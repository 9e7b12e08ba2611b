// Whether a session may still write. A process that was suspended does not know whether its partition has another
// owner: it may write only while the group cannot have reassigned the partition.
import { EventLogError } from './errors.js';

export interface SessionLease {
  /**
   * Call it synchronously before a write.
   * @throws EventLogError `lease_ended`, or the error passed to `end`; the session is opened again
   */
  check(): void;
  /** Refuses all later writes with this error; the session is opened again. */
  end(reason: Error): void;
  hasEnded(): boolean;
  /**
   * Blocks decisions until the promise settles: the database may have lost acknowledged writes, so state read from it
   * must be verified first.
   */
  holdDecisionsUntil(verified: Promise<unknown>): void;
}

export interface OwnSessionLease extends SessionLease {
  /** Resolves once no verification is pending. @throws as `check` */
  confirmed(): Promise<void>;
}

/** How long the group keeps this member, by the requests that it has answered. All times are monotonic milliseconds. */
export interface MembershipLease {
  /** The group has answered a request sent at this time. */
  confirmed(sentAt: number): void;
  /**
   * The end of the current membership, if it has lasted without a gap since this time; otherwise -Infinity. A session
   * from before a gap never writes again, even when the partition is assigned to this member again: another member may
   * have owned it meanwhile.
   */
  until(since: number): number;
}

/** @param lengthMs how long the group waits for the next request of a member */
export function createMembershipLease(lengthMs: number): MembershipLease {
  let end = -Infinity;
  let unbrokenSince = -Infinity;
  return {
    confirmed(sentAt) {
      if (sentAt >= end) unbrokenSince = sentAt;
      end = sentAt + lengthMs;
    },
    until: (since) => (since >= unbrokenSince ? end : -Infinity),
  };
}

/** @param leasedUntil the monotonic time until which no other member can have been assigned the partition */
export function createSessionLease(
  leasedUntil: () => number,
  now = () => performance.now(),
): OwnSessionLease {
  let ended: Error | undefined;
  let pending: Promise<unknown> | undefined;
  const check = () => {
    if (ended) throw ended;
    if (now() >= leasedUntil())
      throw new EventLogError(
        'lease_ended',
        'the lease has ended: the group has not confirmed this member recently, so the partition is opened again',
        { retriable: true },
      );
  };
  return {
    check,
    end: (reason) => {
      ended ??= reason;
    },
    hasEnded: () => ended !== undefined,
    holdDecisionsUntil: (verified) => {
      const all = Promise.allSettled([pending, verified]).then(() => {
        if (pending === all) pending = undefined;
      });
      pending = all;
    },
    confirmed: async () => {
      while (pending) await pending;
      check();
    },
  };
}

const ownershipLossCodes = new Set<unknown>(['lease_ended', 'checkpoint_superseded']);

/** Whether an error says that another process may own the partition, so that a confirmation by the group is needed. */
export function isOwnershipLoss(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && ownershipLossCodes.has(error.code);
}
