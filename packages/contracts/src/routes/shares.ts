// Share links: anyone who has one sees the explanation of a lead's score, without a credential, for seven days.
import { z } from 'zod';
import { id, leadId, ofMergedLead, page, pageParameters, score, time } from '../common.js';
import { anyScoreTypes } from '../vocabulary/score-types.js';
import { anyLeadScoreType, explainedAccount } from './account-scores.js';
import { defineRoute, viewer } from './route.js';
import { scoreExplanation } from './score-explanation.js';

const tag = 'Share links';
/** Whoever may see a score may show it to others; a service account needs the scope of a change. */
const sharing = { ...viewer, scope: 'write' } as const;
const token = z
  .string()
  .min(1)
  .max(200)
  .describe('The token of the answer to POST /leads/{id}/share-explain.');

/** The public form of SPEC.md. */
export const publicScoreExplanation = z
  .strictObject({
    lead_name: scoreExplanation.shape.lead_name.describe('Display name of the lead.'),
    score_type: z
      .enum(['profile', 'deal', 'account'])
      .optional()
      .describe('Of a link that explains another score; absent for the engagement score.'),
    score: score.describe('Current total score of the lead, or of its account; 0 without an account.'),
    top_drivers: z
      .array(
        scoreExplanation.shape.top_drivers.element.omit({ rule_version: true }).meta({ id: 'PublicDriver' }),
      )
      .max(1_000)
      .describe(
        'Rules that contributed most, one entry for each weight, sorted by absolute contribution. Of another score: the rules that the profile, the deals or the account meet now.',
      ),
    adjustments: scoreExplanation.shape.adjustments,
    snapshot: scoreExplanation.shape.snapshot,
    decay_applied: scoreExplanation.shape.decay_applied.describe('Points lost by decay: 0 or less.'),
    range_hours: scoreExplanation.shape.range_hours.describe(
      'Hours of event time that drivers cover. Of a profile or deal score: hours that profile_entries or deal_entries cover. Of an account score: of no meaning, it is that of now.',
    ),
    profile_entries: z
      .array(
        z
          .strictObject({
            rule_id: id,
            points: z.int(),
            decided_at: time,
            words: z.string().max(1_000),
          })
          .meta({ id: 'PublicProfileEntry' }),
      )
      .max(1_000)
      .optional()
      .describe('Of a profile score: its newest 1,000 changes within the range, each in words.'),
    deal_entries: z
      .array(
        z
          .strictObject({
            deal_id: z.string().max(200).optional().describe('Absent where points are of no one deal.'),
            rule_id: id.optional(),
            points: z.int(),
            decided_at: time,
            words: z.string().max(1_000),
          })
          .meta({ id: 'PublicDealEntry' }),
      )
      .max(1_000)
      .optional()
      .describe('Of a deal score: its newest 1,000 changes within the range, each in words.'),
    entries_total: z
      .int()
      .min(0)
      .optional()
      .describe('Of a profile or deal score: all changes within the range.'),
    account: explainedAccount
      .omit({ id: true })
      .extend({
        reasons: explainedAccount.shape.reasons.element
          .omit({ rule_version: true, ruleset_id: true })
          .meta({ id: 'PublicAccountReason' })
          .array()
          .max(5_001)
          .describe(
            'The points of the leads first, then those of each rule, the largest first, then what limits hold. They add up to the score.',
          ),
      })
      .meta({ id: 'PublicAccount' })
      .optional()
      .describe(
        'Of an account score: the account that the lead belongs to, without any other lead of it; absent for other scores, and where the lead belongs to no account.',
      ),
  })
  .meta({ id: 'PublicScoreExplanation' });
export type PublicScoreExplanation = z.infer<typeof publicScoreExplanation>;

export const createShare = defineRoute({
  name: 'createShare',
  method: 'POST',
  path: '/leads/{id}/share-explain',
  owner: 'share',
  kind: 'command',
  access: sharing,
  tag,
  summary: "Share the explanation of a lead's score behind a link",
  description:
    'The link needs no login and lasts seven days. What it shows is computed when it is read; which score it explains stays. The answer shows `token` this once.',
  parameters: z.strictObject({ id: leadId }),
  query: z.strictObject({
    score_type: anyLeadScoreType.describe(
      'The score that the link explains. account: that of the account that the lead belongs to at the time of reading, or 0. Nobody sees more of its other leads than their number and the points that they make together.',
    ),
  }),
  responses: {
    201: {
      description: 'Created',
      schema: z
        .strictObject({
          token: z.string().max(100).describe('Identifies the share.'),
          expires_at: time.describe('Seven days after the creation.'),
          share_url: z.string().max(3_000).describe('The page, for a browser.'),
        })
        .meta({ id: 'NewShare' }),
    },
  },
  problems: ['lead_not_found', 'position_not_reached'],
  showsSecret: true,
});

export const share = z
  .strictObject({
    id,
    last_four: z.string().length(4).describe('The end of the token.'),
    status: z.enum(['valid', 'expired', 'revoked']),
    score_type: z.enum(anyScoreTypes).describe('The score that the link explains.'),
    created_at: time,
    expires_at: time,
    created_by: id.describe('The credential, or the trigger whose notifications carry the link.'),
  })
  .meta({ id: 'Share' });
export type Share = z.infer<typeof share>;

export const listShares = defineRoute({
  name: 'listShares',
  method: 'GET',
  path: '/leads/{id}/shares',
  owner: 'share',
  kind: 'query',
  access: viewer,
  tag,
  summary: 'Share links of a lead, newest first',
  parameters: z.strictObject({ id: leadId }),
  query: z.strictObject(pageParameters),
  responses: {
    200: { description: 'Share links, without their tokens', schema: page(share).extend(ofMergedLead) },
  },
  problems: ['lead_not_found'],
});

export const revokeShare = defineRoute({
  name: 'revokeShare',
  method: 'DELETE',
  path: '/shares/{token}',
  owner: 'share',
  kind: 'command',
  access: sharing,
  tag,
  summary: 'End a share link',
  description: 'By its token, or by the id that the list shows. From then on the link is 404.',
  parameters: z.strictObject({ token: token.describe("The link's token or id.") }),
  responses: { 204: { description: 'Ended' } },
  problems: ['share_not_found'],
});

const open = {
  method: 'GET',
  owner: 'share',
  kind: 'query',
  access: { credential: false },
  tag,
  parameters: z.strictObject({ token }),
  problems: ['share_not_found', 'share_expired'],
} as const;

export const readShare = defineRoute({
  ...open,
  name: 'readShare',
  path: '/public/score-explain/{token}',
  summary: 'The shared explanation; no credential needed',
  description: '404 for a link that is unknown or was ended, 410 for one older than seven days.',
  responses: { 200: { description: 'Explanation', schema: publicScoreExplanation } },
});

export const shareCsv = defineRoute({
  ...open,
  name: 'shareCsv',
  path: '/public/score-explain/{token}/csv',
  summary: 'The shared explanation as CSV',
  responses: {
    200: { description: 'Drivers, adjustments and changes, a line each', contentType: 'text/csv' },
  },
});

export const sharePreview = defineRoute({
  ...open,
  name: 'sharePreview',
  path: '/public/score-explain/{token}/preview.png',
  summary: 'The image that a preview of the link shows',
  responses: { 200: { description: 'PNG of 1200 by 630', contentType: 'image/png' } },
});

export const sharePage = defineRoute({
  ...open,
  name: 'sharePage',
  path: '/share/{token}',
  summary: 'The shared explanation as a page, for whoever has the link',
  responses: { 200: { description: 'Page', contentType: 'text/html' } },
});
