// Whether a session may still write. A process that was stopped for a while does not know that its partition has another
// owner by now: it may write only as long as the group can not have given the partition away.
import { EventLogError } from './errors.js';

export interface SessionLease {
  /**
   * To be called in the same synchronous turn as a write.
   * @throws EventLogError `lease_ended`, or what it was ended with: open the partition anew
   */
  check(): void;
  /** What is written from now on is refused with this error, and the session is opened anew. */
  end(reason: Error): void;
  hasEnded(): boolean;
  /** Nothing is decided until this has ended: what was read may have been lost by the database. */
  doubt(until: Promise<unknown>): void;
}

export interface OwnSessionLease extends SessionLease {
  /** Resolves once there is no doubt. @throws as `check` */
  confirmed(): Promise<void>;
}

/** How long the group counts this member in, by what it has answered. All moments are monotonic milliseconds. */
export interface Hold {
  /** The group has answered what was sent at that moment. */
  confirmed(sentAt: number): void;
  /**
   * Until when it has counted the member in without a break since that moment. Who began before a break never writes again,
   * though the same partition may be this member's once more: another may have had it meanwhile.
   */
  until(since: number): number;
}

/** @param lengthMs how long the group waits for a member that it has heard of */
export function createHold(lengthMs: number): Hold {
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

/** @param heldUntil the monotonic milliseconds until which nobody else can have been given the partition */
export function createSessionLease(heldUntil: () => number, now = () => performance.now()): OwnSessionLease {
  let ended: Error | undefined;
  let doubt: Promise<unknown> | undefined;
  const check = () => {
    if (ended) throw ended;
    if (now() >= heldUntil())
      throw new EventLogError(
        'lease_ended',
        'the group has not confirmed lately that the partition is of this process; it is opened anew',
        { retriable: true },
      );
  };
  return {
    check,
    end: (reason) => {
      ended ??= reason;
    },
    hasEnded: () => ended !== undefined,
    doubt: (until) => {
      const all = Promise.allSettled([doubt, until]).then(() => {
        if (doubt === all) doubt = undefined;
      });
      doubt = all;
    },
    confirmed: async () => {
      while (doubt) await doubt;
      check();
    },
  };
}

const codesOfLoss = new Set<unknown>(['lease_ended', 'checkpoint_superseded']);

/** Whether a session has ended because another process may own the partition: the group is to be heard first. */
export function isLoss(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && codesOfLoss.has(error.code);
}
