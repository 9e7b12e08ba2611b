// A lease that tests end.
import type { WriteLease } from '../write-lease.js';

/** The error of an ended lease, with the fields of the event log's error that are used here. */
class LeaseEnded extends Error {
  readonly code = 'lease_ended';
  readonly retriable = true;
}

export interface TestLease extends WriteLease {
  lose(): void;
}

export function createLease(): TestLease {
  let ended: Error | undefined;
  const end = (reason: Error) => {
    ended ??= reason;
  };
  return {
    check: () => {
      if (ended) throw ended;
    },
    end,
    hasEnded: () => ended !== undefined,
    holdDecisionsUntil: () => undefined,
    lose: () => {
      end(new LeaseEnded('the lease has ended'));
    },
  };
}
