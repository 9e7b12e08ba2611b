// Builders of events and commands for tests, with fixed values that a test may replace.
import {
  knownFirst,
  leadIdOf,
  nameBasedId,
  namedEventIdOf,
  type Alias,
  type JsonObject,
  type records,
} from '@lead-scoring/contracts';
import type { IntakeCommand } from '../intake/messages.js';
import type { IngestOptions } from '../service.js';

export const ouId = '11111111-1111-4111-8111-111111111111';
export const otherOuId = '22222222-2222-4222-8222-222222222222';
export const receivedAt = '2026-01-01T12:00:00.000Z';

/** What every test of the whole service opens it with. */
export const serviceOptions: IngestOptions = {
  jobs: {
    writer: { write: () => Promise.reject(new Error('the test has no writer')) },
    eventDeletion: { partitions: 1, now: () => new Date(receivedAt) },
    eventTypeBackfill: {
      log: () => {
        throw new Error('the test has no log for jobs');
      },
      now: () => new Date(receivedAt),
    },
    leadImport: {
      log: () => {
        throw new Error('the test has no log for jobs');
      },
      now: () => new Date(),
    },
    onStepError: (error) => {
      throw error;
    },
  },
};

/** An alias from its short name: `a` is the e-mail address a@example.com, `cookie:x` a cookie. */
export function aliasOf(name: string): Alias {
  const [kind, value] = name.split(':');
  return value === undefined || kind === undefined
    ? { alias_kind: 'email', alias: `${name}@example.com` }
    : { alias_kind: kind, alias: value };
}

export function leadOf(name: string, ou = ouId): string {
  const { alias_kind, alias } = aliasOf(name);
  return leadIdOf(ou, alias_kind, alias);
}

export interface SentEvent {
  /** Short names of aliases; the first known one names the lead. */
  aliases: string[];
  event_id?: string;
  event_type?: string;
  timestamp?: string;
  metadata?: JsonObject;
  lead_id?: string;
  forwarded_by?: string[];
}

let random = 0;

export function chunkEvent({
  aliases,
  event_id,
  event_type,
  timestamp,
  ...rest
}: SentEvent): records.ChunkEvent {
  const ordered = knownFirst(aliases.map(aliasOf));
  const named = ordered[0] ?? aliasOf('a');
  random += 1;
  return {
    id:
      event_id === undefined
        ? nameBasedId(ouId, `random ${String(random)}`)
        : namedEventIdOf(ouId, named.alias_kind, named.alias, event_id),
    ...(event_id !== undefined && { event_id, may_repeat: true }),
    lead_id: leadIdOf(ouId, named.alias_kind, named.alias),
    aliases: ordered,
    event_type: event_type ?? 'Page View',
    timestamp: timestamp ?? '2026-01-01T11:00:00.000Z',
    ...rest,
  };
}

export function ingest(
  events: SentEvent[],
  command: Partial<Omit<records.IngestEvents, 'events'>> = {},
): Extract<IntakeCommand, { type: 'IngestEvents' }> {
  return {
    type: 'IngestEvents',
    payload: {
      ou_id: ouId,
      batch_id: nameBasedId(ouId, 'batch'),
      source: 'ingest',
      fire_triggers: true,
      received_at: receivedAt,
      ...command,
      events: events.map(chunkEvent),
    },
  };
}

/** The command that gives the alias `from` to the lead of the alias `to`. */
export function link(from: string, to: string): Extract<IntakeCommand, { type: 'LinkAlias' }> {
  return {
    type: 'LinkAlias',
    payload: {
      ou_id: ouId,
      alias: aliasOf(from),
      alias_lead_id: leadOf(from),
      lead_id: leadOf(to),
      linked_at: receivedAt,
    },
  };
}

/** A caller's command that merges the lead of the alias `from` into that of the alias `to`. */
export function merge(from: string, to: string): Extract<IntakeCommand, { type: 'MergeLead' }> {
  const { linked_at: merged_at, ...claim } = link(from, to).payload;
  return { type: 'MergeLead', payload: { ...claim, merged_at } };
}

export function deleteLead(
  name: string,
  more: Partial<records.DeleteLead> = {},
): Extract<IntakeCommand, { type: 'DeleteLead' }> {
  return {
    type: 'DeleteLead',
    payload: {
      ou_id: ouId,
      lead_id: leadOf(name),
      deletion_id: nameBasedId(ouId, `deletion of ${name}`),
      requested_by: nameBasedId(ouId, 'credential'),
      requested_at: receivedAt,
      ...more,
    },
  };
}
