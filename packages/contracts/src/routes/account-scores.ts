// The account score in questions about leads: the score of the account that a lead belongs to.
import { z } from 'zod';
import { id, inOrder } from '../common.js';
import { rollUp } from '../vocabulary/accounts.js';
import { anyScoreTypes, leadScoreTypes } from '../vocabulary/score-types.js';

/** The scores of a lead, and that of its account. */
export const anyLeadScoreType = z
  .enum(anyScoreTypes, { error: `must be ${leadScoreTypes.join(', ')} or account` })
  .default('engagement')
  .meta({ default: 'engagement' });

/** The account whose score is that of a lead, with the reasons that add up to it. */
export const explainedAccount = z
  .strictObject({
    id,
    name: z.string().max(512),
    leads: z.int().min(1).describe('How many leads belong to it.'),
    roll_up: rollUp,
    reasons: z
      .array(
        z.strictObject({
          reason: z
            .enum(['leads', 'account_rule', 'held_by_ruleset'])
            .describe(
              'leads: the roll-up of the scores of the leads. account_rule: a rule that the account meets. held_by_ruleset: what min_score or max_score of a ruleset holds of its rules.',
            ),
          rule_id: id.optional(),
          rule_version: z.int().min(1).optional(),
          ruleset_id: id.optional(),
          points: z.int(),
          words: z.string().max(1_000),
        }),
      )
      .max(5_001)
      .describe(
        'The points of the leads first, then those of each rule, the largest first, then what limits hold. They add up to the score.',
      ),
  })
  .meta({ id: 'ExplainedAccount' });

/** A strict object of a question about a score in which an account score is that of now. */
export const ofPresentAccounts = <Shape extends z.ZodRawShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> =>
  (['at', 'known_at'] as const).reduce(
    (form, moment) =>
      form.refine(
        (query: Record<string, unknown>) => query.score_type !== 'account' || query[moment] === undefined,
        {
          path: [moment],
          error:
            'must be absent for score_type account: only the present reasons of an account score are kept',
        },
      ),
    z.strictObject(shape),
  );

/** Parameters of a list of leads that no list by account score has. */
const ofLeadsAlone = ['grid', 'owner', 'filter_id', 'q'] as const;

/** A strict object of a list of leads, in which an account score goes with the order by score alone. */
export const ofLeadsOrAccounts = <Shape extends z.ZodRawShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> =>
  ofLeadsAlone.reduce(
    (form, parameter) =>
      form.refine(
        (query: Record<string, unknown>) => query.score_type !== 'account' || query[parameter] === undefined,
        {
          path: [parameter],
          error: 'must be absent for score_type account: min_score and max_score bound it',
        },
      ),
    inOrder(shape)
      .refine(
        ({ score_type, level }: Record<string, unknown>) =>
          (score_type !== 'deal' && score_type !== 'account') || level === undefined,
        {
          path: ['level'],
          error: 'must be absent for score_type deal and account: min_score and max_score bound them',
        },
      )
      .refine(
        ({ score_type, sort }: Record<string, unknown>) =>
          score_type !== 'account' || sort === 'score' || sort === '-score',
        { path: ['sort'], error: 'must be score or -score for score_type account' },
      ),
  );
