// Commands and events of the ingest service: events of leads as they came in, and which aliases name one lead.
import { z } from 'zod';
import { id, time } from '../common.js';
import { alias } from '../domain/identity.js';
import { leadField } from '../domain/lead-fields.js';
import { metadataObject } from '../domain/metadata.js';
import { defineRecord, type PayloadOf } from './record.js';

const eventTypeName = z.string().min(1).max(100);

/** An event within a chunk: validated, normalised, its lead computed. */
const chunkEvent = z.strictObject({
  id: id.describe('Name-based when the sender gave an event_id, so that a repeat has the same id.'),
  event_id: z.string().max(128).optional().describe("The sender's own id."),
  may_repeat: z
    .boolean()
    .optional()
    .describe('True when the same id may come again and must then be dropped.'),
  lead_id: id,
  aliases: z.array(alias).min(1).max(10).describe('The first names the lead; the others are linked to it.'),
  event_type: eventTypeName,
  timestamp: time,
  metadata: metadataObject.optional(),
  forwarded_by: z.array(id).max(20).optional().describe('Leads whose redirects led here.'),
});
export type ChunkEvent = z.infer<typeof chunkEvent>;

/** Many events of many leads of one partition: far fewer, larger records than one per event. */
export const ingestEvents = defineRecord({
  type: 'IngestEvents',
  topic: 'ingest.commands',
  key: 'lead_id',
  description: 'Take these events. They are of leads of one partition and came in one request.',
  schema: z.strictObject({
    ou_id: id,
    batch_id: id,
    source: z.enum(['ingest', 'import']),
    fire_triggers: z.boolean(),
    received_at: time,
    events: z.array(chunkEvent).min(1).max(5_000),
  }),
});
export type IngestEvents = PayloadOf<typeof ingestEvents>;

export const linkAlias = defineRecord({
  type: 'LinkAlias',
  topic: 'ingest.commands',
  key: 'lead_id',
  description:
    'From now on, events of this alias belong to another lead. Keyed by the lead that the alias named until then.',
  schema: z.strictObject({ ou_id: id, alias, alias_lead_id: id, lead_id: id, linked_at: time }),
});
export type LinkAlias = PayloadOf<typeof linkAlias>;

const storedEvent = z.strictObject({
  id,
  event_id: z.string().max(128).optional(),
  event_type: eventTypeName,
  timestamp: time,
  metadata: metadataObject.optional(),
  batch_id: id.optional().describe("The event's own batch, when the record joins several."),
  received_at: time
    .optional()
    .describe('When it was taken, when the record joins events taken at different times.'),
});

export const eventsIngested = defineRecord({
  type: 'EventsIngested',
  topic: 'ingest.events',
  key: 'lead_id',
  description: 'Events of one lead that came in together, each counted once for ever.',
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    batch_id: id,
    source: z.enum(['ingest', 'import']),
    fire_triggers: z.boolean().describe('False for history: it scores, and fires no trigger.'),
    received_at: time,
    aliases: z
      .array(alias)
      .min(1)
      .max(100)
      .describe('The first is the one under which these events came; the others were named along with it.'),
    fields: z
      .array(leadField)
      .max(50)
      .optional()
      .describe("Values that these events' metadata gives the lead's fields."),
    events: z.array(storedEvent).min(1).max(5_000),
  }),
});
export type EventsIngested = PayloadOf<typeof eventsIngested>;

export const aliasClaimed = defineRecord({
  type: 'AliasClaimed',
  topic: 'ingest.events',
  key: 'lead_id',
  description: 'An event named this lead and a further alias; the alias is being linked to the lead.',
  schema: z.strictObject({ ou_id: id, lead_id: id, alias, alias_lead_id: id, claimed_at: time }),
});
export type AliasClaimed = PayloadOf<typeof aliasClaimed>;

export const aliasLinked = defineRecord({
  type: 'AliasLinked',
  topic: 'ingest.events',
  key: 'lead_id',
  description: 'Events of this alias belong to `lead_id` from now on. Keyed by `alias_lead_id`.',
  schema: z.strictObject({ ou_id: id, alias, alias_lead_id: id, lead_id: id, linked_at: time }),
});
export type AliasLinked = PayloadOf<typeof aliasLinked>;

export const ingestRecords = [ingestEvents, linkAlias, eventsIngested, aliasClaimed, aliasLinked] as const;
