// What if: the recorded history of an OU, replayed by the live rules and by a draft of changes, without touching a live score.
import { z } from 'zod';
import { id, inOrder, moment, name, score } from '../common.js';
import { jobId } from '../records/job-id.js';
import { profileRuleFields } from '../records/profile-scoring.js';
import { changesOf } from '../records/rules.js';
import { whatIfLimits } from '../records/what-if.js';
import { attributeFilterForm } from '../vocabulary/filter-forms.js';
import { levelledScoreTypes } from '../vocabulary/score-types.js';
import { triggerKind } from '../vocabulary/webhook.js';
import {
  countedLeads,
  countedMoves,
  maximumBands,
  moversOf,
  reasonOfMove,
  reasonsOfMove,
} from './compared-leads.js';
import { decaySection, levelSection } from './configuration-file.js';
import { profileConditions } from './profile-rules.js';
import { pictureWidth, pngText } from './picture.js';
import { defineRoute, editor, viewer } from './route.js';
import { ruleForm } from './scoring-configuration.js';

const tag = 'Scoring configuration';

const addedRule = z.union([
  inOrder({
    ruleset_id: id.optional().describe('An engagement ruleset. Default: the default ruleset.'),
    ...ruleForm,
  }).meta({ id: 'WhatIfEngagementRule' }),
  z
    .strictObject({
      ruleset_id: id.describe('A ruleset with score_type profile.'),
      conditions: profileConditions,
      ...profileRuleFields,
    })
    .meta({ id: 'WhatIfProfileRule' }),
]);

const changedRule = inOrder({
  ruleset_id: id.optional(),
  ...changesOf(ruleForm),
  active: z.boolean().optional(),
  conditions: profileConditions.optional(),
})
  .refine((rule) => Object.values(rule).some((value) => value !== undefined), 'must hold a field to change')
  .meta({ id: 'WhatIfRuleChange', minProperties: 1 });

const change = z
  .discriminatedUnion('op', [
    z.strictObject({ op: z.literal('add'), rule: addedRule }).meta({ id: 'WhatIfAddition' }),
    z
      .strictObject({ op: z.literal('change'), rule_id: id, rule: changedRule })
      .meta({ id: 'WhatIfReplacement' }),
    z.strictObject({ op: z.literal('remove'), rule_id: id }).meta({ id: 'WhatIfRemoval' }),
  ])
  .meta({ id: 'WhatIfChange' });

export const outcomeForm = z
  .union([
    z
      .strictObject({ event_type: name(100).describe('A lead has the outcome with its first such event.') })
      .meta({ id: 'OutcomeEventType' }),
    attributeFilterForm,
  ])
  .describe(
    'What a good lead comes to: an event type, or a condition that the metadata of an event meets. What a lead did before the earliest such event is what its score is judged by: events of the same moment do not count, nor does the event itself.',
  );

/** A draft of changed rules, and what it is compared by. */
export const draftForm = {
  changes: z
    .array(change)
    .max(whatIfLimits.changes, `must be at most ${String(whatIfLimits.changes)} changes`)
    .describe('Rules that are added, changed or removed; a rule is named once.'),
  levels: levelSection
    .optional()
    .describe('All levels of the score, in the form of PUT /scoring/configuration. Absent: as they are.'),
  decays: decaySection
    .optional()
    .describe('All decay rules, in the form of PUT /scoring/configuration. Absent: as they are.'),
  score_type: z
    .enum(levelledScoreTypes, 'must be engagement or profile')
    .default('engagement')
    .describe('The score that the result is about.')
    .meta({ default: 'engagement' }),
  outcome: outcomeForm.optional(),
  threshold: score
    .optional()
    .describe('With an outcome: how good is it to call all leads with this score and above?'),
};

export function hasOutcomeForThreshold({ threshold, outcome }: { threshold?: unknown; outcome?: unknown }) {
  return threshold === undefined || outcome !== undefined;
}

export const outcomeIsMissing = {
  path: ['threshold'],
  error: 'must be absent without an outcome: nothing says whether a lead was worth a call',
};

export function namesRulesOnce({ changes }: { readonly changes: readonly z.output<typeof change>[] }) {
  const ids = changes.flatMap((one) => (one.op === 'add' ? [] : [one.rule_id.toLowerCase()]));
  return new Set(ids).size === ids.length;
}

export const ruleIsNamedTwice = {
  path: ['changes'],
  error: 'must name a rule once: put all changes of a rule into one',
};

/** Why a draft may be refused. */
export const draftProblems = [
  'rule_not_found',
  'ruleset_not_found',
  'already_deleted',
  'duplicate_name',
  'levels_overlap',
  'limit_reached',
] as const;

export const startWhatIf = defineRoute({
  name: 'startWhatIf',
  method: 'POST',
  path: '/scoring/what-if',
  owner: 'scoring',
  kind: 'command',
  access: editor,
  tag,
  summary: 'Try a draft of changed rules on the recorded history',
  description:
    'A job replays the recorded history twice, by the live rules and by the draft, and touches no live score. GET /jobs/{id} shows how far it is (`total` and `done` count records of the log that it reads) and, when it is completed, its `result`. Both sides take their rules as if they had always been in force, decay rules and levels too: so `live` is the present scores only where the rules have not changed since the first event. An organizational unit has one what-if at a time; another is refused (409 `job_running`, which names it). Rules of accounts and deals are not replayed.',
  body: inOrder({
    from: moment.optional().describe('Events that happened earlier do not count. Default: all count.'),
    to: moment.optional().describe('Events that happened then or later do not count. Default: now.'),
    ...draftForm,
  })
    .refine(hasOutcomeForThreshold, outcomeIsMissing)
    .refine(namesRulesOnce, ruleIsNamedTwice)
    .meta({
      id: 'WhatIfForm',
      example: {
        changes: [{ op: 'add', rule: { event_type: 'Page View', weight: 15, label: 'Pricing' } }],
        outcome: { event_type: 'Deal Won' },
      },
    }),
  responses: {
    202: {
      description: 'The job has begun',
      schema: z.strictObject({ job_id: jobId }).meta({ id: 'WhatIfStarted' }),
    },
  },
  problems: ['job_running', ...draftProblems],
});

export const applyWhatIf = defineRoute({
  name: 'applyWhatIf',
  method: 'POST',
  path: '/scoring/what-if/{job}/apply',
  owner: 'scoring',
  kind: 'command',
  access: editor,
  tag,
  summary: 'Make the draft of a what-if live',
  description:
    'One change with one author: all changes of the draft take effect or, when one is refused, none. They count as any change of rules does: for what comes from now on. Refused (409 `rules_changed`) when anything in the configuration has changed since the what-if began, because its result is then about other rules. The same request again changes nothing.',
  parameters: z.strictObject({ job: jobId }),
  responses: {
    200: {
      description: 'The draft is live',
      schema: z
        .strictObject({
          job_id: jobId,
          version: z.int().min(0).describe('The version of the configuration with the draft in it.'),
        })
        .meta({ id: 'WhatIfApplied' }),
    },
  },
  problems: ['job_not_found', 'job_not_completed', 'rules_changed', 'limit_reached'],
});

const picture = {
  method: 'GET',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag,
  parameters: z.strictObject({ job: jobId }),
  query: z.strictObject({
    chart: z
      .enum(['distribution', 'conversion', 'roc'], 'must be distribution, conversion or roc')
      .default('distribution')
      .describe(
        'distribution: leads by score; conversion: the share with the outcome by score; roc: the ROC curves.',
      )
      .meta({ default: 'distribution' }),
    width: pictureWidth,
  }),
  problems: ['job_not_found', 'job_not_completed'],
} as const;

export const drawWhatIf = defineRoute({
  ...picture,
  name: 'drawWhatIf',
  path: '/scoring/what-if/{job}/picture.svg',
  summary: 'The result of a what-if, as a picture',
  description:
    'Live rules and draft side by side, drawn for a width, light or dark as the reader has it, with everything that it shows in words for screen readers, and without scripts. Without an outcome, the charts about it say that there is nothing to draw.',
  responses: { 200: { description: 'SVG', contentType: 'image/svg+xml' } },
});

export const paintWhatIf = defineRoute({
  ...picture,
  name: 'paintWhatIf',
  path: '/scoring/what-if/{job}/picture.png',
  summary: 'The result of a what-if, as a PNG',
  description: `The picture of GET /scoring/what-if/{job}/picture.svg. ${pngText}`,
  responses: { 200: { description: 'PNG', contentType: 'image/png' } },
});

const count = z.int().min(0);
const rate = z.number().min(0).max(1);

const side = z
  .strictObject({
    ...countedLeads,
    auc: rate
      .nullable()
      .optional()
      .describe(
        'With an outcome: how likely a lead with the outcome has a higher score than one without, ties counting half. null where all leads are of one kind.',
      ),
    auc_interval: z
      .strictObject({ low: rate, high: rate })
      .nullable()
      .optional()
      .describe('The 95 % confidence interval of `auc`, by the method of DeLong and others (1988).'),
    lift_top_decile: z
      .number()
      .min(0)
      .nullable()
      .optional()
      .describe(
        'How many times as often the best tenth of the leads had the outcome as all did; of leads with one score at its edge a share counts.',
      ),
    conversion_by_band: z
      .array(z.strictObject({ from: score, to: score, leads: count, won: count }))
      .max(maximumBands)
      .optional(),
    roc: z
      .array(z.strictObject({ threshold: score, tpr: rate, fpr: rate }))
      .max(201)
      .optional()
      .describe(
        'Of the leads with the outcome (tpr) and of the others (fpr), the share with this score or a higher one; from the highest score down, ready to plot from the point 0, 0.',
      ),
    at_threshold: z
      .strictObject({
        threshold: score,
        leads: count.describe('Leads with this score or a higher one.'),
        precision: rate.nullable().describe('The share of them with the outcome; null where there are none.'),
        recall: rate.nullable().describe('The share of all leads with the outcome that are among them.'),
      })
      .optional(),
  })
  .meta({ id: 'WhatIfSide' });
export type WhatIfSide = z.infer<typeof side>;

const reason = z
  .strictObject({
    ...reasonOfMove,
    live: z.int().describe('The points that the live rules give.'),
    draft: z.int().describe('The points that the draft gives.'),
  })
  .meta({ id: 'WhatIfReason' });

const mover = z
  .strictObject({
    lead_id: id,
    name: z.string().max(512),
    live: score,
    draft: score,
    why: reasonsOfMove(reason),
  })
  .meta({ id: 'WhatIfMover' });

export const whatIfResult = z
  .strictObject({
    configuration_version: z.int().min(0).describe('Of the rules that the draft changes.'),
    overtaken: z
      .boolean()
      .describe(
        'Whether the configuration has changed since the job began: the result is then about earlier rules, and its draft is not applied.',
      ),
    ...countedMoves,
    leads: count.describe('Leads with an event that counts.'),
    live: side,
    draft: side,
    movers: moversOf(mover),
    triggers: z
      .array(
        z.strictObject({
          id,
          name: z.string().max(100),
          kind: triggerKind,
          live: count.describe('How often it would have fired by the live rules.'),
          draft: count.describe('How often it would have fired by the draft.'),
        }),
      )
      .max(whatIfLimits.triggers)
      .describe(
        'The active triggers by scores of leads, surges and sequences, those of which most changes first. Each counts as if it had always been there and every event had been received at its own time, imported ones too, as in a simulation of the trigger. Left out are triggers by account score, because an account has leads of every partition and a what-if replays the leads of one partition at a time, and triggers that were changed or deleted since the what-if began.',
      ),
  })
  .describe(
    'What a completed what-if has found. Scores of 1,024 and more are counted in steps of at most 0.2 %.',
  )
  .meta({ id: 'WhatIfResult' });
export type WhatIfResult = z.infer<typeof whatIfResult>;
