// The job that counts the event types of an organizational unit anew, and its records in each partition. From a mark on, a partition also counts
// new events apart; the job counts the log up to the mark, and the sum of both replaces the counts of the partition.
import { z } from 'zod';
import { id, time } from '../common.js';
import { happened, requested } from '../vocabulary/actor.js';
import { defineRecord, type PayloadOf } from './record.js';

const asked = { dry_run: z.boolean().describe('Only say what would change.') };
const count = z.int().min(0);
const typeKey = z.string().min(1).max(100);

export const startEventTypeBackfill = defineRecord({
  type: 'StartEventTypeBackfill',
  topic: 'ingest.commands',
  key: 'ou_id',
  description: 'Count the event types of an organizational unit anew from its recorded events, as a job.',
  schema: z.strictObject({ ou_id: id, job_id: id, ...asked, ...requested }),
});
export type StartEventTypeBackfill = PayloadOf<typeof startEventTypeBackfill>;

export const eventTypeBackfillWork = z.strictObject({
  kind: z.literal('event-type-backfill'),
  ...asked,
  ends: z.array(count).min(1).describe('The end of ingest.events when the job began, by partition.'),
  groups: z.int().min(1).describe('Groups of types; a step counts one of a partition.'),
});
export type EventTypeBackfillWork = z.infer<typeof eventTypeBackfillWork>;

/** Types of which a result says what differs. */
export const maximumDifferingTypes = 200;

const differingType = z.strictObject({
  event_type: z.string().max(100),
  events_before: count,
  events_after: count,
  counts: z.boolean(),
  times: z.boolean(),
  properties: z.boolean(),
});
export type DifferingType = z.infer<typeof differingType>;

export const eventTypeBackfillFound = z.strictObject({
  types: z.array(differingType).max(maximumDifferingTypes),
  has_more: z.boolean(),
  list: z.boolean(),
});
export type EventTypeBackfillFound = z.infer<typeof eventTypeBackfillFound>;

const recount = { ou_id: id, recount_id: id.describe('The job that counts.'), partition: count };

export const beginRecount = defineRecord({
  type: 'BeginRecount',
  topic: 'ingest.commands',
  key: 'partition',
  description:
    'Count the events of an organizational unit that come to this partition from now on apart as well.',
  schema: z.strictObject({ ...recount, ...requested }),
});
export type BeginRecount = PayloadOf<typeof beginRecount>;

export const recountBegun = defineRecord({
  type: 'RecountBegun',
  topic: 'ingest.events',
  key: 'partition',
  description:
    'The event types of an organizational unit are being counted anew, up to this record of its partition.',
  schema: z.strictObject({ ...recount, ...happened }),
});
export type RecountBegun = PayloadOf<typeof recountBegun>;

const valueCounts = z
  .array(z.tuple([z.string().max(1_000), count]))
  .max(2_000)
  .describe('Values with the number of events that have each.');
const seen = z.union([time, z.literal('')]);

const recountedType = z.strictObject({
  key: typeKey,
  names: valueCounts,
  count,
  first_seen: seen,
  last_seen: seen,
  properties: valueCounts.describe('The letter of a type of values and the name of a property, together.'),
});
export type RecountedType = z.infer<typeof recountedType>;

const recountedUnit = z.strictObject({
  events: count,
  alias_kinds: valueCounts,
  types: z.array(typeKey).max(1_000),
  has_more: z.boolean(),
});
export type RecountedUnit = z.infer<typeof recountedUnit>;

export const recountLimits = {
  /** Types of one record. */
  types: 100,
  /** Bytes of their JSON. */
  bytes: 500_000,
};

/** Both the command and its event have it. */
const counted = {
  ...recount,
  types: z
    .array(recountedType)
    .max(recountLimits.types)
    .describe('Types whose counts up to RecountBegun were others; their events since then are added.'),
  unit: recountedUnit.optional().describe('All types together, and those that lists show.'),
  is_last: z.boolean().describe('The counting of this partition has ended.'),
};

export const setRecounted = defineRecord({
  type: 'SetRecounted',
  topic: 'ingest.commands',
  key: 'partition',
  description: 'Replace the counts of some event types. The same again changes nothing.',
  schema: z.strictObject({ ...counted, requested_at: time }),
});
export type SetRecounted = PayloadOf<typeof setRecounted>;

export const eventTypesRecounted = defineRecord({
  type: 'EventTypesRecounted',
  topic: 'ingest.events',
  key: 'partition',
  description: 'The counts of some event types in this partition were replaced by those of the log.',
  schema: z.strictObject({ ...counted, at: time }),
});
export type EventTypesRecounted = PayloadOf<typeof eventTypesRecounted>;

export const eventTypeBackfillRecords = [
  startEventTypeBackfill,
  beginRecount,
  recountBegun,
  setRecounted,
  eventTypesRecounted,
] as const;
