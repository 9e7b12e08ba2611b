// Challengers: drafts of changed rules that run in shadow beside the live rules of an organizational unit. Commands and events.
import { z } from 'zod';
import { id } from '../common.js';
import { happened, requested } from '../vocabulary/actor.js';
import { defineRecord, type PayloadOf } from './record.js';
import { comparedFields, draftFields, logOffset, whatIfLimits } from './what-if.js';

export const challengerLimits = {
  /** Challengers that run in an organizational unit at the same time. */
  running: 3,
  name: 100,
};

const asked = { name: z.string().min(1).max(challengerLimits.name), ...draftFields, ...comparedFields };
const version = z.int().min(0);
const ended = {
  ou_id: id,
  challenger_id: id,
  applied_version: version
    .optional()
    .describe('The version of the configuration with its draft in it, where it was made live.'),
};

export const startChallenger = defineRecord({
  type: 'StartChallenger',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Run a draft in shadow beside the live rules of an organizational unit.',
  schema: z.strictObject({ ou_id: id, challenger_id: id, ...asked, ...requested }),
});
export type StartChallenger = PayloadOf<typeof startChallenger>;

export const endChallenger = defineRecord({
  type: 'EndChallenger',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'End a challenger: its figures are deleted.',
  schema: z.strictObject({
    ...ended,
    ...requested,
  }),
});
export type EndChallenger = PayloadOf<typeof endChallenger>;

export const applyChallenger = defineRecord({
  type: 'ApplyChallenger',
  topic: 'scoring.commands',
  key: 'ou_id',
  description:
    'Make the draft of a challenger live, all of its changes or, when one is refused, none, and end the challenger.',
  schema: z.strictObject({ ou_id: id, challenger_id: id, dry_run: z.boolean(), ...requested }),
});
export type ApplyChallenger = PayloadOf<typeof applyChallenger>;

export const challengerStarted = defineRecord({
  type: 'ChallengerStarted',
  topic: 'scoring.events',
  key: 'ou_id',
  description: 'A draft runs in shadow beside the live rules of an organizational unit.',
  schema: z.strictObject({
    ou_id: id,
    challenger_id: id,
    ...asked,
    configuration_version: version.describe('Of the live rules, and of those that the draft changes.'),
    starts: z
      .array(z.strictObject({ ingest: logOffset, scoring: logOffset }))
      .max(whatIfLimits.partitions)
      .describe(
        'By partition, where ingest.events and scoring.events ended when it began: what comes from there on counts.',
      ),
    ...happened,
  }),
});
export type ChallengerStarted = PayloadOf<typeof challengerStarted>;

export const challengerEnded = defineRecord({
  type: 'ChallengerEnded',
  topic: 'scoring.events',
  key: 'ou_id',
  description: 'A challenger has ended.',
  schema: z.strictObject({
    ...ended,
    ...happened,
  }),
});
export type ChallengerEnded = PayloadOf<typeof challengerEnded>;

export const challengerRecords = [
  startChallenger,
  endChallenger,
  applyChallenger,
  challengerStarted,
  challengerEnded,
] as const;
