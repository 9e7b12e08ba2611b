// Statistics of one event type of an OU, as one partition has seen it. Pure.
import { preferredEventTypeName, type records } from '@lead-scoring/contracts';

export interface EventTypeShare {
  ou_id: string;
  /** eventTypeKey: all spellings of the type have the same. */
  key: string;
  /** Spellings seen, in order of appearance. */
  names: readonly string[];
  count: number;
  /** Event times, ISO 8601. */
  first_seen: string;
  last_seen: string;
  /** Metadata keys in order of appearance. */
  properties: readonly string[];
  /** Kinds of alias under which events came. */
  alias_kinds: readonly string[];
}

export const eventTypeLimits = { names: 100, properties: 2_000, aliasKinds: 100 };

/** A share being folded over a batch; `share` makes an unchanging one of it. */
export class EventTypeFold {
  private readonly names: Set<string>;
  private readonly properties: Set<string>;
  private readonly aliasKinds: Set<string>;
  private count: number;
  private firstSeen: string;
  private lastSeen: string;

  constructor(
    private readonly ouId: string,
    private readonly key: string,
    before: EventTypeShare | null,
  ) {
    this.names = new Set(before?.names);
    this.properties = new Set(before?.properties);
    this.aliasKinds = new Set(before?.alias_kinds);
    this.count = before?.count ?? 0;
    this.firstSeen = before?.first_seen ?? '';
    this.lastSeen = before?.last_seen ?? '';
  }

  add(event: records.EventsIngested['events'][number], aliases: records.EventsIngested['aliases']): void {
    const { event_type, timestamp, metadata } = event;
    this.count += 1;
    if (this.firstSeen === '' || timestamp < this.firstSeen) this.firstSeen = timestamp;
    if (timestamp > this.lastSeen) this.lastSeen = timestamp;
    if (this.names.size < eventTypeLimits.names) this.names.add(event_type);
    if (this.aliasKinds.size < eventTypeLimits.aliasKinds)
      for (const { alias_kind } of aliases) this.aliasKinds.add(alias_kind);
    if (metadata)
      for (const key of Object.keys(metadata))
        if (this.properties.size < eventTypeLimits.properties) this.properties.add(key);
  }

  share(): EventTypeShare {
    return {
      ou_id: this.ouId,
      key: this.key,
      names: [...this.names],
      count: this.count,
      first_seen: this.firstSeen,
      last_seen: this.lastSeen,
      properties: [...this.properties],
      alias_kinds: [...this.aliasKinds],
    };
  }
}

/** A type as the whole OU sees it. */
export interface EventType extends Omit<EventTypeShare, 'names'> {
  /** The spelling to show. */
  name: string;
}

/** Puts the partitions' shares together; the order of the shares does not matter. */
export function eventTypesOf(shares: Iterable<EventTypeShare>): Map<string, EventType> {
  const types = new Map<string, EventType>();
  for (const share of shares) {
    const known = types.get(share.key);
    const name = [...share.names, ...(known ? [known.name] : [])].reduce(preferredEventTypeName);
    types.set(share.key, {
      ou_id: share.ou_id,
      key: share.key,
      name,
      count: share.count + (known?.count ?? 0),
      first_seen: known && known.first_seen < share.first_seen ? known.first_seen : share.first_seen,
      last_seen: known && known.last_seen > share.last_seen ? known.last_seen : share.last_seen,
      properties: [...new Set([...(known?.properties ?? []), ...share.properties])]
        .sort()
        .slice(0, eventTypeLimits.properties),
      alias_kinds: [...new Set([...(known?.alias_kinds ?? []), ...share.alias_kinds])].sort(),
    });
  }
  return types;
}
