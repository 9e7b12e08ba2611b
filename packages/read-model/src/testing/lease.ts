// A lease that a test ends.
import type { WriteLease } from '../write-lease.js';

/** The error by which the event log refuses, as far as it is looked at here. */
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
    doubt: () => undefined,
    lose: () => {
      end(new LeaseEnded('the lease has ended'));
    },
  };
}
