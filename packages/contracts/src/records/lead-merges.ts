// Merges of leads, and their undoing: the job, of which an organizational unit has one at a time so that no two of them form a ring, and the
// records of the partitions of the leads.
import { z } from 'zod';
import { id, time } from '../common.js';
import { recordedActor, requested } from '../vocabulary/actor.js';
import { alias } from '../vocabulary/identity.js';
import { defineRecord, type PayloadOf } from './record.js';

/** The most leads that one request merges into another. */
export const maximumMergedLeads = 20;

const change = {
  change: z.enum(['merge', 'unmerge']),
  target_id: id.describe('The lead that the others join, or that one of them leaves.'),
};

export const startLeadMerge = defineRecord({
  type: 'StartLeadMerge',
  topic: 'ingest.commands',
  key: 'ou_id',
  description: 'Merge leads into another, or take the merge of one back, as a job.',
  schema: z.strictObject({
    ou_id: id,
    job_id: id,
    ...change,
    source_ids: z.array(id).min(1).max(maximumMergedLeads),
    alias: alias
      .optional()
      .describe(
        'To be linked to the target, or taken from it; `source_ids` has the lead that it names by itself.',
      ),
    ...requested,
  }),
});
export type StartLeadMerge = PayloadOf<typeof startLeadMerge>;

export const leadMergeWork = z.strictObject({
  kind: z.literal('lead-merge'),
  ...change,
  sources: z
    .array(
      z.strictObject({
        lead_id: id,
        alias: alias.describe('The alias from which the lead has its id.'),
      }),
    )
    .min(1)
    .max(maximumMergedLeads),
  ended: id
    .nullable()
    .describe('Where a merge is taken back: the last end of the target when the job began.'),
});
export type LeadMergeWork = z.infer<typeof leadMergeWork>;

/** The number of events that the job has moved to the target so far. */
export const leadMergeFound = z.strictObject({ events_moved: z.int().min(0) });
export type LeadMergeFound = z.infer<typeof leadMergeFound>;

export const mergeLead = defineRecord({
  type: 'MergeLead',
  topic: 'ingest.commands',
  key: 'lead_id',
  description:
    'A caller says that two leads are one person: `alias_lead_id` joins `lead_id`. Sent by the job that merges leads.',
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    alias: alias.describe('The alias from which the lead that joins has its id.'),
    alias_lead_id: id,
    merged_at: time,
    actor: recordedActor.optional(),
  }),
});
export type MergeLead = PayloadOf<typeof mergeLead>;

export const unmergeLead = defineRecord({
  type: 'UnmergeLead',
  topic: 'ingest.commands',
  key: 'lead_id',
  description:
    'A caller says that a lead which has joined another is a person of its own: end its link, and divide the other. Keyed by `alias_lead_id`. Sent by the job that merges leads.',
  schema: z.strictObject({
    ou_id: id,
    alias_lead_id: id,
    unmerged_at: time,
    actor: recordedActor.optional(),
  }),
});
export type UnmergeLead = PayloadOf<typeof unmergeLead>;

const division = {
  ou_id: id,
  lead_id: id.describe('The lead that is divided.'),
  alias_lead_id: id.describe('The lead that gets back what came under its aliases.'),
};
const lastDeletion = id.nullable();
const followed = lastDeletion.describe('The last deletion of `alias_lead_id`, null where it has had none.');

export const divideLead = defineRecord({
  type: 'DivideLead',
  topic: 'ingest.commands',
  key: 'lead_id',
  description:
    'End this lead, or the lead that it is redirected to, and send its events again, each to the lead that its alias names now.',
  schema: z.strictObject({ ...division, unmerged_at: time, followed, actor: recordedActor.optional() }),
});
export type DivideLead = PayloadOf<typeof divideLead>;

export const sendDivided = defineRecord({
  type: 'SendDivided',
  topic: 'ingest.commands',
  key: 'lead_id',
  description: 'Send the next events of a lead that is divided. Sent by the service to itself.',
  schema: z.strictObject({
    ...division,
    unmerged_at: time,
    followed,
    after: lastDeletion.describe('That of `lead_id`.'),
    deletion_id: id.describe('The end of the lead that is divided.'),
    from: z.int().min(0).describe('The records before this offset have been sent.'),
    actor: recordedActor.optional().describe('Who has taken the merge back.'),
  }),
});
export type SendDivided = PayloadOf<typeof sendDivided>;

export const aliasUnlinked = defineRecord({
  type: 'AliasUnlinked',
  topic: 'ingest.events',
  key: 'lead_id',
  description:
    'The alias was linked to `lead_id`, and a caller has ended that: its events are of a lead of its own from now on. Keyed by `alias_lead_id`.',
  schema: z.strictObject({
    ...{ ou_id: id, alias, alias_lead_id: id, lead_id: id, unlinked_at: time },
    actor: recordedActor.optional(),
  }),
});
export type AliasUnlinked = PayloadOf<typeof aliasUnlinked>;

export const leadConflicted = defineRecord({
  type: 'LeadConflicted',
  topic: 'ingest.events',
  key: 'lead_id',
  description:
    'An event named two people who each have a lead. It counted for `lead_id`, and the other lead stays as it is: only a caller can merge them. Keyed by `alias_lead_id`.',
  schema: z.strictObject({ ou_id: id, alias, alias_lead_id: id, lead_id: id, named_at: time }),
});
export type LeadConflicted = PayloadOf<typeof leadConflicted>;

export const leadDivided = defineRecord({
  type: 'LeadDivided',
  topic: 'ingest.events',
  key: 'lead_id',
  description: 'All events of a lead that was divided have been sent again.',
  schema: z.strictObject({ ...division, deletion_id: id }),
});
export type LeadDivided = PayloadOf<typeof leadDivided>;

export const leadMergeRecords = [
  startLeadMerge,
  mergeLead,
  unmergeLead,
  divideLead,
  sendDivided,
  aliasUnlinked,
  leadConflicted,
  leadDivided,
] as const;
