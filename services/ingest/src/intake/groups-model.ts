// Groups the events of a batch into records, because the cost per record limits throughput. Pure.
import {
  leadFieldsOf,
  withLeadFields,
  type Alias,
  type JsonValue,
  type LeadFields,
  type records,
} from '@lead-scoring/contracts';
import type { IntakeEvent } from './messages.js';

type ChunkEvent = records.ChunkEvent;
type StoredEvent = records.EventsIngested['events'][number];

/** Events that become one record: they have the same lead, alias and source. */
interface Group {
  ou_id: string;
  lead_id: string;
  source: 'ingest' | 'import';
  fire_triggers: boolean;
  members: { event: ChunkEvent; batch_id: string; received_at: string }[];
  aliases: Alias[];
  aliasKeys: Set<string>;
  fields: LeadFields;
  bytes: number;
}

const groupLimits = { events: 1_000, bytes: 400_000, aliases: 100 };

/** Groups events; the groups have the order of their first events. */
export class EventGroups {
  readonly #groups: Group[] = [];
  /** The groups to which events can still be added, by key. */
  readonly #open = new Map<string, Group>();

  add(event: ChunkEvent, command: records.IngestEvents): void {
    const group = this.#groupFor(event, command);
    group.members.push({ event, batch_id: command.batch_id, received_at: command.received_at });
    for (const alias of event.aliases) addAlias(group, alias);
    if (event.metadata)
      group.fields = withLeadFields(group.fields, leadFieldsOf(event.metadata, event.timestamp));
  }

  hasEventsOf(leadId: string): boolean {
    return this.#groups.some(({ lead_id }) => lead_id === leadId);
  }

  records(): IntakeEvent[] {
    return this.#groups.map(recordOf);
  }

  #groupFor(event: ChunkEvent, command: records.IngestEvents): Group {
    const named = event.aliases[0];
    if (!named) throw new Error(`event ${event.id} has no alias`);
    const key = `${event.lead_id} ${command.source} ${String(command.fire_triggers)} ${aliasKey(named)}`;
    const open = this.#open.get(key);
    if (open && hasRoom(open, event)) return open;
    const { ou_id, source, fire_triggers } = command;
    const group: Group = {
      ou_id,
      lead_id: event.lead_id,
      source,
      fire_triggers,
      members: [],
      aliases: [],
      aliasKeys: new Set(),
      fields: {},
      bytes: 0,
    };
    this.#open.set(key, group);
    this.#groups.push(group);
    return group;
  }
}

/** Divides forwarded events into parts that fit into one command each. */
export function inParts(events: readonly ChunkEvent[]): ChunkEvent[][] {
  const parts: ChunkEvent[][] = [];
  let open: ChunkEvent[] = [];
  let bytes = 0;
  for (const event of events) {
    const own = maximumBytesOf(event as unknown as JsonValue);
    if (open.length > 0 && (open.length >= groupLimits.events || bytes + own > groupLimits.bytes)) {
      parts.push(open);
      open = [];
      bytes = 0;
    }
    open.push(event);
    bytes += own;
  }
  parts.push(open);
  return parts;
}

/** Whether an event fits into a group: a record stays well below the largest message of the log. Sizes matter from the second event. */
function hasRoom(group: Group, event: ChunkEvent): boolean {
  if (group.members.length >= groupLimits.events) return false;
  if (group.aliases.length + event.aliases.length > groupLimits.aliases) return false;
  if (group.bytes === 0)
    group.bytes = group.members.reduce((sum, member) => sum + maximumBytesOf(member.event.metadata), 0);
  group.bytes += maximumBytesOf(event.metadata);
  return group.bytes <= groupLimits.bytes;
}

/** An upper bound of the size of a value as JSON: each character counts 3 bytes, the most of one UTF-16 unit in UTF-8. */
function maximumBytesOf(value: JsonValue | undefined): number {
  if (value === undefined || value === null) return 4;
  switch (typeof value) {
    case 'string':
      return value.length * 3 + 2;
    case 'object': {
      let sum = 2;
      if (Array.isArray(value)) for (const item of value) sum += 1 + maximumBytesOf(item);
      else for (const key in value) sum += key.length * 3 + 4 + maximumBytesOf(value[key]);
      return sum;
    }
    default:
      return 24;
  }
}

function aliasKey({ alias_kind, alias }: Alias): string {
  return `${alias_kind}:${alias}`;
}

function addAlias(group: Group, alias: Alias): void {
  const key = aliasKey(alias);
  if (group.aliasKeys.has(key)) return;
  group.aliasKeys.add(key);
  group.aliases.push(alias);
}

function recordOf(group: Group): IntakeEvent {
  const [first] = group.members;
  if (!first) throw new Error('a group has at least one event');
  const receivedAt = group.members.reduce(
    (latest, member) => (member.received_at > latest ? member.received_at : latest),
    first.received_at,
  );
  const fields = Object.entries(group.fields).map(([field, { value, at }]) => ({
    field: field as keyof LeadFields,
    value,
    at,
  }));
  return {
    type: 'EventsIngested',
    payload: {
      ou_id: group.ou_id,
      lead_id: group.lead_id,
      batch_id: first.batch_id,
      source: group.source,
      fire_triggers: group.fire_triggers,
      received_at: receivedAt,
      aliases: group.aliases,
      ...(fields.length > 0 && { fields }),
      events: group.members.map((member) => storedEvent(member, first.batch_id, receivedAt)),
    },
  };
}

/** The event as it is recorded. Without object spreads, because this runs for every event. */
function storedEvent(
  { event, batch_id, received_at }: Group['members'][number],
  batchId: string,
  receivedAt: string,
): StoredEvent {
  const stored: StoredEvent = { id: event.id, event_type: event.event_type, timestamp: event.timestamp };
  if (event.event_id !== undefined) stored.event_id = event.event_id;
  if (event.metadata) stored.metadata = event.metadata;
  if (batch_id !== batchId) stored.batch_id = batch_id;
  if (received_at !== receivedAt) stored.received_at = received_at;
  return stored;
}
