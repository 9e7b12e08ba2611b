// Leads and their scores.
import { z } from 'zod';
import {
  cursorParameter,
  id,
  leadId,
  name,
  numberParameter,
  ofMergedLead,
  page,
  pageParameters,
  score,
  time,
} from '../common.js';
import { gridCell } from '../vocabulary/grid.js';
import { alias } from '../vocabulary/identity.js';
import { levelFields } from '../records/scoring.js';
import { anyLeadScoreType, ofLeadsOrAccounts } from './account-scores.js';
import { minPosition } from './events.js';
import { defineRoute, editor, viewer } from './route.js';

export const leadLevel = z
  .strictObject({ id, name: levelFields.name, color: levelFields.color })
  .meta({ id: 'LeadLevel' });
export type LeadLevel = z.infer<typeof leadLevel>;

const level = leadLevel
  .nullable()
  .describe('The engagement level that the score is in, by the levels of now; null when it is in none.');

const scores = z.strictObject({
  engagement: score,
  profile: score
    .optional()
    .describe('Absent until profile scoring is configured for the organizational unit.'),
  deal: score
    .optional()
    .describe(
      "The sum of the scores of the deals that the lead's events named: it follows a deal within moments. Absent until deal scoring is configured for the organizational unit.",
    ),
  account: score.optional().describe('That of the account in which the lead counts; absent without one.'),
});
const inGrid = {
  profile_level: leadLevel
    .nullable()
    .optional()
    .describe('The profile level that the profile score is in. Absent until profile scoring is configured.'),
  grid: gridCell
    .optional()
    .describe('The cell of the two scores, by the grid of now. Absent where the OU has no grid.'),
};

export const lead = z
  .strictObject({
    id,
    name: z.string().max(512).describe('Without a name in its metadata, a lead is shown by its first alias.'),
    company: z.string().max(200).optional(),
    title: z.string().max(200).optional(),
    owner: z.string().max(200).optional(),
    phase: z.string().max(200).optional().describe('As PATCH /lead/{leadID}/metadata has set it.'),
    account_id: id
      .optional()
      .describe(
        'The account in which the score counts. Absent until account scoring is configured and an event of the lead names an account.',
      ),
    aliases: z.array(alias).max(100),
    score,
    scores,
    level,
    ...inGrid,
    rulesets: z.array(z.strictObject({ ruleset_id: id, name: z.string().max(100), score })).max(1_000),
    event_count: z.int().min(0),
    last_activity_at: time,
    created_at: time.describe("The time of the lead's first event."),
  })
  .meta({ id: 'Lead' });
export type Lead = z.infer<typeof lead>;

/** The orders of the list of leads. */
export const leadSorts = [
  'score',
  '-score',
  'last_activity_at',
  '-last_activity_at',
  'created_at',
  '-created_at',
  'name',
  '-name',
] as const;

const sort = z.enum(leadSorts).default('-score').describe('A minus in front: descending.');

const bound = numberParameter(-2_147_483_648, 2_147_483_647);

export const listLeads = defineRoute({
  name: 'listLeads',
  method: 'GET',
  path: '/leads',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag: 'Leads',
  summary: 'Leads with their scores, highest first',
  query: ofLeadsOrAccounts({
    score_type: anyLeadScoreType.describe(
      'The score that min_score, max_score, level and sort=score are about. A lead without profile points has a profile score of 0, and one without points of deals a deal score of 0. account: the score of the account that the lead belongs to; leads without an account are not listed, and of one score, leads of an account follow each other. It goes with sort=score and -score, and without level, grid, owner, filter_id and q.',
    ),
    min_score: bound.optional(),
    max_score: bound.optional(),
    level: name(100)
      .optional()
      .describe(
        'Id or name of a level of the score: leads whose score is in it, and within the other bounds. Not for deal and account scores.',
      ),
    grid: gridCell
      .optional()
      .describe(
        'A cell of the grid of profile by engagement: leads whose scores are in it, and within the other bounds. 404 `grid_not_found` where the OU has no grid.',
      ),
    owner: name(200).optional(),
    filter_id: id.optional().describe('A saved filter: leads that match it now, and the other parameters.'),
    q: name(200).optional().describe('Text within name, company or an alias.'),
    sort,
    ...pageParameters,
    cursor: cursorParameter,
    min_position: minPosition,
  }),
  responses: { 200: { description: 'Leads', schema: page(lead) } },
  problems: ['level_not_found', 'grid_not_found', 'filter_not_found'],
});

export const searchLeads = defineRoute({
  name: 'searchLeads',
  method: 'GET',
  path: '/leads/search',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag: 'Leads',
  summary: 'Find leads by name, company or alias',
  description:
    'Leads that have the text as an alias come first, then those that contain it, highest score first. An e-mail address or telephone number in full finds the leads that have it, and nobody else.',
  query: z.strictObject({
    q: name(200).describe('Text within name, company or an alias.'),
    ...pageParameters,
    cursor: cursorParameter,
    min_position: minPosition,
  }),
  responses: { 200: { description: 'Leads', schema: page(lead) } },
  problems: [],
});

export const getScore = defineRoute({
  name: 'getScore',
  method: 'GET',
  path: '/score/{leadID}',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag: 'Leads',
  summary: "A lead's score",
  parameters: z.strictObject({ leadID: leadId }),
  query: z.strictObject({
    score_type: anyLeadScoreType.describe(
      'The score that score and level are of. deal: the sum of the scores of its deals. account: that of the account that the lead belongs to, 0 without one; its level is one of the account levels. Deal scores have no levels.',
    ),
    min_position: minPosition,
  }),
  responses: {
    200: {
      description: 'Score',
      schema: z.strictObject({
        lead_id: id,
        score_type: z
          .enum(['profile', 'deal', 'account'])
          .optional()
          .describe('Absent for the engagement score.'),
        account_id: lead.shape.account_id,
        score,
        scores,
        level: level.describe(
          'The level that the score is in, by the levels of now; null when it is in none.',
        ),
        ...inGrid,
        rulesets: lead.shape.rulesets,
        last_activity_at: time,
        ...ofMergedLead,
      }),
    },
  },
  problems: ['lead_not_found'],
});

export const deleteLead = defineRoute({
  name: 'deleteLead',
  method: 'DELETE',
  path: '/lead/{leadID}',
  owner: 'ingest',
  kind: 'command',
  access: editor,
  tag: 'Leads',
  summary: 'Delete a lead',
  description:
    'The lead is deleted with its events, scores, aliases, share links and notifications, and so are leads whose aliases were linked to it. An id whose alias was linked to another lead names that lead. Events are gone when this is answered; scores, share links and notifications follow within moments, and what waits to be sent is not sent. A later event of any of the aliases starts a new lead with a score of 0; an event that had been counted is not counted again. Irreversible.',
  parameters: z.strictObject({ leadID: leadId }),
  responses: { 204: { description: 'Deleted' } },
  problems: ['lead_not_found'],
});
