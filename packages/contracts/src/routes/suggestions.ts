// Suggested rules: a draft for a what-if, learned from the recorded history of leads that came to an outcome and of those that did not.
import { z } from 'zod';
import { inOrder, moment } from '../common.js';
import { jobId } from '../records/job-id.js';
import { suggestionLimits } from '../records/suggestions.js';
import { draftChange, whatIfLimits } from '../records/what-if.js';
import { levelledScoreTypes } from '../vocabulary/score-types.js';
import { defineRoute, editor } from './route.js';
import { outcomeForm } from './what-if.js';

const { leads, heldOutOneIn, leadsWithTrait, additions } = suggestionLimits;

export const startSuggestion = defineRoute({
  name: 'startSuggestion',
  method: 'POST',
  path: '/scoring/suggest',
  owner: 'scoring',
  kind: 'command',
  access: editor,
  tag: 'Scoring configuration',
  summary: 'Have rules suggested that tell good leads from others',
  description: `A job learns from the recorded history which rules go with the outcome, and changes nothing: its \`result\` (GET /jobs/{id}) holds \`changes\` that POST /scoring/what-if takes as they are. It weighs what a lead did, or what its profile said, before its outcome: rules that there are, and new ones from event types, and from single properties of events or fields of profiles. A weight of 10 points doubles the odds of the outcome, all other suggested rules being equal (logistic regression with a penalty on large weights). At least ${String(leadsWithTrait)} leads, and one in a hundred, must have what a rule is about, and as many must lack it; up to ${String(additions)} new rules are suggested. Of more than ${new Intl.NumberFormat('en').format(leads)} leads a sample by lead id is read. One lead in ${String(heldOutOneIn)} is held out, and \`held_out\` says how well the suggestion judges those leads. An organizational unit has one such job at a time; another is refused (409 \`job_running\`, which names it). \`total\` and \`done\` count records of the log that are read; each is read for three purposes.`,
  body: inOrder({
    outcome: outcomeForm,
    from: moment.optional().describe('Events that happened earlier do not count. Default: all count.'),
    to: moment.optional().describe('Events that happened then or later do not count. Default: now.'),
    dimension: z
      .enum(levelledScoreTypes, 'must be engagement or profile')
      .describe(
        'The score whose rules are suggested. For profile, mappings say which fields profiles have, and a profile ruleset must take the rules.',
      ),
  }).meta({
    id: 'SuggestionForm',
    example: { outcome: { event_type: 'Deal Won' }, dimension: 'engagement' },
  }),
  responses: {
    202: {
      description: 'The job has begun',
      schema: z.strictObject({ job_id: jobId }).meta({ id: 'SuggestionStarted' }),
    },
  },
  problems: ['job_running', 'ruleset_not_found'],
});

const count = z.int().min(0);
const rate = z.number().min(0).max(1);
const counted = z.strictObject({ leads: count, won: count.describe('Of these, leads with the outcome.') });

const separation = {
  auc: rate
    .nullable()
    .describe(
      'How likely a lead with the outcome has a higher score than one without, ties counting half. null where all leads are of one kind.',
    ),
  auc_interval: z
    .strictObject({ low: rate, high: rate })
    .nullable()
    .describe('The 95 % confidence interval of `auc`, by the method of DeLong and others (1988).'),
};

export const suggestionResult = z
  .strictObject({
    changes: z
      .array(draftChange)
      .max(whatIfLimits.changes)
      .describe(
        'For POST /scoring/what-if, as they are, with the dimension as `score_type`; empty where nothing goes with the outcome clearly enough. Each suggested rule counts once a lead. A rule whose effect is nothing is switched off; rules that are not named stay as they are.',
      ),
    support: z
      .array(
        z
          .strictObject({
            with: counted.describe('Leads that had what the rule is about before the outcome.'),
            without: counted.describe('Leads that did not.'),
            odds_ratio: z
              .number()
              .min(0)
              .describe(
                'By how much having it multiplies the odds of the outcome, all other suggested rules being equal.',
              ),
          })
          .meta({ id: 'SuggestionSupport' }),
      )
      .max(whatIfLimits.changes)
      .describe('Of each change, in the same order.'),
    learned_from: counted,
    held_out: z
      .strictObject({
        leads: count,
        won: count,
        ...separation,
        live: z.strictObject(separation).describe('The same of the rules that are live now.'),
      })
      .describe('Of the leads that were held out: what a what-if of the changes would say of them.'),
    configuration_version: z.int().min(0).describe('Of the rules that the suggestion changes.'),
    overtaken: z.boolean().describe('Whether the configuration has changed since the job began.'),
  })
  .describe('What a completed suggestion has learned.')
  .meta({ id: 'SuggestionResult' });
export type SuggestionResult = z.infer<typeof suggestionResult>;
