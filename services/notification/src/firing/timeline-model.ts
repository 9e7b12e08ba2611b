// What a lead has done, in the order of event time, as far back as a trigger may still ask.

export interface Timed {
  /** Event time, milliseconds. */
  readonly at: number;
}

/** Entries of one moment are in the order in which they came. */
export interface Timeline<Entry extends Timed> {
  /** The greatest event time so far; one in the future counts as the moment in which it was taken. */
  readonly newest: number;
  readonly entries: readonly Entry[];
}

/** Events that come later than this, or than a window, after the newest may find that what was before is forgotten. */
const latenessMs = 24 * 3_600_000;
/** So few are kept however old they are. */
const alwaysKept = 32;
/** What a trigger looks at in one lead; of more, the oldest are forgotten. */
export const maximumEntries = 500;

/** Puts an entry in its place and forgets what is too old to matter. The timeline that was given stays as it was. */
export function remember<Entry extends Timed>(
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
