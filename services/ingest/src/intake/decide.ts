// Decides on incoming events, links of aliases and deletions: pure, a batch at a time, so that a lead's events of one
// batch become one record. Drops repeats, forwards events of redirected leads, claims further aliases.
import {
  isNameBasedId,
  leadFieldsOf,
  leadIdOf,
  withLeadFields,
  type Alias,
  type JsonValue,
  type LeadFields,
  type records,
} from '@lead-scoring/contracts';
import { bodyOf, differs, type EventBody } from '../repeats/differs-model.js';
import { AliasAllowance } from './allowance-model.js';
import type { IntakeCommand, IntakeDecision, IntakeEvent } from './events.js';
import {
  addClaim,
  eventKey,
  type AliasState,
  type HeldLead,
  type LookedUpAliases,
  type Redirect,
} from './state.js';

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

/** Leads that may be deleted: what is held of them must be looked up. */
export function possibleDeletions(commands: readonly IntakeCommand[]): string[] {
  const found = new Set<string>();
  for (const { type, payload } of commands) {
    if (type === 'DeleteLead') found.add(payload.lead_id);
    else if (type === 'UnlinkAlias') found.add(payload.alias_lead_id);
  }
  return [...found];
}

/** Leads of which it must be known whether they are redirected. */
export function possibleRedirects(commands: readonly IntakeCommand[]): string[] {
  const found = new Set<string>();
  for (const { type, payload } of commands) {
    if (type === 'IngestEvents') for (const { lead_id } of payload.events) found.add(lead_id);
    else if (type === 'DeleteLead') found.add(payload.lead_id);
    else if (type === 'LinkAlias' || type === 'UnlinkAlias') found.add(payload.alias_lead_id);
  }
  return [...found];
}

/** Claims of which it must be known whether they were made, besides those of leads that may be deleted. */
export function possibleClaims(
  commands: readonly IntakeCommand[],
): { lead_id: string; alias_lead_id: string }[] {
  const found = new Map<string, { lead_id: string; alias_lead_id: string }>();
  const add = (lead_id: string, alias_lead_id: string) => {
    found.set(`${lead_id}${alias_lead_id}`, { lead_id, alias_lead_id });
  };
  for (const { type, payload } of commands) {
    if (type !== 'IngestEvents' && type !== 'DeleteLead') continue;
    for (const { lead_id, forwarded_by } of type === 'IngestEvents' ? payload.events : [payload]) {
      const from = forwarded_by?.at(-1);
      if (from !== undefined) add(lead_id, from);
    }
    if (type === 'DeleteLead') continue;
    for (const { lead_id, aliases } of payload.events)
      for (let index = 1; index < aliases.length; index += 1) {
        const alias = aliases[index];
        if (alias) add(lead_id, leadIdOf(payload.ou_id, alias.alias_kind, alias.alias));
      }
  }
  return [...found.values()];
}

/** OUs whose leads may claim aliases: how many they have claimed must be known. */
export function possibleClaimers(commands: readonly IntakeCommand[]): Set<string> {
  const found = new Set<string>();
  for (const { type, payload } of commands)
    if (type === 'IngestEvents' && payload.events.some(({ aliases }) => aliases.length > 1))
      found.add(payload.ou_id);
  return found;
}

/**
 * @param state what is known of `possibleRedirects`, `possibleClaims` and the claims of `possibleDeletions`, and of `possibleClaimers`
 * @param stored those `possibleRepeats` that are stored, by `eventKey`; null where what was sent is not at hand
 * @param held by lead, what is held of `possibleDeletions`
 * @param aliasShare how many aliases the leads of an OU may have claimed in this partition
 */
export function decideIntake(
  commands: readonly IntakeCommand[],
  state: LookedUpAliases,
  stored: StoredRepeats,
  held: ReadonlyMap<string, HeldLead> = new Map(),
  aliasShare = Infinity,
): IntakeDecision {
  const batch = new IntakeBatch(state, stored, held, aliasShare);
  for (const command of commands) {
    switch (command.type) {
      case 'IngestEvents':
        batch.ingest(command.payload);
        break;
      case 'LinkAlias':
        batch.link(command.payload);
        break;
      case 'DeleteLead':
        batch.delete(command);
        break;
      case 'UnlinkAlias':
        batch.unlink(command.payload);
        break;
      case 'RememberEvents':
        batch.remember(command.payload);
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

type Destination =
  | ReturnType<typeof destinationOf>
  /** To the lead that forwarded it. */
  | { to: 'return'; lead_id: string };

type ChunkEvent = records.ChunkEvent;
type StoredEvent = records.EventsIngested['events'][number];

/** What is known of events that come again. */
export type StoredRepeats = ReadonlyMap<string, EventBody | null>;

interface KeptEvent {
  event: ChunkEvent;
  received_at: string;
}

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
/** Ids in one RememberEvents: some 200 KB. */
const maximumRemembered = 5_000;

class IntakeBatch {
  private readonly kept = new Map<string, KeptEvent | null>();
  /** null: taken away by a deletion. */
  private readonly newRedirects = new Map<string, Redirect | null>();
  private readonly newClaims: AliasState['claims'] = new Map();
  /** Leads deleted in this batch, with the deletion: what was known of them before counts no more. */
  private readonly newDeletions = new Map<string, string>();
  private readonly openGroups = new Map<string, Group>();
  private groups: Group[] = [];
  private aliasEvents: IntakeEvent[] = [];
  /** What comes before the events above: a deletion parts what was before it from what is after. */
  private readonly earlier: IntakeEvent[] = [];
  private readonly commands: IntakeDecision['commands'] = [];
  private readonly replies: IntakeDecision['replies'] = [];
  /** By batch. */
  private readonly dropped = new Map<string, records.RepeatsDropped>();
  /** By batch. */
  private readonly refused = new Map<string, records.AliasesRefused>();
  private readonly allowance: AliasAllowance;

  constructor(
    private readonly state: LookedUpAliases,
    private readonly stored: StoredRepeats,
    private readonly held: ReadonlyMap<string, HeldLead>,
    aliasShare: number,
  ) {
    this.allowance = new AliasAllowance(state.counts, aliasShare);
  }

  ingest(command: records.IngestEvents): void {
    const forwarded = new Map<string, ChunkEvent[]>();
    for (const event of command.events) {
      // Before forwarding: the same event may have been kept here when the lead was not yet redirected.
      const key = event.may_repeat === true ? eventKey(event.lead_id, event.id) : null;
      if (key !== null && (this.stored.has(key) || this.kept.has(key))) {
        this.drop(event, command, key);
        continue;
      }
      const destination = this.destinationOf(event);
      if (destination.to !== 'keep') {
        const onward = { ...event, ...onwardFrom(event, destination) };
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
      if (key !== null) this.kept.set(key, { event, received_at: command.received_at });
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

  /** Deletes the lead, or sends the command on as an event of the lead would be. */
  delete(command: Extract<IntakeCommand, { type: 'DeleteLead' }>): void {
    const { payload } = command;
    const { ou_id, lead_id, deletion_id } = payload;
    const last = this.newDeletions.get(lead_id) ?? this.held.get(lead_id)?.deletion_id;
    if (last === deletion_id) {
      this.replies.push({ to: command, reply: { outcome: 'done' } });
      return;
    }
    const destination = this.destinationOf(payload);
    if (destination.to !== 'keep') {
      this.commands.push({
        lead_id: destination.lead_id,
        command: { type: 'DeleteLead', payload: { ...payload, ...onwardFrom(payload, destination) } },
        answers: command,
      });
      return;
    }
    this.endSection();
    const isStored = !this.newDeletions.has(lead_id) && this.held.get(lead_id)?.ou_id === ou_id;
    if (!isStored && !this.keptOf(lead_id).some((kept) => kept.ou_id === ou_id)) {
      this.replies.push({
        to: command,
        reply: {
          outcome: 'rejected',
          code: 'lead_not_found',
          message: 'No lead of this organizational unit has this id.',
        },
      });
      return;
    }
    const { requested_by: deleted_by, requested_at: deleted_at, actor } = payload;
    this.remove({ ou_id, lead_id, deletion_id, deleted_by, deleted_at, actor });
    this.replies.push({ to: command, reply: { outcome: 'done' } });
  }

  /** The deletion of a lead goes on to what was linked to it; a link that has been ended since, or replaced, stays. */
  unlink({ alias_lead_id, lead_id: linked_to, ...deletion }: records.UnlinkAlias): void {
    if (this.redirectOf(alias_lead_id)?.lead_id !== linked_to) return;
    this.endSection();
    this.remove({ ...deletion, lead_id: alias_lead_id, linked_to });
  }

  remember(payload: records.RememberEvents): void {
    for (const id of payload.event_ids) this.kept.set(eventKey(payload.lead_id, id), null);
    this.aliasEvents.push({ type: 'EventsRemembered', payload });
  }

  decision(): IntakeDecision {
    this.endSection();
    for (const payload of this.dropped.values()) this.earlier.push({ type: 'RepeatsDropped', payload });
    for (const payload of this.refused.values()) this.earlier.push({ type: 'AliasesRefused', payload });
    return { events: this.earlier, commands: this.commands, replies: this.replies };
  }

  private endSection(): void {
    for (const group of this.groups) this.earlier.push(recordOf(group));
    for (const event of this.aliasEvents) this.earlier.push(event);
    this.groups = [];
    this.aliasEvents = [];
    this.openGroups.clear();
  }

  /** To be called between sections. */
  private remove(deleted: records.LeadDeleted): void {
    const { lead_id, ou_id, deletion_id, deleted_by, deleted_at, actor } = deleted;
    for (const [aliasLeadId, ids] of this.foreignOf(lead_id))
      for (let from = 0; from < ids.length; from += maximumRemembered)
        this.commands.push({
          lead_id: aliasLeadId,
          command: {
            type: 'RememberEvents',
            payload: { ou_id, lead_id: aliasLeadId, event_ids: ids.slice(from, from + maximumRemembered) },
          },
        });
    const claimed = this.claimsOf(lead_id);
    this.allowance.giveBack(ou_id, claimed.length);
    for (const alias_lead_id of claimed)
      this.commands.push({
        lead_id: alias_lead_id,
        command: {
          type: 'UnlinkAlias',
          payload: { ou_id, alias_lead_id, lead_id, deletion_id, deleted_by, deleted_at, actor },
        },
      });
    this.earlier.push({ type: 'LeadDeleted', payload: deleted });
    this.newDeletions.set(lead_id, deletion_id);
    this.newRedirects.set(lead_id, null);
    this.newClaims.delete(lead_id);
  }

  /** What this batch has kept of a lead since its last deletion. */
  private keptOf(leadId: string): records.EventsIngested[] {
    const since = this.earlier.findLastIndex(
      ({ type, payload }) => type === 'LeadDeleted' && payload.lead_id === leadId,
    );
    return this.earlier
      .slice(since + 1)
      .flatMap(({ type, payload }) =>
        type === 'EventsIngested' && payload.lead_id === leadId ? [payload] : [],
      );
  }

  /** Events that would be looked for elsewhere when they come again, once nothing leads from there to this lead. */
  private foreignOf(leadId: string): Map<string, string[]> {
    const foreign = new Map<string, string[]>();
    if (!this.newDeletions.has(leadId))
      for (const [aliasLeadId, ids] of this.held.get(leadId)?.foreign ?? [])
        foreign.set(aliasLeadId, [...ids]);
    for (const kept of this.keptOf(leadId)) addForeign(foreign, kept);
    return foreign;
  }

  private claimsOf(leadId: string): string[] {
    const before = this.newDeletions.has(leadId) ? undefined : this.state.claims.get(leadId);
    return [...(before ?? []), ...(this.newClaims.get(leadId) ?? [])];
  }

  private hasClaimed(leadId: string, aliasLeadId: string): boolean {
    if (this.newClaims.get(leadId)?.has(aliasLeadId)) return true;
    return !this.newDeletions.has(leadId) && (this.state.claims.get(leadId)?.has(aliasLeadId) ?? false);
  }

  private destinationOf({
    lead_id,
    forwarded_by = [],
    returned,
  }: Pick<ChunkEvent, 'lead_id' | 'forwarded_by' | 'returned'>): Destination {
    const redirect = this.redirectOf(lead_id);
    const from = forwarded_by.at(-1);
    if (from === undefined) return returned ? { to: 'keep' } : destinationOf(lead_id, forwarded_by, redirect);
    // A redirect leads to the lead that made the claim, and a ring to one that the event has passed already. Any other lead
    // was deleted after the redirect was made, and has begun anew, perhaps with a redirect of its own.
    const isExpected = this.hasClaimed(lead_id, from) || forwarded_by.includes(lead_id);
    if (returned || !isExpected) return { to: 'return', lead_id: from };
    return destinationOf(lead_id, forwarded_by, redirect);
  }

  private redirectOf(leadId: string): Redirect | undefined {
    const changed = this.newRedirects.get(leadId);
    return changed === undefined ? this.state.redirects.get(leadId) : (changed ?? undefined);
  }

  private redirect(ouId: string, from: string, redirect: Redirect, at: string): void {
    this.newRedirects.set(from, redirect);
    const { lead_id, alias } = redirect;
    this.aliasEvents.push({
      type: 'AliasLinked',
      payload: { ou_id: ouId, alias, alias_lead_id: from, lead_id, linked_at: at },
    });
  }

  private drop(event: ChunkEvent, { ou_id, batch_id, received_at }: records.IngestEvents, key: string): void {
    const { lead_id } = event;
    const dropped = this.dropped.get(batch_id) ?? { ou_id, lead_id, batch_id, count: 0 };
    dropped.count += 1;
    const first = this.firstOf(key);
    if (first && differs(first, bodyOf(event, received_at))) dropped.differing = (dropped.differing ?? 0) + 1;
    this.dropped.set(batch_id, dropped);
  }

  /** The event is kept, and the alias stays a lead of its own. Each time that it is named counts. */
  private refuse({ lead_id }: ChunkEvent, { ou_id, batch_id }: records.IngestEvents): void {
    const refused = this.refused.get(batch_id) ?? { ou_id, lead_id, batch_id, count: 0 };
    refused.count += 1;
    this.refused.set(batch_id, refused);
  }

  /** What the event said that is kept under this id. */
  private firstOf(key: string): EventBody | null {
    const kept = this.kept.get(key);
    return kept ? bodyOf(kept.event, kept.received_at) : (this.stored.get(key) ?? null);
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
      if (this.hasClaimed(event.lead_id, aliasLeadId)) continue;
      if (!this.allowance.take(command.ou_id)) {
        this.refuse(event, command);
        continue;
      }
      addClaim(this.newClaims, event.lead_id, aliasLeadId);
      const claim = { ou_id: command.ou_id, alias, alias_lead_id: aliasLeadId, lead_id: event.lead_id };
      this.aliasEvents.push({ type: 'AliasClaimed', payload: { ...claim, claimed_at: command.received_at } });
      this.commands.push({
        lead_id: aliasLeadId,
        command: { type: 'LinkAlias', payload: { ...claim, linked_at: command.received_at } },
      });
    }
  }
}

/** What changes in what is forwarded or returned. */
function onwardFrom(
  { lead_id, forwarded_by = [] }: Pick<ChunkEvent, 'lead_id' | 'forwarded_by'>,
  destination: Exclude<Destination, { to: 'keep' }>,
): Pick<ChunkEvent, 'lead_id' | 'forwarded_by' | 'returned'> {
  return destination.to === 'forward'
    ? { lead_id: destination.lead_id, forwarded_by: [...forwarded_by, lead_id] }
    : { lead_id: destination.lead_id, forwarded_by: forwarded_by.slice(0, -1), returned: true };
}

/**
 * Adds the ids of events that may come again and came under an alias that names another lead by itself: a repeat is
 * looked for there first, and finds its way from there only while that lead is redirected.
 */
export function addForeign(
  to: Map<string, string[]>,
  { ou_id, lead_id, aliases: [named], events }: records.EventsIngested,
): void {
  const own = named && leadIdOf(ou_id, named.alias_kind, named.alias);
  if (own === undefined || own === lead_id) return;
  const ids = to.get(own) ?? [];
  for (const { id } of events) if (isNameBasedId(id)) ids.push(id);
  if (ids.length > 0) to.set(own, ids);
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
