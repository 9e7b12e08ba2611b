// The entry that a lead has in the index of due leads: pure.

export interface DueEntry {
  /** When the index names the lead: not after the next tick that takes points. */
  readonly at: string;
  /** Offset of the event from which the entry is, by which later folds replace it. */
  readonly offset: number;
}

/**
 * The entry after a decision. Each event of an active lead makes it due later, and writing that would cost a document an event: an entry
 * whose time is still to come stays. When that time has come, the lead is found not to be due, and gets an entry of the right time.
 * @param dueAt when the next tick takes points; undefined: never
 */
export function dueEntryAfter(
  known: DueEntry | undefined,
  dueAt: string | undefined,
  decision: { readonly decided_at: string; readonly offset: number },
): DueEntry | undefined {
  if (dueAt === undefined) return undefined;
  if (known && known.at > decision.decided_at && known.at <= dueAt) return known;
  return { at: dueAt, offset: decision.offset };
}
