// The aliases of leads, and the lead that an alias names.
import { z } from 'zod';
import { id, leadId, ofMergedLead, page, pageParameters, time } from '../common.js';
import { alias, aliasKind, normaliseAlias } from '../vocabulary/identity.js';
import { minPosition } from './events.js';
import { defineRoute, viewer } from './route.js';

/** The most aliases that a list counts and shows. */
export const maximumListedAliases = 10_000;

export const leadAlias = z
  .strictObject({
    ...alias.shape,
    linked_at: time
      .optional()
      .describe(
        'When an event named it together with the lead. Absent for the alias from which the lead has its id.',
      ),
  })
  .meta({ id: 'LeadAlias' });
export type LeadAlias = z.infer<typeof leadAlias>;

export const listLeadAliases = defineRoute({
  name: 'listLeadAliases',
  method: 'GET',
  path: '/lead/{leadID}/aliases',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Leads',
  summary: "A lead's aliases",
  description:
    'First the alias from which the lead has its id, then those that were linked to it, in the order of their links; at most 10,000 in all.',
  parameters: z.strictObject({ leadID: leadId }),
  query: z.strictObject({ ...pageParameters, min_position: minPosition }),
  responses: { 200: { description: 'Aliases', schema: page(leadAlias).extend(ofMergedLead) } },
  problems: ['lead_not_found'],
});

export const findLeadByAlias = defineRoute({
  name: 'findLeadByAlias',
  method: 'GET',
  path: '/lead-by-alias',
  owner: 'ingest',
  kind: 'query',
  access: viewer,
  tag: 'Leads',
  summary: 'The lead that an alias names',
  description:
    'The lead to which new events of the alias count: the one that has its id from the alias, or the one to which the alias was linked.',
  query: z
    .strictObject({
      alias_kind: aliasKind,
      alias: alias.shape.alias.meta({ example: 'ada@example.com' }),
      min_position: minPosition,
    })
    .superRefine((value, context) => {
      const normalised = normaliseAlias(value.alias_kind, value.alias);
      if ('problem' in normalised)
        context.addIssue({ code: 'custom', path: ['alias'], message: normalised.problem });
    }),
  responses: {
    200: {
      description: 'The lead',
      schema: z
        .strictObject({
          lead_id: id,
          alias: alias.describe(
            'In the spelling in which it is kept: an e-mail address in lower case, for example.',
          ),
        })
        .meta({ id: 'LeadOfAlias' }),
    },
  },
  problems: ['lead_not_found'],
});
