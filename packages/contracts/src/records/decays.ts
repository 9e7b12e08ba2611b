// Decay rules, which are part of an OU's scoring configuration, and the commands and events of their ticks.
import { z } from 'zod';
import { id, name, time } from '../common.js';
import { happened, requested } from '../vocabulary/actor.js';
import { decayChanges, decayForm, decayPeriod, decaySettings } from '../vocabulary/decay.js';
import { defineRecord, type PayloadOf } from './record.js';

const decay = { ou_id: id, decay_id: id };
const ofUnit = { key: 'ou_id' } as const;
const ofPartition = { key: 'partition' } as const;

export const createDecay = defineRecord({
  type: 'CreateDecay',
  topic: 'scoring.commands',
  ...ofUnit,
  description: 'Create a decay rule.',
  schema: z.strictObject({ ...decay, name: name(100), ...decayForm, ...requested }),
});
export type CreateDecay = PayloadOf<typeof createDecay>;

export const updateDecay = defineRecord({
  type: 'UpdateDecay',
  topic: 'scoring.commands',
  ...ofUnit,
  description: 'Change a decay rule; absent fields stay.',
  schema: z.strictObject({ ...decay, name: name(100).optional(), ...decayChanges, ...requested }),
});
export type UpdateDecay = PayloadOf<typeof updateDecay>;

export const deleteDecay = defineRecord({
  type: 'DeleteDecay',
  topic: 'scoring.commands',
  ...ofUnit,
  description: 'Delete a decay rule.',
  schema: z.strictObject({ ...decay, ...requested }),
});
export type DeleteDecay = PayloadOf<typeof deleteDecay>;

export const decayCreated = defineRecord({
  type: 'DecayCreated',
  topic: 'scoring.events',
  ...ofUnit,
  description: 'A decay rule exists. Its first ticks are after `at`: no score changes before.',
  schema: z.strictObject({
    ...decay,
    name: name(100),
    ...decaySettings,
    active: z.boolean(),
    version: z.int().min(1),
    ...happened,
  }),
});
export type DecayCreated = PayloadOf<typeof decayCreated>;

export const decayUpdated = defineRecord({
  type: 'DecayUpdated',
  topic: 'scoring.events',
  ...ofUnit,
  description:
    'A decay rule has these fields and no others, for ticks after `at`. A rule that is not active has no ticks. What it took before stays taken.',
  schema: decayCreated.schema,
});
export type DecayUpdated = PayloadOf<typeof decayUpdated>;

export const decayDeleted = defineRecord({
  type: 'DecayDeleted',
  topic: 'scoring.events',
  ...ofUnit,
  description: 'A decay rule is gone, and its id is not used again. What it took stays taken.',
  schema: z.strictObject({ ...decay, version: z.int().min(1), ...happened }),
});
export type DecayDeleted = PayloadOf<typeof decayDeleted>;

const partition = z.int().min(0);

/** Leads in one step of a walk, and in one RunDecay. */
export const maximumDecayLeads = 500;

export const scheduleDecays = defineRecord({
  type: 'ScheduleDecays',
  topic: 'scoring.commands',
  ...ofPartition,
  description:
    "Find out when the next leads of an OU in this partition are due, because the OU's decay rules have changed. Each step asks for the next one.",
  schema: z.strictObject({
    ou_id: id,
    partition,
    version: z.int().min(1).describe('The version of the configuration in which the decay rules changed.'),
    after: id.nullable().describe('The last lead of the step before; null in the first step.'),
    until: time
      .optional()
      .describe(
        'Up to this time a partition that does not know the version yet sends the step to itself again.',
      ),
  }),
});
export type ScheduleDecays = PayloadOf<typeof scheduleDecays>;

export const runDecay = defineRecord({
  type: 'RunDecay',
  topic: 'scoring.commands',
  ...ofPartition,
  description:
    'Decide the ticks up to `as_of` of leads that are due. A lead that is not due by then loses nothing.',
  schema: z.strictObject({
    partition,
    as_of: time,
    leads: z
      .array(z.strictObject({ ou_id: id, lead_id: id }))
      .min(1)
      .max(maximumDecayLeads),
  }),
});
export type RunDecay = PayloadOf<typeof runDecay>;

export const decaysScheduled = defineRecord({
  type: 'DecaysScheduled',
  topic: 'scoring.events',
  ...ofPartition,
  description:
    'When leads of an OU in this partition are due next follows from these decay rules: of the leads whose ids are after `after` and not after `to`. It changes no score and is of no use to other services.',
  schema: z.strictObject({
    ou_id: id,
    partition,
    configuration_version: z.int().min(0),
    decays: z.array(decayPeriod).max(200),
    after: id.nullable().describe('null: from the first lead on.'),
    to: id.nullable().describe('null: up to the last lead.'),
    only: z.array(id).min(1).max(maximumDecayLeads).optional().describe('These leads only.'),
  }),
});
export type DecaysScheduled = PayloadOf<typeof decaysScheduled>;

export const decayRecords = [
  createDecay,
  updateDecay,
  deleteDecay,
  scheduleDecays,
  runDecay,
  decayCreated,
  decayUpdated,
  decayDeleted,
  decaysScheduled,
] as const;
