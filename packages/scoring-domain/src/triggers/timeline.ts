// A timeline: a lead's entries in the order of event time, as far back as triggers look.

export interface TimelineEntry {
  /** Event time in milliseconds. */
  readonly at: number;
}

/** Entries of one moment are in the order in which they were added. */
export interface Timeline<Entry extends TimelineEntry> {
  /** The greatest event time so far; an event time in the future counts as the time of receipt. */
  readonly newest: number;
  readonly entries: readonly Entry[];
}

/** An entry is kept for its trigger's window and, after that, for the larger of the window and this time. */
const latenessMs = 24 * 3_600_000;
/** The newest entries that are kept whatever their age. */
const alwaysKept = 32;
/** Maximum number of entries in a timeline; of more, the oldest are dropped. */
export const maximumEntries = 500;

/** Inserts an entry in the order of event time and drops entries that are too old. Returns a new timeline. */
export function remember<Entry extends TimelineEntry>(
  timeline: Timeline<Entry> | undefined,
  entry: Entry,
  { takenAt, windowMs }: { takenAt: number; windowMs: number },
): Timeline<Entry> {
  const known = timeline?.entries ?? [];
  const newest = Math.max(timeline?.newest ?? -Infinity, Math.min(entry.at, takenAt));
  let place = known.length;
  while (place > 0 && (known[place - 1]?.at ?? 0) > entry.at) place -= 1;
  const entries = known.toSpliced(place, 0, entry);
  const horizon = newest - windowMs - Math.max(windowMs, latenessMs);
  let forgotten = 0;
  for (const { at } of entries) {
    const left = entries.length - forgotten;
    if (left <= alwaysKept || (at >= horizon && left <= maximumEntries)) break;
    forgotten += 1;
  }
  return { newest, entries: forgotten > 0 ? entries.slice(forgotten) : entries };
}
