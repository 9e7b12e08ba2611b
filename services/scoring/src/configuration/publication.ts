// How long steps that follow a change of a configuration wait until the change is published.

/** A change is published once its partition has folded it: after a crash, when another process has taken the partition over. */
const publishedWithinMs = 10 * 60_000;

/** @param changedAt the time of the change, in UTC with milliseconds */
export function publicationDeadline(changedAt: string): string {
  return new Date(Date.parse(changedAt) + publishedWithinMs).toISOString();
}
