// Events of triggers on a lead: firings, and what a trigger must remember of the lead before it fires.
import { z } from 'zod';
import { id, score, time } from '../common.js';
import { leadScoreTypes } from '../vocabulary/score-types.js';
import {
  firingCause,
  firingFields,
  milestoneCause,
  previousLevel,
  sequenceSteps,
  thresholdLevel,
  triggerKind,
  type TriggerKind,
} from '../vocabulary/webhook.js';
import { defineRecord, type PayloadOf } from './record.js';
import { surgeScoreType } from './scoring.js';

const eventType = z.string().max(100);

/** The record that caused an event, by its place on the log. It distinguishes events with different causes. */
export const causingRecord = z.strictObject({
  topic: z.enum(['ingest.events', 'scoring.events']),
  partition: z.int().min(0),
  offset: z.int().min(0),
});

/**
 * Fields of every event of a lead: the version of the OU's configuration that decided, and the record that caused it.
 */
const decisionFields = {
  ou_id: id,
  lead_id: id,
  configuration_version: z
    .int()
    .min(0)
    .describe("The version of the OU's channels and triggers that decided."),
  source: causingRecord.describe('The record that caused it.'),
};

const triggerOf = <const Kind extends TriggerKind>(kind: Kind) =>
  z.strictObject({ id, name: z.string().max(100), kind: z.literal(kind) });

const windowSeconds = z
  .int()
  .min(1)
  .describe('The longest window of the triggers concerned: what is much older is forgotten.');

const fired = {
  ...decisionFields,
  firing_id: id,
  fired_at: time.describe('When the causing events were taken.'),
  ...firingFields,
  channel_ids: z.array(id).max(20).describe('Channels that are told.'),
};

export const milestoneFired = defineRecord({
  type: 'MilestoneFired',
  topic: 'notification.events',
  key: 'lead_id',
  description: "A lead's score crossed the threshold of a milestone trigger.",
  schema: z.strictObject({
    ...fired,
    cause: milestoneCause,
    trigger: triggerOf('milestone'),
    score_type: z.enum(leadScoreTypes),
    threshold: score,
    threshold_level: thresholdLevel,
    previous_level: previousLevel.optional(),
    direction: z.enum(['up', 'down']),
  }),
});
export type MilestoneFired = PayloadOf<typeof milestoneFired>;

export const sequenceFired = defineRecord({
  type: 'SequenceFired',
  topic: 'notification.events',
  key: 'lead_id',
  description: 'The events of a sequence trigger came together within its window.',
  schema: z.strictObject({
    ...fired,
    cause: firingCause,
    trigger: triggerOf('sequence'),
    steps: sequenceSteps,
  }),
});
export type SequenceFired = PayloadOf<typeof sequenceFired>;

export const surgeFired = defineRecord({
  type: 'SurgeFired',
  topic: 'notification.events',
  key: 'lead_id',
  description: 'A lead gained the points of a surge trigger within its window.',
  schema: z.strictObject({
    ...fired,
    cause: firingCause,
    trigger: triggerOf('surge'),
    score_type: surgeScoreType,
    threshold: score,
    window_seconds: z.int().min(1),
    gained: score,
    from: time.describe('The first event of the window that counted.'),
    to: time.describe('The last.'),
    event_count: z.int().min(1),
  }),
});
export type SurgeFired = PayloadOf<typeof surgeFired>;

export const triggerRearmed = defineRecord({
  type: 'TriggerRearmed',
  topic: 'notification.events',
  key: 'lead_id',
  description: 'A milestone trigger that has fired for the lead may fire for it again.',
  schema: z.strictObject({ ...decisionFields, trigger_id: id, score, at: time }),
});
export type TriggerRearmed = PayloadOf<typeof triggerRearmed>;

export const triggerSuppressed = defineRecord({
  type: 'TriggerSuppressed',
  topic: 'notification.events',
  key: 'lead_id',
  description: 'A trigger fired too often for a lead: until a time it does not fire for it any more.',
  schema: z.strictObject({
    ...decisionFields,
    trigger: z.strictObject({ id, name: z.string().max(100), kind: triggerKind }),
    firings: z.int().min(1),
    window_seconds: z.int().min(1).describe('In which it fired so often.'),
    at: time,
    until: time,
  }),
});
export type TriggerSuppressed = PayloadOf<typeof triggerSuppressed>;

export const activityObserved = defineRecord({
  type: 'ActivityObserved',
  topic: 'notification.events',
  key: 'lead_id',
  description:
    'Events of a lead that sequence or surge triggers of its OU are concerned with. Of other events nothing is recorded.',
  schema: z.strictObject({
    ...decisionFields,
    at: time.describe('When the events were taken.'),
    steps: z
      .array(
        z.strictObject({
          trigger_id: id,
          event_id: id,
          event_type: eventType,
          timestamp: time,
          steps: z
            .array(z.int().min(0).max(9))
            .min(1)
            .max(10)
            .describe('Steps that the event satisfies, from 0.'),
          window_seconds: windowSeconds,
        }),
      )
      .max(2_000)
      .describe('Matches of steps of sequences.'),
    gains: z
      .array(
        z.strictObject({
          event_id: id,
          event_type: eventType,
          timestamp: time,
          points: score,
          window_seconds: windowSeconds,
        }),
      )
      .max(2_000)
      .describe('Points, for surges.'),
  }),
});
export type ActivityObserved = PayloadOf<typeof activityObserved>;

export const leadForgotten = defineRecord({
  type: 'LeadForgotten',
  topic: 'notification.events',
  key: 'lead_id',
  description:
    "The lead was deleted: all that was recorded of it because of earlier records of the source's topic is forgotten. " +
    'Each of the two topics tells of a deletion in its own order, so there may be one of these for each. ' +
    'What is recorded because of later records is of a new lead. ' +
    'With `joined_to`, triggers forget what they remember of the lead, and its firings stay.',
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    deletion_id: id,
    linked_to: id
      .optional()
      .describe('The lead that it was linked to, and deleted with: it may have had no events of its own.'),
    joined_to: id.optional().describe('The lead that its events have joined. Absent for a deleted lead.'),
    source: causingRecord.describe('The record that tells of the deletion.'),
    at: time,
  }),
});
export type LeadForgotten = PayloadOf<typeof leadForgotten>;

export const notificationFiringRecords = [
  milestoneFired,
  sequenceFired,
  surgeFired,
  triggerRearmed,
  triggerSuppressed,
  activityObserved,
  leadForgotten,
] as const;
