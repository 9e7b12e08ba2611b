// The metadata that callers set for a lead.
import { z } from 'zod';
import { id, leadId, ofMergedLead } from '../common.js';
import { checkMetadata, metadataObject } from '../vocabulary/metadata.js';
import { minPosition } from './events.js';
import { defineRoute, editor, viewer } from './route.js';

const leadMetadata = z
  .strictObject({
    lead_id: id,
    metadata: metadataObject.describe(
      'What is set for the lead, with what was set for leads before they joined it.',
    ),
  })
  .meta({ id: 'LeadMetadata' });
export type LeadMetadata = z.infer<typeof leadMetadata>;

const patch = metadataObject
  .superRefine((value, context) => {
    const problem = checkMetadata(value, 'body');
    if (problem)
      context.addIssue({ code: 'custom', path: problem.path.split('.').slice(1), message: problem.message });
  })
  .describe(
    'A JSON merge patch (RFC 7396): a key with null is no longer set, and what events say of it shows again.',
  )
  .meta({ id: 'LeadMetadataPatch', example: { phase: 'negotiation', owner: 'Grace Hopper', title: null } });

const own = { owner: 'ingest', tag: 'Leads', path: '/lead/{leadID}/metadata' } as const;

export const patchLeadMetadata = defineRoute({
  ...own,
  name: 'patchLeadMetadata',
  method: 'PATCH',
  kind: 'command',
  access: editor,
  summary: 'Set metadata of a lead',
  description:
    "What is set here overrides what the metadata of the lead's events says, whenever these come: `name` (or `first_name` and `last_name`), `company`, `title`, `owner` and `phone`, and any key that a profile mapping reads. `phase` is set here only. Other keys are kept and answered. " +
    'Of one key the last patch counts, by the order in which the patches were taken. Profile rules are compared with the new values, and the points that they move are recorded with the rule; a milestone of a profile score may fire. ' +
    'A lead has at most 100 KB of it. The answer has all that is set; lists, scores and filters follow within moments. ' +
    'What was set for a lead goes along when it joins another, as far as nothing else was set there, and comes back when the merge is taken back. It is deleted with the lead.',
  parameters: z.strictObject({ leadID: leadId }),
  body: patch,
  bodyTypes: ['application/json', 'application/merge-patch+json'],
  responses: { 200: { description: 'All that is set for the lead', schema: leadMetadata } },
  problems: ['lead_not_found', 'limit_reached'],
});

export const getLeadMetadata = defineRoute({
  ...own,
  name: 'getLeadMetadata',
  method: 'GET',
  kind: 'query',
  access: viewer,
  summary: 'The metadata that is set for a lead',
  description:
    'What PATCH /lead/{leadID}/metadata has set; an empty object where nothing is. What events say is in GET /events/{leadID}.',
  parameters: z.strictObject({ leadID: leadId }),
  query: z.strictObject({ min_position: minPosition }),
  responses: { 200: { description: 'What is set', schema: leadMetadata.extend(ofMergedLead) } },
  problems: ['lead_not_found'],
});
