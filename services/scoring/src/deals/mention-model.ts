// What events say of deals: read from `metadata.deal`, once for each record of events. Pure.
import {
  dealFieldNames,
  mentionedDeal,
  type DealChange,
  type DealValue,
  type JsonValue,
  type records,
} from '@lead-scoring/contracts';

type IngestedEvent = records.EventsIngested['events'][number];
type IgnoredDeal = records.DealsIgnored['deals'][number];

/** What the events of one record say of a deal: at most one change for each field. */
export interface DealMention {
  readonly deal_id: string;
  readonly changes: readonly DealChange[];
}

export interface DealMentions {
  /** In the order in which the events first named them. */
  readonly deals: readonly DealMention[];
  readonly ignored: readonly IgnoredDeal[];
}

/** Whether any of the events has something at the place of a deal: one look at one property of each. */
export function nameDeals(events: readonly IngestedEvent[]): boolean {
  for (const { metadata } of events) if (metadata?.deal !== undefined && metadata.deal !== null) return true;
  return false;
}

/** A deal that is not one is ignored as a whole, with the first problem of it. */
export function mentionsIn(events: readonly IngestedEvent[]): DealMentions {
  const deals = new Map<string, Map<DealChange['field'], DealChange>>();
  const ignored: IgnoredDeal[] = [];
  for (const { id: event_id, timestamp: at, metadata } of events) {
    const found = metadata?.deal;
    if (found === undefined || found === null) continue;
    const read = readDeal(found);
    if ('problem' in read) {
      ignored.push({ event_id, ...read });
      continue;
    }
    const changes = deals.get(read.id) ?? new Map<DealChange['field'], DealChange>();
    deals.set(read.id, changes);
    for (const field of dealFieldNames) {
      const value: DealValue | null | undefined = read[field];
      if (value === undefined) continue;
      const change = { field, value, at };
      if (supersedes(change, changes.get(field))) changes.set(field, change);
    }
  }
  return {
    deals: [...deals].map(([deal_id, changes]) => ({ deal_id, changes: [...changes.values()] })),
    ignored,
  };
}

type ReadDeal = ReturnType<typeof mentionedDeal.parse>;

function readDeal(found: JsonValue): ReadDeal | Pick<IgnoredDeal, 'path' | 'problem'> {
  const { data, error } = mentionedDeal.safeParse(found);
  if (data) return data;
  const [issue] = error.issues;
  return {
    path: ['metadata.deal', ...(issue?.path ?? [])].join('.'),
    problem: (issue?.message ?? 'is no deal').slice(0, 200),
  };
}

/**
 * Whether a change takes the place of what is known. The latest event time wins; at the same time the greater text wins, so that
 * the order in which events of several leads arrive makes no difference.
 */
export function supersedes(
  { value, at }: Pick<DealChange, 'value' | 'at'>,
  known: Pick<DealChange, 'value' | 'at'> | undefined,
): boolean {
  if (!known) return true;
  if (at !== known.at) return at > known.at;
  return JSON.stringify(value) > JSON.stringify(known.value);
}
