// The right of a partition state to write.

/** A partition state's right to write; the event log's `SessionLease` is one. */
export interface WriteLease {
  /** @throws when it has ended */
  check(): void;
  /** Ends it: the partition is opened anew. */
  end(reason: Error): void;
  hasEnded(): boolean;
  /** Nothing is decided on what was read until this has ended. */
  doubt(until: Promise<unknown>): void;
}
