// Merging leads that are one person, taking a merge back, and the leads for which that may be wanted.
import { z } from 'zod';
import { id, leadId, page, pageParameters, time } from '../common.js';
import { maximumMergedLeads } from '../records/lead-merges.js';
import { alias, aliasKind, normaliseAlias } from '../vocabulary/identity.js';
import { leadField, leadFieldNames } from '../vocabulary/lead-fields.js';
import { minPosition } from './events.js';
import { job } from './jobs.js';
import { leadMergeResult } from './lead-merge-result.js';
import { defineRoute, editor, viewer } from './route.js';

/** How long the answer waits for the job. */
const answeredWithinMs = 10_000;
const own = { owner: 'ingest', tag: 'Leads' } as const;

const merged = z.strictObject({
  target_id: id.describe('The lead that stays. It has a known alias, such as an e-mail address.'),
  source_ids: z.array(id).min(1).max(maximumMergedLeads).describe('The leads that join it.'),
});

export const mergeLeads = defineRoute({
  ...own,
  name: 'mergeLeads',
  method: 'POST',
  path: '/leads/merge',
  kind: 'command',
  access: editor,
  summary: 'Merge leads that are one person',
  description:
    'The events of the sources become events of the target, and its score is decided from all of them: points are not added up. Every id names the target from then on, and later events of each alias are its events. What has happened fires no trigger. Share links of the sources end; messages that wait are sent. ' +
    'POST /leads/{leadID}/unmerge takes it back. The merge is a job: the answer is its result where it is done within 10 seconds; else it is 202 with the job, which goes on: GET /jobs/{id}. An organizational unit has one such job at a time; another is refused (409 `job_running`, which names it).',
  body: merged.meta({ id: 'LeadMerge' }),
  responses: {
    200: { description: 'Merged', schema: leadMergeResult },
    202: { description: 'The job, which goes on', schema: job },
  },
  problems: ['lead_not_found', 'lead_merged', 'merge_not_possible', 'job_running'],
  waitsForJobMs: answeredWithinMs,
});

export const unmergeLead = defineRoute({
  ...own,
  name: 'unmergeLead',
  method: 'POST',
  path: '/leads/{leadID}/unmerge',
  kind: 'command',
  access: editor,
  summary: 'Take the merge of a lead back',
  description:
    'The source is a lead of its own again, with all events that came under its aliases, before the merge and since; the other lead keeps the rest. Both scores are decided from their own events, by the rules of now. It takes back what an event has joined, too: a visitor who was not this person. ' +
    'For the moment that it takes, the lead has few of its events or none. Share links of the lead end, triggers forget what they remember of it, and what has happened fires none. ' +
    'It is a job as POST /leads/merge is.',
  parameters: z.strictObject({ leadID: leadId }),
  body: z
    .strictObject({ source_id: id.describe('The lead that was merged into it.') })
    .meta({ id: 'LeadUnmerge' }),
  responses: {
    200: { description: 'Two leads again', schema: leadMergeResult },
    202: { description: 'The job, which goes on', schema: job },
  },
  problems: ['lead_not_found', 'lead_not_merged', 'job_running'],
  waitsForJobMs: answeredWithinMs,
});

const linkedAlias = z
  .strictObject({ alias_kind: aliasKind, alias: alias.shape.alias.meta({ example: 'ada@example.com' }) })
  .superRefine((value, context) => {
    const normalised = normaliseAlias(value.alias_kind, value.alias);
    if ('problem' in normalised)
      context.addIssue({ code: 'custom', path: ['alias'], message: normalised.problem });
  });

export const addLeadAlias = defineRoute({
  ...own,
  name: 'addLeadAlias',
  method: 'POST',
  path: '/lead/{leadID}/aliases',
  kind: 'command',
  access: editor,
  summary: 'Link an alias to a lead',
  description:
    'Later events of the alias are events of the lead. What has come under an anonymous alias so far comes along. A known alias that has a lead of its own is refused (409 `merge_not_possible`): POST /leads/merge makes one lead of both. It is a job as POST /leads/merge is.',
  parameters: z.strictObject({ leadID: leadId }),
  body: linkedAlias.meta({ id: 'LinkedAlias' }),
  responses: {
    200: { description: 'Linked', schema: leadMergeResult },
    202: { description: 'The job, which goes on', schema: job },
  },
  problems: ['lead_not_found', 'lead_merged', 'merge_not_possible', 'job_running'],
  waitsForJobMs: answeredWithinMs,
});

export const removeLeadAlias = defineRoute({
  ...own,
  name: 'removeLeadAlias',
  method: 'DELETE',
  path: '/lead/{leadID}/aliases',
  kind: 'command',
  access: editor,
  summary: 'Take an alias from a lead',
  description:
    'All events that have come under the alias, before it was linked and since, are those of a lead of its own, as POST /leads/{leadID}/unmerge says; so are later ones. The alias from which the lead has its id cannot be taken from it. It is a job as POST /leads/merge is.',
  parameters: z.strictObject({ leadID: leadId }),
  query: linkedAlias,
  responses: {
    200: { description: 'Two leads', schema: leadMergeResult },
    202: { description: 'The job, which goes on', schema: job },
  },
  problems: ['lead_not_found', 'lead_not_merged', 'job_running'],
  waitsForJobMs: answeredWithinMs,
});

const previewedLead = z.strictObject({
  lead_id: id,
  events: z.int().min(0),
  aliases: z
    .int()
    .min(0)
    .describe('Its own alias and those that were linked to it; at most 10,000 are counted.'),
});

const { value } = leadField.shape;
const fieldValue = z.strictObject({ lead_id: id, value, at: time });

export const previewLeadMerge = defineRoute({
  ...own,
  name: 'previewLeadMerge',
  method: 'POST',
  path: '/leads/merge/preview',
  kind: 'query',
  access: viewer,
  summary: 'What a merge of leads would join',
  description: 'Changes nothing. It answers as POST /leads/merge would where the leads cannot be merged.',
  query: z.strictObject({ min_position: minPosition }),
  body: merged.meta({ id: 'LeadMergePreviewRequest' }),
  responses: {
    200: {
      description: 'What would be joined',
      schema: z
        .strictObject({
          target: previewedLead,
          sources: z.array(previewedLead).min(1).max(maximumMergedLeads),
          events: z.int().min(0).describe('Events that the target would have.'),
          duplicate_aliases: z
            .array(alias)
            .max(100)
            .describe('Aliases that events of several of the leads have named; the first 100.'),
          field_conflicts: z
            .array(
              z.strictObject({
                field: z.enum(leadFieldNames),
                values: z
                  .array(fieldValue)
                  .min(2)
                  .max(maximumMergedLeads + 1),
                kept: value.describe(
                  'What a caller has set for the target, else for one of the sources, else the latest by the time of its event.',
                ),
              }),
            )
            .max(leadFieldNames.length)
            .describe('Fields for which the leads have different values.'),
          account_conflicts: z
            .array(
              z.strictObject({
                lead_id: id,
                company: value.optional().describe('Absent where none is known.'),
              }),
            )
            .max(maximumMergedLeads + 1)
            .describe(
              'The company of each lead, where they are not all the same: the lead counts in one account.',
            ),
        })
        .meta({ id: 'LeadMergePreview' }),
    },
  },
  problems: ['lead_not_found', 'lead_merged', 'merge_not_possible'],
});

/** The most conflicts that a list counts and shows. */
export const maximumListedConflicts = 1_000;

export const listLeadConflicts = defineRoute({
  ...own,
  name: 'listLeadConflicts',
  method: 'GET',
  path: '/lead-conflicts',
  kind: 'query',
  access: viewer,
  summary: 'Leads that events named together',
  description:
    'An event that names two people who each have a lead counts for the first, and joins nobody. This lists such pairs, newest first, each with the merge that POST /leads/merge takes; pairs that were merged or deleted since are left out. At most 1,000 are looked at.',
  query: z.strictObject({ ...pageParameters, min_position: minPosition }),
  responses: {
    200: {
      description: 'Pairs of leads',
      schema: page(
        z
          .strictObject({
            lead_ids: z.array(id).length(2),
            named_at: time.describe('When an event first named both.'),
            merge: merged.describe('The body of POST /leads/merge that makes one lead of them.'),
          })
          .meta({ id: 'LeadConflict' }),
      ),
    },
  },
  problems: [],
});
