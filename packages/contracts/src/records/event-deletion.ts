// Commands and events of the deletion of all events of a type, in ingest and in scoring: a mark in each partition, from which on the events
// count nowhere, then the removal of what is stored of them, and the scores of their leads without them.
import { z } from 'zod';
import { id, text, time } from '../common.js';
import { recordedActor, requested } from '../vocabulary/actor.js';
import { defineRecord, type PayloadOf } from './record.js';

const eventType = z.string().min(1).max(100).describe('All spellings of the type are meant.');
const partition = z.int().min(0);
const before = z
  .int()
  .min(0)
  .describe(
    'Records of ingest.events in this partition that are at a smaller offset count without their events of the type.',
  );

export const deletionLimits = {
  /** Documents with the events of a second that one command clears. */
  seconds: 500,
  /** Leads of one command: a document lists the events of at most 1,024 records, each of one lead. */
  leads: 3_000,
};

export const deleteEventsOfType = defineRecord({
  type: 'DeleteEventsOfType',
  topic: 'ingest.commands',
  key: 'ou_id',
  description: 'Delete all events of a type that no rule and no trigger uses, as a job.',
  schema: z.strictObject({ ou_id: id, job_id: id, event_type: eventType, ...requested }),
});
export type DeleteEventsOfType = PayloadOf<typeof deleteEventsOfType>;

const deletion = {
  ou_id: id,
  deletion_id: id.describe('The job that deletes.'),
  event_type: eventType,
  partition,
};

export const markEventsDeleted = defineRecord({
  type: 'MarkEventsDeleted',
  topic: 'ingest.commands',
  key: 'partition',
  description: 'Events of a type that are in this partition by now count no more.',
  schema: z.strictObject({ ...deletion, ...requested }),
});
export type MarkEventsDeleted = PayloadOf<typeof markEventsDeleted>;

export const eventsOfTypeDeleted = defineRecord({
  type: 'EventsOfTypeDeleted',
  topic: 'ingest.events',
  key: 'partition',
  description:
    'All events of a type that come before this record in its partition are deleted: whoever reads the topic leaves them out. Their leads stay, and later events of the type count. A later event with the id of a deleted one is a repeat.',
  schema: z.strictObject({ ...deletion, deleted_at: time, actor: recordedActor.optional() }),
});
export type EventsOfTypeDeleted = PayloadOf<typeof eventsOfTypeDeleted>;

/** One part of the removal. Both the command and its event have it. */
const part = {
  ...deletion,
  before,
  part: z.int().min(0).describe('Of the parts of a deletion in a partition; 0 is the mark itself.'),
  seconds: z
    .array(text(64, { minimum: 64 }))
    .max(deletionLimits.seconds)
    .describe('Where ingest stores the events: keys of its documents, in hexadecimal digits.'),
  leads: z.array(id).max(deletionLimits.leads).describe('The leads of these events.'),
  is_last: z.boolean().describe('Nothing of the events is left in this partition.'),
};

export const clearDeletedEvents = defineRecord({
  type: 'ClearDeletedEvents',
  topic: 'ingest.commands',
  key: 'partition',
  description: 'Remove what is stored of some deleted events. The same again changes nothing.',
  schema: z.strictObject({ ...part, requested_at: time }),
});
export type ClearDeletedEvents = PayloadOf<typeof clearDeletedEvents>;

export const deletedEventsCleared = defineRecord({
  type: 'DeletedEventsCleared',
  topic: 'ingest.events',
  key: 'partition',
  description:
    'What was stored of some deleted events is removed. Scores of the leads are to be decided without them.',
  schema: z.strictObject({ ...part, cleared_at: time }),
});
export type DeletedEventsCleared = PayloadOf<typeof deletedEventsCleared>;

export const eventScoresDeleted = defineRecord({
  type: 'EventScoresDeleted',
  topic: 'scoring.events',
  key: 'partition',
  description:
    'Scoring has dealt with a part of the deletion of a type: the ScoreAdjusted with `deleted` before it, in the same transaction, have the scores of the leads that events of the type had given points.',
  schema: z.strictObject({
    ...deletion,
    before,
    part: part.part,
    leads: z.int().min(0).describe('Leads whose scores were decided anew.'),
    events: z.int().min(0).describe('Their events of the type that rules had matched.'),
    source: z
      .strictObject({ offset: z.int().min(0), sent_again: z.literal(true).optional() })
      .describe('Where the record that this decides is on ingest.events, in the same partition number.'),
    at: time,
  }),
});
export type EventScoresDeleted = PayloadOf<typeof eventScoresDeleted>;

/** Present on a decision that decides a score without events of a type that were deleted. */
export const deletedOfLead = z
  .strictObject({
    event_type: eventType,
    before,
    events: z.int().min(0).describe('Events of the lead that rules had matched, and that are deleted.'),
  })
  .optional()
  .describe(
    'The events whose deletion made the decision: those of the type that were decided before it and come from an offset of ingest.events before this.',
  );

export const ingestDeletionRecords = [
  deleteEventsOfType,
  markEventsDeleted,
  eventsOfTypeDeleted,
  clearDeletedEvents,
  deletedEventsCleared,
] as const;
