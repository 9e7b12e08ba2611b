// The audit trail of all services as one list, newest first: each service gives its newest entries before a place, and these are merged.
import { auditedServices, routeDeclarations, type AuditedService } from '@lead-scoring/contracts';

type AuditEntry = routeDeclarations.AuditEntry;
export type ChangesAsked = routeDeclarations.ChangesAsked;
type Place = NonNullable<ChangesAsked['before']>;

/** The newest entries of one service. @throws ProblemError where it does not answer */
export type ReadEntries = (service: AuditedService, asked: ChangesAsked) => Promise<AuditEntry[]>;

export interface EntriesPage {
  data: AuditEntry[];
  /** The place of the last entry; null: there are no earlier ones. */
  next: Place | null;
}

/**
 * The newest entries before a place. Each service is asked for one more than a page, which is as many as the page can have of it.
 * @throws ProblemError 503 or 504 where a service does not answer: a list would have a hole that nobody sees
 */
export async function newestEntries(asked: ChangesAsked, read: ReadEntries): Promise<EntriesPage> {
  const lists = await Promise.all(
    auditedServices.map((service) => read(service, { ...asked, limit: asked.limit + 1 })),
  );
  const merged = lists.flat().sort(newestFirst);
  const data = merged.slice(0, asked.limit);
  const last = data.at(-1);
  return { data, next: last && merged.length > data.length ? { at: last.at, id: last.id } : null };
}

function newestFirst(one: AuditEntry, other: AuditEntry): number {
  if (one.at !== other.at) return one.at < other.at ? 1 : -1;
  return one.id < other.id ? 1 : one.id > other.id ? -1 : 0;
}

/** All entries, a page at a time. */
export async function* everyEntry(asked: ChangesAsked, read: ReadEntries): AsyncGenerator<AuditEntry[]> {
  let before = asked.before;
  for (;;) {
    const { data, next } = await newestEntries({ ...asked, ...(before && { before }) }, read);
    yield data;
    if (next === null) return;
    before = next;
  }
}
