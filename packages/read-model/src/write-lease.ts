// The lease under which a partition state writes.

/** The lease under which a partition state writes; the event log's `SessionLease` implements it. */
export interface WriteLease {
  /** @throws when the lease has ended */
  check(): void;
  /** Ends the lease: the partition is opened again. */
  end(reason: Error): void;
  hasEnded(): boolean;
  /** Blocks decisions until the promise settles: state read before must be verified first. */
  holdDecisionsUntil(verified: Promise<unknown>): void;
}
