// The command that makes an OU's scoring configuration equal to a document. What comes of it are the events of the single changes.
import { z } from 'zod';
import { id, name } from '../common.js';
import { rollUp } from '../vocabulary/accounts.js';
import { requested } from '../vocabulary/actor.js';
import { decayForm } from '../vocabulary/decay.js';
import { attributeFilter } from '../vocabulary/filters.js';
import { grid } from '../vocabulary/grid.js';
import { documentFilterGroup } from '../vocabulary/lead-filters.js';
import { mappingFields } from '../vocabulary/profile.js';
import { profileRuleFields, recordedConditions } from './profile-scoring.js';
import { defineRecord, type PayloadOf } from './record.js';
import { rulesetLimitForm } from './rule-limits.js';
import { levelFields, maximumLevels, ruleFields } from './scoring.js';

/**
 * The most that a document may hold of each. An organizational unit may hold less of most: then the document is refused as the single
 * request would be.
 */
export const fileLimits = { rulesets: 1_000, rules: 5_000, mappings: 200, decays: 100, filters: 500 };

/** A rule in a document: it has no id, and is found again by its content. */
const fileRule = z.strictObject({
  ...ruleFields,
  attribute_filters: z.array(attributeFilter).max(20).optional(),
});

const fileConditionRule = z.strictObject({ conditions: recordedConditions, ...profileRuleFields });

const rulesetWith = <Rule extends z.ZodType>(rule: Rule) =>
  z.strictObject({
    name: name(100),
    active: z.boolean(),
    ...rulesetLimitForm,
    rules: z.array(rule).max(fileLimits.rules),
  });

const fileLevels = z.array(z.strictObject(levelFields)).max(maximumLevels);

/** A decay rule in a document: it names its ruleset. */
export const fileDecay = z
  .strictObject({
    name: name(100).describe('Names the decay rule: one has it, whatever the case.'),
    ...decayForm,
  })
  .omit({ ruleset_id: true })
  .extend({
    ruleset: name(100)
      .optional()
      .describe(
        "The name of the engagement ruleset whose points fade. Without it the lead's whole score does.",
      ),
  });

const fileFilter = z.strictObject({ name: name(100), conditions: documentFilterGroup });

/** A section that is absent stays as it is; one that is there is the whole of its kind. */
export const configurationFile = z.strictObject({
  engagement_rulesets: z.array(rulesetWith(fileRule)).max(fileLimits.rulesets).optional(),
  engagement_levels: fileLevels.optional(),
  decays: z.array(fileDecay).max(fileLimits.decays).optional(),
  profile_mappings: z.array(z.strictObject(mappingFields)).max(fileLimits.mappings).optional(),
  profile_rulesets: z.array(rulesetWith(fileConditionRule)).max(fileLimits.rulesets).optional(),
  profile_levels: fileLevels.optional(),
  account_rulesets: z.array(rulesetWith(fileConditionRule)).max(fileLimits.rulesets).optional(),
  account_roll_up: rollUp
    .nullable()
    .optional()
    .describe(
      'How the scores of leads make points of their account. null: it was never set; that is sum where there is an active account ruleset, else none.',
    ),
  account_levels: fileLevels.optional(),
  deal_rulesets: z.array(rulesetWith(fileConditionRule)).max(fileLimits.rulesets).optional(),
  grid: grid.nullable().optional().describe('null: there is none.'),
  filters: z.array(fileFilter).max(fileLimits.filters).optional(),
});
export type ConfigurationFile = z.infer<typeof configurationFile>;
export type ConfigurationSection = keyof ConfigurationFile;
export type FileRule = z.infer<typeof fileRule>;
export type FileConditionRule = z.infer<typeof fileConditionRule>;
export type FileRuleset<Rule> = Omit<
  NonNullable<ConfigurationFile['engagement_rulesets']>[number],
  'rules'
> & { rules: Rule[] };
export type FileMapping = NonNullable<ConfigurationFile['profile_mappings']>[number];
export type FileLevel = z.infer<typeof fileLevels>[number];
export type FileDecay = z.infer<typeof fileDecay>;
export type FileFilter = z.infer<typeof fileFilter>;

export const configurationSections = Object.keys(configurationFile.shape) as [
  ConfigurationSection,
  ...ConfigurationSection[],
];

export const applyConfiguration = defineRecord({
  type: 'ApplyConfiguration',
  topic: 'scoring.commands',
  key: 'ou_id',
  description:
    'Make the scoring configuration equal to a document: all of its changes or, when one is refused, none.',
  schema: z.strictObject({
    ou_id: id,
    change_id: id.describe('Of this request; the ids of what it creates follow from it.'),
    configuration: configurationFile,
    dry_run: z.boolean().describe('Only say what would change.'),
    expected_version: z
      .int()
      .min(0)
      .optional()
      .describe('Refuse the document if the configuration has another version.'),
    ...requested,
  }),
});
export type ApplyConfiguration = PayloadOf<typeof applyConfiguration>;

export const configurationFileRecords = [applyConfiguration] as const;
