// The scoring configuration of an OU as one document, by names in place of ids: read it, keep it in a file, review it, and put it back.
import { z } from 'zod';
import { inOrder, integerParameter, name } from '../common.js';
import {
  configurationFile,
  configurationSections,
  fileDecay,
  fileLimits,
} from '../records/configuration-file.js';
import { profileRuleFields } from '../records/profile-scoring.js';
import { rulesetLimitForm } from '../records/rule-limits.js';
import { defaultLevelColor, levelFields, maximumLevels } from '../records/scoring.js';
import { gridForm } from '../vocabulary/grid.js';
import { documentFilterForm } from '../vocabulary/lead-filter-forms.js';
import { rollUpForm } from './account-scoring.js';
import { profileConditions } from './profile-rules.js';
import { mappingForm } from './profile-scoring.js';
import { defineRoute, editor, viewer } from './route.js';
import { ruleForm } from './scoring-configuration.js';

const tag = 'Scoring configuration';
const path = '/scoring/configuration';

/** A list in the document. */
const section = <Item extends z.ZodType>(item: Item, limit: number, plural: string) =>
  z.array(item).max(limit, `must be at most ${String(limit)} ${plural}`);

const rulesets = <Rule extends z.ZodType>(rule: Rule, named: string) =>
  section(
    z
      .strictObject({
        name: name(100).describe('Names the ruleset: one ruleset has it, whatever the case.'),
        active: z.boolean().default(true),
        ...rulesetLimitForm,
        rules: section(rule, fileLimits.rules, 'rules').default([]),
      })
      .meta({ id: named }),
    fileLimits.rulesets,
    'rulesets',
  );

export const levelSection = section(
  inOrder({
    ...levelFields,
    min_score: levelFields.min_score.default(null),
    max_score: levelFields.max_score.default(null),
    color: levelFields.color.default(defaultLevelColor),
  }).meta({ id: 'ConfigurationLevel' }),
  maximumLevels,
  'levels',
);

export const decaySection = section(
  fileDecay.meta({ id: 'ConfigurationDecay' }),
  fileLimits.decays,
  'decay rules',
);

const rule = inOrder(ruleForm).meta({ id: 'ConfigurationRule' });
const conditionRule = z
  .strictObject({ conditions: profileConditions, ...profileRuleFields })
  .meta({ id: 'ConfigurationConditionRule' });
const conditionRulesets = rulesets(conditionRule, 'ConfigurationConditionRuleset');
const mapping = z.strictObject(mappingForm).meta({ id: 'ConfigurationMapping' });
const filter = z
  .strictObject({
    name: name(100).describe('Names the filter: one filter has it, whatever the case.'),
    conditions: documentFilterForm,
  })
  .meta({ id: 'ConfigurationFilter' });

const documentForm = z
  .strictObject({
    engagement_rulesets: rulesets(rule, 'ConfigurationRuleset').optional(),
    engagement_levels: levelSection.optional(),
    decays: decaySection.optional(),
    profile_mappings: section(mapping, fileLimits.mappings, 'mappings')
      .optional()
      .describe(
        'In their order: of several mappings that feed one field, the first that finds a value wins.',
      ),
    profile_rulesets: conditionRulesets.optional(),
    profile_levels: levelSection.optional(),
    account_rulesets: conditionRulesets.optional(),
    account_roll_up: rollUpForm
      .nullable()
      .optional()
      .describe('How the scores of leads make points of their account; null: as if it had never been set.'),
    account_levels: levelSection.optional(),
    deal_rulesets: conditionRulesets.optional(),
    grid: gridForm.nullable().optional().describe('null takes the grid away.'),
    filters: section(filter, fileLimits.filters, 'filters').optional(),
  })
  .refine(
    (document) => Object.values(document).some((part) => part !== undefined),
    `must hold a section: ${configurationSections.join(', ')}`,
  )
  .meta({
    id: 'ScoringConfigurationForm',
    minProperties: 1,
    example: {
      engagement_rulesets: [
        {
          name: 'Intent',
          max_score: 100,
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
      decays: [{ name: 'Two quiet weeks', mode: 'inactivity_points', points: -5, interval_days: 14 }],
      profile_mappings: [{ field: 'seniority', source: 'metadata.job_title', transform: 'lower' }],
      profile_rulesets: [
        {
          name: 'Fit',
          rules: [
            {
              conditions: [{ field: 'seniority', operator: 'contains', value: ['vp', 'chief'] }],
              weight: 20,
            },
          ],
        },
      ],
      account_rulesets: [
        {
          name: 'Companies',
          rules: [{ conditions: [{ field: 'leads', operator: 'gte', value: 3 }], weight: 25 }],
        },
      ],
      account_roll_up: { method: 'top', leads: 3 },
      grid: { profile: { A: 60, B: 30, C: 10 }, engagement: { 1: 80, 2: 40, 3: 10 } },
      filters: [
        {
          name: 'Hot by intent',
          conditions: {
            all: [
              { field: 'level', operator: 'equals', value: 'Hot' },
              { field: 'ruleset_score', ruleset: 'Intent', operator: 'gte', value: 20 },
            ],
          },
        },
      ],
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
    'Rulesets with their rules, levels, decay rules, mappings, the roll-up of accounts, the grid and saved filters, in the form that PUT takes: by names in place of ids, so that it can be kept in a file, reviewed, and put into another organizational unit. The ETag is the version of the configuration.',
  entityTag: true,
  query: z.strictObject({
    version: integerParameter(0, 2_147_483_647)
      .optional()
      .describe(
        'An earlier version; 0 is the one before the first change. Without it: the configuration in force.',
      ),
  }),
  responses: {
    200: { description: 'The document', schema: configurationFile.meta({ id: 'ScoringConfiguration' }) },
  },
  problems: ['configuration_version_not_found'],
});

/** A value of a field, as a person reads it. */
const shownValue = z.string().max(200).nullable();

const change = z
  .strictObject({
    section: z.enum(configurationSections),
    kind: z.enum(['ruleset', 'rule', 'levels', 'decay', 'mapping', 'roll_up', 'grid', 'filter']),
    action: z.enum(['add', 'change', 'remove']),
    ruleset: z.string().max(100).optional().describe('Of a rule: the ruleset that it is in.'),
    name: z
      .string()
      .max(300)
      .describe(
        "A rule's label, or without one what it matches; a mapping's field and source; else the name.",
      ),
    fields: z
      .array(z.strictObject({ field: z.string().max(50), before: shownValue, after: shownValue }))
      .max(50)
      .optional()
      .describe('What a change changes; null where there is no such field.'),
  })
  .meta({ id: 'ConfigurationChange' });
export type ConfigurationChange = z.infer<typeof change>;

const count = z.int().min(0);

const sectionChanges = z
  .strictObject({
    section: z.enum(configurationSections),
    added: count,
    changed: count,
    removed: count,
  })
  .meta({ id: 'ConfigurationSectionChanges' });
export type ConfigurationSectionChanges = z.infer<typeof sectionChanges>;

export const configurationChanges = z
  .strictObject({
    dry_run: z.boolean(),
    version: z.int().min(0).describe('The version of the configuration after the change.'),
    total: count.describe('All changes.'),
    sections: z
      .array(sectionChanges)
      .max(configurationSections.length)
      .describe('How many changes each section of the document makes.'),
    changes: z.array(change).max(2_000).describe('The first of them, as many as an answer holds.'),
  })
  .meta({ id: 'ConfigurationChanges' });

export const dryRunQuery = z.strictObject({
  dry_run: z.enum(['true', 'false']).default('false').describe('Only say what would change.'),
});

export const putConfiguration = defineRoute({
  name: 'putConfiguration',
  method: 'PUT',
  path,
  owner: 'scoring',
  kind: 'command',
  access: editor,
  tag,
  summary: 'Make the scoring configuration equal to a document',
  description: `One change with one author: everything in the document takes effect, or, when a part is refused, nothing. A section that is absent (\`${configurationSections.join('`, `')}\`) stays as it is; one that is there is the whole: what is not in it is removed, and its points stay. Within a section an absent field has its default: a ruleset without \`max_score\` has no such limit. Rulesets, levels, decay rules and filters are found again by their names; a rule by its whole content, else by its label, else by what it matches; then it keeps its id and history. A mapping that is changed, or comes before another of its field that it came after, is made anew. Decay rules and conditions of filters name rulesets (\`ruleset\`). The same document again changes nothing. With \`dry_run=true\` it only says what would change. With \`If-Match\` it is refused (412) if somebody has changed the configuration since it was read. At most 1 MB; put the sections of a larger document one after the other.`,
  entityTag: true,
  query: dryRunQuery,
  body: documentForm,
  responses: {
    200: {
      description: 'What has changed, or would change',
      schema: configurationChanges,
    },
  },
  problems: [
    'duplicate_name',
    'duplicate_mapping',
    'limit_reached',
    'levels_overlap',
    'level_not_found',
    'grid_not_found',
    'ruleset_not_found',
    'ruleset_not_empty',
    'configuration_changed',
  ],
});
