// Commands and events of the ingest service: the events of leads, and which aliases name one lead.
import { z } from 'zod';
import { id, time } from '../common.js';
import { recordedActor, happened, requested } from '../vocabulary/actor.js';
import { alias } from '../vocabulary/identity.js';
import { leadField } from '../vocabulary/lead-fields.js';
import { metadataObject } from '../vocabulary/metadata.js';
import { defineRecord, type PayloadOf } from './record.js';

const eventTypeName = z.string().min(1).max(100);
const forwardedBy = z.array(id).max(20).optional().describe('Leads whose redirects led here.');

/** An event in a command: validated and normalised, with the lead's id computed. */
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
  batch_id: id.optional().describe("The event's own batch, where the command joins several."),
  forwarded_by: forwardedBy,
  returned: z
    .boolean()
    .optional()
    .describe(
      'True on the way back through `forwarded_by`, because a lead that it was forwarded to was deleted.',
    ),
  is_past: z
    .boolean()
    .optional()
    .describe(
      'True when another lead had the event: it is a repeat only of what its lead has kept since that ended last.',
    ),
  claimed: z
    .boolean()
    .optional()
    .describe(
      'True when its further aliases were claimed before: by a lead that has forwarded it, or when the event counted first.',
    ),
  after: id
    .nullable()
    .optional()
    .describe(
      'The last deletion of the lead before another lead was divided, from which the event comes back; null where it had none. Dropped where the lead has been deleted since.',
    ),
  linked_by: id
    .optional()
    .describe(
      'The lead of the alias by whose link the event comes: an event of its past, or the one that waited for them. Dropped where the lead has not claimed that alias, because it was deleted meanwhile.',
    ),
});
export type ChunkEvent = z.infer<typeof chunkEvent>;

/** The credential that has sent events. */
const sentBy = z
  .string()
  .min(1)
  .max(100)
  .describe('`token:<id>`, `service_account:<id>` or `member:<id>`: the credential that has sent them.');

const takenEvents = z.strictObject({
  ou_id: id,
  batch_id: id,
  source: z.enum(['ingest', 'import']),
  fire_triggers: z.boolean(),
  received_at: time,
  sent_by: sentBy
    .optional()
    .describe(
      'Absent: nobody has sent these events now, such as those of a past that moves to another lead.',
    ),
  events: z.array(chunkEvent).min(1).max(5_000),
});

/** Many events of many leads of one partition in one record: fewer, larger records cost far less than one per event. */
export const ingestEvents = defineRecord({
  type: 'IngestEvents',
  topic: 'ingest.commands',
  key: 'lead_id',
  description:
    'Take these events. They are of leads of one partition and came in one request, or are a part of the past of a visitor.',
  mayWait: true,
  schema: takenEvents,
});
export type IngestEvents = PayloadOf<typeof ingestEvents>;

export const linkAlias = defineRecord({
  type: 'LinkAlias',
  topic: 'ingest.commands',
  key: 'lead_id',
  description:
    'From now on, events of this alias belong to another lead. Keyed by the lead that the alias named until then.',
  schema: z.strictObject({
    ou_id: id,
    alias,
    alias_lead_id: id,
    lead_id: id,
    linked_at: time,
    takes_past: z
      .boolean()
      .optional()
      .describe(
        'True for an anonymous alias that was named together with a known one, and for a lead that is merged: its past joins the lead.',
      ),
    merges: z.boolean().optional().describe('True where a caller has merged the lead, whoever it is.'),
    actor: recordedActor.optional().describe('Who has merged it.'),
    waiting: takenEvents
      .optional()
      .describe('The event that named the alias. It counts after the past of the alias.'),
  }),
});
export type LinkAlias = PayloadOf<typeof linkAlias>;

export const joinLead = defineRecord({
  type: 'JoinLead',
  topic: 'ingest.commands',
  key: 'lead_id',
  description:
    'Send the next events that an anonymous alias had before it was linked to the lead that it is linked to, and after the last of them the event that waits, if one does. Keyed by `alias_lead_id`. Sent by the service to itself.',
  schema: z.strictObject({
    ou_id: id,
    alias_lead_id: id,
    lead_id: id,
    linked_at: time.describe('When the link was made. Another link of the same alias ends this.'),
    from: z.int().min(0).describe('The records of the alias before this offset have been sent.'),
    merges: linkAlias.schema.shape.merges,
    actor: linkAlias.schema.shape.actor,
    waiting: linkAlias.schema.shape.waiting,
  }),
});
export type JoinLead = PayloadOf<typeof joinLead>;

export const deleteLead = defineRecord({
  type: 'DeleteLead',
  topic: 'ingest.commands',
  key: 'lead_id',
  description: 'Delete this lead, or the lead that it is redirected to, with all that was linked to it.',
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    deletion_id: id.describe('A deletion takes effect once, however often it comes.'),
    requested_by: id.describe('The credential.'),
    ...requested,
    forwarded_by: forwardedBy,
    returned: chunkEvent.shape.returned,
  }),
});
export type DeleteLead = PayloadOf<typeof deleteLead>;

export const unlinkAlias = defineRecord({
  type: 'UnlinkAlias',
  topic: 'ingest.commands',
  key: 'lead_id',
  description:
    'The lead that this alias is linked to was deleted: end the link, and delete what the alias had before it. Keyed by `alias_lead_id`.',
  schema: z.strictObject({
    ou_id: id,
    alias_lead_id: id,
    lead_id: id,
    deletion_id: id,
    deleted_by: id,
    deleted_at: time,
    actor: recordedActor.optional(),
  }),
});
export type UnlinkAlias = PayloadOf<typeof unlinkAlias>;

/** Ids of events that counted for another lead, which was deleted. */
const countedEvents = z.strictObject({ ou_id: id, lead_id: id, event_ids: z.array(id).min(1).max(5_000) });

export const rememberEvents = defineRecord({
  type: 'RememberEvents',
  topic: 'ingest.commands',
  key: 'lead_id',
  description:
    "These events of the lead's own alias were counted under a lead that was deleted: drop them when they come again.",
  schema: countedEvents,
});
export type RememberEvents = PayloadOf<typeof rememberEvents>;

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
  schema: z.strictObject({
    ou_id: id,
    alias,
    alias_lead_id: id,
    lead_id: id,
    linked_at: time,
  }),
});
export type AliasLinked = PayloadOf<typeof aliasLinked>;

export const leadDeleted = defineRecord({
  type: 'LeadDeleted',
  topic: 'ingest.events',
  key: 'lead_id',
  description:
    'The lead, its events and its links to aliases are gone. Events of the same id that follow are of a new lead. ' +
    'Also sent for each lead that was linked to it, which may have had no events of its own. ' +
    'With `joined_to`, nobody deleted the lead: its events become events of that lead, since an anonymous visitor has said who they are, or a caller has merged two leads. ' +
    'Where that is the lead itself, it is divided: its events come again, some of them as those of the lead that is no longer merged into it.',
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    deletion_id: id,
    deleted_by: id.optional().describe('The credential; absent for a lead that has joined another.'),
    deleted_at: time,
    actor: recordedActor.optional(),
    linked_to: id.optional().describe('The lead that it was linked to, and deleted with.'),
    joined_to: id
      .optional()
      .describe('The lead that its events have joined. Its id and its aliases name that lead from now on.'),
  }),
});
export type LeadDeleted = PayloadOf<typeof leadDeleted>;

export const eventsRemembered = defineRecord({
  type: 'EventsRemembered',
  topic: 'ingest.events',
  key: 'lead_id',
  description:
    "Events of the lead's own alias that were counted under a lead that was deleted since: should they come again, they are dropped.",
  schema: countedEvents,
});
export type EventsRemembered = PayloadOf<typeof eventsRemembered>;

export const repeatsDropped = defineRecord({
  type: 'RepeatsDropped',
  topic: 'ingest.events',
  key: 'lead_id',
  description: 'Events of a batch had come before and were dropped: they count once.',
  schema: z.strictObject({
    ou_id: id,
    lead_id: id.describe('The lead of the first of them.'),
    batch_id: id.describe('The batch in which they came again.'),
    count: z.int().min(1),
    differing: z
      .int()
      .min(1)
      .optional()
      .describe('Those among them that say something else than the event that is stored under their id.'),
  }),
});
export type RepeatsDropped = PayloadOf<typeof repeatsDropped>;

export const aliasesRefused = defineRecord({
  type: 'AliasesRefused',
  topic: 'ingest.events',
  key: 'lead_id',
  description:
    'Events of a batch named further aliases that were not linked, since the OU has as many as it may have. The events themselves were kept.',
  schema: z.strictObject({
    ou_id: id,
    lead_id: id.describe('The lead of the first of them.'),
    batch_id: id,
    count: z.int().min(1).describe('An alias that several events named counts each time.'),
  }),
});
export type AliasesRefused = PayloadOf<typeof aliasesRefused>;

export const eventsCounted = defineRecord({
  type: 'EventsCounted',
  topic: 'ingest.events',
  key: 'lead_id',
  description:
    'How many events of one credential were recorded together, and how many of its events had come before. Events that move from one lead to another are not counted again.',
  schema: z.strictObject({
    ou_id: id,
    lead_id: id.describe('The lead of the first of them.'),
    sent_by: sentBy,
    received_at: time.describe('When the first of them was received; all were in the same hour, in UTC.'),
    events: z.int().min(0).describe('Recorded events.'),
    repeats: z.int().min(0).describe('Events that had come before and were dropped.'),
  }),
});
export type EventsCounted = PayloadOf<typeof eventsCounted>;

export const setEventTypeHidden = defineRecord({
  type: 'SetEventTypeHidden',
  topic: 'ingest.commands',
  key: 'ou_id',
  description: 'Leave an event type out of lists, or show it again.',
  schema: z.strictObject({ ou_id: id, event_type: eventTypeName, hidden: z.boolean(), ...requested }),
});
export type SetEventTypeHidden = PayloadOf<typeof setEventTypeHidden>;

export const eventTypeVisibilityChanged = defineRecord({
  type: 'EventTypeVisibilityChanged',
  topic: 'ingest.events',
  key: 'ou_id',
  description:
    'Lists leave an event type out, or show it again. Its events stay. All spellings of the type are meant.',
  schema: z.strictObject({ ou_id: id, event_type: eventTypeName, hidden: z.boolean(), ...happened }),
});
export type EventTypeVisibilityChanged = PayloadOf<typeof eventTypeVisibilityChanged>;

export const ingestRecords = [
  ingestEvents,
  linkAlias,
  joinLead,
  deleteLead,
  unlinkAlias,
  rememberEvents,
  eventsIngested,
  aliasClaimed,
  aliasLinked,
  leadDeleted,
  eventsRemembered,
  repeatsDropped,
  eventsCounted,
  aliasesRefused,
  setEventTypeHidden,
  eventTypeVisibilityChanged,
] as const;
