// The scoring configuration of an OU as one document, by names in place of ids: read it, keep it in a file, review it, and put it back.
import { z } from 'zod';
import { inOrder, name } from '../common.js';
import { configurationFile, fileLimits } from '../records/configuration-file.js';
import { levelFields, maximumLevels } from '../records/scoring.js';
import { defineRoute, editor, viewer } from './route.js';
import { ruleForm } from './scoring-configuration.js';

const tag = 'Scoring configuration';
const path = '/scoring/configuration';

const ruleset = z.strictObject({
  name: name(100).describe('Names the ruleset: one ruleset has it, whatever the case.'),
  active: z.boolean().default(true),
  rules: z
    .array(inOrder(ruleForm).meta({ id: 'ConfigurationRule' }))
    .max(fileLimits.rules, `must be at most ${String(fileLimits.rules)} rules`)
    .default([]),
});

const level = inOrder({
  ...levelFields,
  min_score: levelFields.min_score.default(null),
  max_score: levelFields.max_score.default(null),
});

const documentForm = z
  .strictObject({
    engagement_rulesets: z
      .array(ruleset.meta({ id: 'ConfigurationRuleset' }))
      .max(fileLimits.rulesets, `must be at most ${String(fileLimits.rulesets)} rulesets`)
      .optional(),
    engagement_levels: z
      .array(level.meta({ id: 'ConfigurationLevel' }))
      .max(maximumLevels, `must be at most ${String(maximumLevels)} levels`)
      .optional(),
  })
  .refine(
    (document) => Object.values(document).some((section) => section !== undefined),
    'must hold a section: engagement_rulesets or engagement_levels',
  )
  .meta({
    id: 'ScoringConfigurationForm',
    minProperties: 1,
    example: {
      engagement_rulesets: [
        {
          name: 'Intent',
          rules: [
            {
              label: 'Visited the pricing page',
              event_type: 'Page View',
              weight: 10,
              attribute_filters: [{ field: 'path', operator: 'contains', value: '/pricing' }],
            },
            { label: 'Unsubscribed', event_type: 'Unsubscribe', weight: -20 },
          ],
        },
      ],
      engagement_levels: [{ name: 'Hot', min_score: 50, color: '#e8590c' }],
    },
  });

export const getConfiguration = defineRoute({
  name: 'getConfiguration',
  method: 'GET',
  path,
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag,
  summary: 'The scoring configuration as one document',
  description:
    'Engagement rulesets with their rules, and engagement levels, in the form that PUT takes: without ids, so that it can be kept in a file, reviewed, and put into another organizational unit. The ETag is the version of the configuration.',
  entityTag: true,
  responses: {
    200: { description: 'The document', schema: configurationFile.meta({ id: 'ScoringConfiguration' }) },
  },
  problems: [],
});

/** A value of a field, as a person reads it. */
const shownValue = z.string().max(200).nullable();

const change = z
  .strictObject({
    kind: z.enum(['ruleset', 'rule', 'engagement_levels']),
    action: z.enum(['add', 'change', 'remove']),
    ruleset: z.string().max(100).optional().describe('Of a rule: the ruleset that it is in.'),
    name: z.string().max(200).describe("A rule's label; without one its event type and filters."),
    fields: z
      .array(z.strictObject({ field: z.string().max(50), before: shownValue, after: shownValue }))
      .max(50)
      .optional()
      .describe('What a change changes; null where there is no such field.'),
  })
  .meta({ id: 'ConfigurationChange' });
export type ConfigurationChange = z.infer<typeof change>;

export const putConfiguration = defineRoute({
  name: 'putConfiguration',
  method: 'PUT',
  path,
  owner: 'scoring',
  kind: 'command',
  access: editor,
  tag,
  summary: 'Make the scoring configuration equal to a document',
  description:
    'One change with one author: everything in the document takes effect, or, when a part is refused, nothing. A section that is absent (`engagement_rulesets`, `engagement_levels`) stays as it is; one that is there is the whole: what is not in it is removed, and its points stay. A rule that is found again keeps its id and history: by its whole content, else by its label, else by its event type and filters. The same document again changes nothing. With `dry_run=true` it only says what would change. With `If-Match` it is refused (412) if somebody has changed the configuration since it was read.',
  entityTag: true,
  query: z.strictObject({
    dry_run: z.enum(['true', 'false']).default('false').describe('Only say what would change.'),
  }),
  body: documentForm,
  responses: {
    200: {
      description: 'What has changed, or would change',
      schema: z
        .strictObject({
          dry_run: z.boolean(),
          version: z.int().min(0).describe('The version of the configuration after the change.'),
          total: z.int().min(0).describe('All changes.'),
          changes: z.array(change).max(2_000).describe('The first of them, as many as an answer holds.'),
        })
        .meta({ id: 'ConfigurationChanges' }),
    },
  },
  problems: ['duplicate_name', 'limit_reached', 'levels_overlap', 'already_deleted', 'configuration_changed'],
});
