// Challengers: drafts of changed rules that run in shadow beside the live rules, on what comes in from their start on.
import { z } from 'zod';
import { id, inOrder, name, time } from '../common.js';
import { challengerLimits } from '../records/challengers.js';
import { comparedFields, draftFields } from '../records/what-if.js';
import { actor } from '../vocabulary/actor.js';
import { configurationChanges, dryRunQuery } from './configuration-file.js';
import { defineRoute, editor, viewer } from './route.js';
import {
  draftForm,
  draftProblems,
  hasOutcomeForThreshold,
  namesRulesOnce,
  outcomeIsMissing,
  ruleIsNamedTwice,
  whatIfResult,
} from './what-if.js';

const own = { owner: 'scoring', tag: 'Scoring configuration' } as const;
const read = { ...own, kind: 'query', access: viewer } as const;
const write = { ...own, kind: 'command', access: editor } as const;
const parameters = z.strictObject({ id });
const most = String(challengerLimits.running);

const challengerFields = {
  id,
  name: z.string().max(challengerLimits.name),
  started_at: time.describe('Events that happened earlier do not count.'),
  started_by: actor.optional(),
  score_type: comparedFields.score_type,
  configuration_version: z.int().min(0).describe('Of the rules that the draft changes.'),
  overtaken: z
    .boolean()
    .describe(
      'Whether the configuration has changed since the challenger began: its figures are then about earlier rules, and its draft is not applied.',
    ),
  as_of: time
    .nullable()
    .describe(
      'What was recorded by then is in the figures; null: they were not computed yet. New events are in them at the latest 5 seconds later, plus ten times as long as it takes to compute the figures of all challengers that have something new.',
    ),
};

const challenger = z.strictObject(challengerFields).meta({ id: 'Challenger' });
export type Challenger = z.infer<typeof challenger>;

const challengerFigures = z
  .strictObject({
    ...challengerFields,
    ...draftFields,
    outcome: comparedFields.outcome,
    threshold: comparedFields.threshold,
    figures: whatIfResult.nullable().describe('null: they were not computed yet.'),
  })
  .meta({ id: 'ChallengerFigures' });
export type ChallengerFigures = z.infer<typeof challengerFigures>;

export const startChallenger = defineRoute({
  ...write,
  name: 'startChallenger',
  method: 'POST',
  path: '/scoring/challengers',
  summary: 'Run a draft of changed rules in shadow beside the live rules',
  description: `From now on, what comes in is scored by the live rules and by the draft side by side, and GET /scoring/challengers/{id} answers the figures of a what-if, which grow as events and outcomes arrive. No score, level, trigger or any other answer changes. Both sides begin with nothing, as POST /scoring/what-if does with \`from\`: events count that are recorded from now on and did not happen earlier, so that imported history does not count. The live side has the rules of now: a change of the configuration overtakes the challenger. An organizational unit has at most ${most} challengers (409 \`limit_reached\`).`,
  body: inOrder({ name: name(challengerLimits.name), ...draftForm })
    .refine(hasOutcomeForThreshold, outcomeIsMissing)
    .refine(namesRulesOnce, ruleIsNamedTwice)
    .meta({
      id: 'ChallengerForm',
      example: {
        name: 'Pricing counts more',
        changes: [{ op: 'add', rule: { event_type: 'Page View', weight: 15, label: 'Pricing' } }],
        outcome: { event_type: 'Deal Won' },
      },
    }),
  responses: { 201: { description: 'It runs', schema: challenger } },
  problems: [...draftProblems],
});

export const listChallengers = defineRoute({
  ...read,
  name: 'listChallengers',
  method: 'GET',
  path: '/scoring/challengers',
  summary: 'Challengers, oldest first',
  description: `There are at most ${most}. Those that ended or were made live are not among them.`,
  responses: {
    200: {
      description: 'Challengers',
      schema: z
        .strictObject({ data: z.array(challenger).max(challengerLimits.running) })
        .meta({ id: 'Challengers' }),
    },
  },
  problems: [],
});

export const getChallenger = defineRoute({
  ...read,
  name: 'getChallenger',
  method: 'GET',
  path: '/scoring/challengers/{id}',
  summary: 'A challenger with its draft and its figures',
  parameters,
  responses: { 200: { description: 'Challenger', schema: challengerFigures } },
  problems: ['challenger_not_found'],
});

export const applyChallenger = defineRoute({
  ...write,
  name: 'applyChallenger',
  method: 'POST',
  path: '/scoring/challengers/{id}/apply',
  summary: 'Make the draft of a challenger live',
  description:
    'One change with one author, as with POST /scoring/what-if/{job}/apply: all changes of the draft take effect, for what comes from now on, and the challenger ends; or, when one is refused, nothing happens. Refused (409 `rules_changed`) when anything in the configuration has changed since the challenger began, because its figures are then about other rules. The same request again changes nothing. With `dry_run=true` it only says what would change. POST /scoring/configuration/restore goes back to the configuration of before.',
  parameters,
  query: dryRunQuery,
  responses: {
    200: {
      description: 'What has changed, or would change',
      schema: configurationChanges.extend({ id }).meta({ id: 'ChallengerApplied' }),
    },
  },
  problems: ['challenger_not_found', 'rules_changed'],
});

export const endChallenger = defineRoute({
  ...write,
  name: 'endChallenger',
  method: 'DELETE',
  path: '/scoring/challengers/{id}',
  summary: 'End a challenger, and delete its figures',
  parameters,
  responses: { 204: { description: 'Ended' } },
  problems: ['challenger_not_found'],
});
