// Groups the events of a batch into records: per-record cost is what limits throughput. Pure.
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

/** Events that become one record: of one lead, under one alias, of one source. */
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
/** The records that events become, in the order in which the first event of each came. */
export class EventGroups {
  readonly #groups: Group[] = [];
  /** Those that may still grow. */
  readonly #open = new Map<string, Group>();

  add(event: ChunkEvent, command: records.IngestEvents): void {
    const group = this.#groupFor(event, command);
    group.members.push({ event, batch_id: command.batch_id, received_at: command.received_at });
    for (const alias of event.aliases) addAlias(group, alias);
    if (event.metadata)
      group.fields = withLeadFields(group.fields, leadFieldsOf(event.metadata, event.timestamp));
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

/** Divides forwarded events among commands as events are among records: each carries where it has been as well. */
export function inParts(events: readonly ChunkEvent[]): ChunkEvent[][] {
  const parts: ChunkEvent[][] = [];
  let open: ChunkEvent[] = [];
  let bytes = 0;
  for (const event of events) {
    const own = bytesOf(event as unknown as JsonValue);
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

/** Keeps a record well under what one message of the log may hold. Sizes matter from the second event on. */
function hasRoom(group: Group, event: ChunkEvent): boolean {
  if (group.members.length >= groupLimits.events) return false;
  if (group.aliases.length + event.aliases.length > groupLimits.aliases) return false;
  if (group.bytes === 0)
    group.bytes = group.members.reduce((sum, member) => sum + bytesOf(member.event.metadata), 0);
  group.bytes += bytesOf(event.metadata);
  return group.bytes <= groupLimits.bytes;
}

/** At most the bytes of its JSON, near enough for a bound: text counts thrice, as the longest UTF-8 could. */
function bytesOf(value: JsonValue | undefined): number {
  if (value === undefined || value === null) return 4;
  switch (typeof value) {
    case 'string':
      return value.length * 3 + 2;
    case 'object': {
      let sum = 2;
      if (Array.isArray(value)) for (const item of value) sum += 1 + bytesOf(item);
      else for (const key in value) sum += key.length * 3 + 4 + bytesOf(value[key]);
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

/** Every event passes here: no spreads. */
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
