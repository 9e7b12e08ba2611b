// Decides on incoming events and links of aliases: pure, a batch at a time, so that a lead's events of one batch
// become one record. Drops repeats, forwards events of redirected leads, claims further aliases.
import {
  leadFieldsOf,
  leadIdOf,
  withLeadFields,
  type Alias,
  type JsonValue,
  type LeadFields,
  type records,
} from '@lead-scoring/contracts';
import type { IntakeCommand, IntakeDecision, IntakeEvent } from './events.js';
import { claimKey, eventKey, type AliasState, type Redirect } from './state.js';

/** Events that may be told from a repeat only by looking at what is stored. */
export function possibleRepeats(commands: readonly IntakeCommand[]): { lead_id: string; id: string }[] {
  const found = new Map<string, { lead_id: string; id: string }>();
  for (const command of commands) {
    if (command.type !== 'IngestEvents') continue;
    for (const { may_repeat, lead_id, id } of command.payload.events)
      if (may_repeat === true) found.set(eventKey(lead_id, id), { lead_id, id });
  }
  return [...found.values()];
}

/**
 * @param state redirects and claims as of before the batch; it is not changed
 * @param stored `eventKey`s of those `possibleRepeats` that are stored
 */
export function decideIntake(
  commands: readonly IntakeCommand[],
  state: Readonly<AliasState>,
  stored: ReadonlySet<string>,
): IntakeDecision {
  const batch = new IntakeBatch(state, stored);
  for (const command of commands) {
    switch (command.type) {
      case 'IngestEvents':
        batch.ingest(command.payload);
        break;
      case 'LinkAlias':
        batch.link(command.payload);
        break;
      default:
        command satisfies never;
    }
  }
  return batch.decision();
}

/** `forwarded_by` holds at most so many leads; an event that came so far stays where it is. */
const maximumHops = 20;

/**
 * Where an event goes that has come to a lead. Redirects can form a ring (two leads claim each other at the same
 * time); the smallest id of a ring keeps the events and takes its redirect back, which ends the ring.
 */
export function destinationOf(
  leadId: string,
  forwardedBy: readonly string[],
  redirect: Redirect | undefined,
): { to: 'keep' } | { to: 'keep'; settles: Redirect } | { to: 'forward'; lead_id: string } {
  if (!redirect || redirect.lead_id === leadId || forwardedBy.length >= maximumHops) return { to: 'keep' };
  const seen = forwardedBy.indexOf(redirect.lead_id);
  if (seen === -1) return { to: 'forward', lead_id: redirect.lead_id };
  const smallest = forwardedBy.slice(seen).reduce((least, id) => (id < least ? id : least), leadId);
  return smallest === leadId ? { to: 'keep', settles: redirect } : { to: 'forward', lead_id: smallest };
}

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

class IntakeBatch {
  private readonly kept = new Set<string>();
  private readonly newRedirects = new Map<string, Redirect>();
  private readonly newClaims = new Set<string>();
  private readonly openGroups = new Map<string, Group>();
  private readonly groups: Group[] = [];
  private readonly aliasEvents: IntakeEvent[] = [];
  private readonly commands: IntakeDecision['commands'] = [];
  private repeats = 0;

  constructor(
    private readonly state: Readonly<AliasState>,
    private readonly stored: ReadonlySet<string>,
  ) {}

  ingest(command: records.IngestEvents): void {
    const forwarded = new Map<string, ChunkEvent[]>();
    for (const event of command.events) {
      // Before forwarding: the same event may have been kept here when the lead was not yet redirected.
      const key = event.may_repeat === true ? eventKey(event.lead_id, event.id) : null;
      if (key !== null && (this.stored.has(key) || this.kept.has(key))) {
        this.repeats += 1;
        continue;
      }
      const forwardedBy = event.forwarded_by ?? [];
      const destination = destinationOf(event.lead_id, forwardedBy, this.redirectOf(event.lead_id));
      if (destination.to === 'forward') {
        const onward = {
          ...event,
          lead_id: destination.lead_id,
          forwarded_by: [...forwardedBy, event.lead_id],
        };
        const others = forwarded.get(destination.lead_id);
        if (others) others.push(onward);
        else forwarded.set(destination.lead_id, [onward]);
        continue;
      }
      if ('settles' in destination)
        this.redirect(
          command.ou_id,
          event.lead_id,
          { ...destination.settles, lead_id: event.lead_id },
          command.received_at,
        );
      if (key !== null) this.kept.add(key);
      this.keep(event, command);
      this.claimAliases(event, command);
    }
    for (const [leadId, events] of forwarded)
      for (const part of inParts(events))
        this.commands.push({
          lead_id: leadId,
          command: { type: 'IngestEvents', payload: { ...command, events: part } },
        });
  }

  /** The first lead to claim an alias gets it; a later claim changes nothing. */
  link({ ou_id, alias, alias_lead_id, lead_id, linked_at }: records.LinkAlias): void {
    if (alias_lead_id === lead_id || this.redirectOf(alias_lead_id)) return;
    this.redirect(ou_id, alias_lead_id, { lead_id, alias }, linked_at);
  }

  decision(): IntakeDecision {
    return {
      events: [...this.groups.map(recordOf), ...this.aliasEvents],
      commands: this.commands,
      repeats: this.repeats,
    };
  }

  private redirectOf(leadId: string): Redirect | undefined {
    return this.newRedirects.get(leadId) ?? this.state.redirects.get(leadId);
  }

  private redirect(ouId: string, from: string, redirect: Redirect, at: string): void {
    this.newRedirects.set(from, redirect);
    const { lead_id, alias } = redirect;
    this.aliasEvents.push({
      type: 'AliasLinked',
      payload: { ou_id: ouId, alias, alias_lead_id: from, lead_id, linked_at: at },
    });
  }

  private keep(event: ChunkEvent, command: records.IngestEvents): void {
    const group = this.groupFor(event, command);
    group.members.push({ event, batch_id: command.batch_id, received_at: command.received_at });
    for (const alias of event.aliases) addAlias(group, alias);
    if (event.metadata)
      group.fields = withLeadFields(group.fields, leadFieldsOf(event.metadata, event.timestamp));
  }

  private groupFor(event: ChunkEvent, command: records.IngestEvents): Group {
    const named = event.aliases[0];
    if (!named) throw new Error(`event ${event.id} has no alias`);
    const key = `${event.lead_id} ${command.source} ${String(command.fire_triggers)} ${aliasKey(named)}`;
    const open = this.openGroups.get(key);
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
    this.openGroups.set(key, group);
    this.groups.push(group);
    return group;
  }

  private claimAliases(event: ChunkEvent, command: records.IngestEvents): void {
    // The first alias led here, by itself or by a redirect.
    for (const alias of event.aliases.slice(1)) {
      const aliasLeadId = leadIdOf(command.ou_id, alias.alias_kind, alias.alias);
      if (aliasLeadId === event.lead_id || event.forwarded_by?.includes(aliasLeadId)) continue;
      const key = claimKey(event.lead_id, aliasLeadId);
      if (this.state.claims.has(key) || this.newClaims.has(key)) continue;
      this.newClaims.add(key);
      const claim = { ou_id: command.ou_id, alias, alias_lead_id: aliasLeadId, lead_id: event.lead_id };
      this.aliasEvents.push({ type: 'AliasClaimed', payload: { ...claim, claimed_at: command.received_at } });
      this.commands.push({
        lead_id: aliasLeadId,
        command: { type: 'LinkAlias', payload: { ...claim, linked_at: command.received_at } },
      });
    }
  }
}

/** Divides forwarded events among commands as events are among records: each carries where it has been as well. */
function inParts(events: readonly ChunkEvent[]): ChunkEvent[][] {
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
