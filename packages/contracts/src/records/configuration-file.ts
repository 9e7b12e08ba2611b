// The command that makes an OU's scoring configuration equal to a document. What comes of it are the events of the single changes.
import { z } from 'zod';
import { id, name } from '../common.js';
import { requested } from '../vocabulary/actor.js';
import { attributeFilter } from '../vocabulary/filters.js';
import { defineRecord, type PayloadOf } from './record.js';
import { levelFields, maximumLevels, ruleFields } from './scoring.js';

export const fileLimits = { rulesets: 200, rules: 1_000 };

/** A rule in a document: it has no id, and is found again by its content. */
const fileRule = z.strictObject({
  ...ruleFields,
  attribute_filters: z.array(attributeFilter).max(20).optional(),
});

const fileRuleset = z.strictObject({
  name: name(100),
  active: z.boolean(),
  rules: z.array(fileRule).max(fileLimits.rules),
});

/** A section that is absent stays as it is; one that is there is the whole of its kind. */
export const configurationFile = z.strictObject({
  engagement_rulesets: z.array(fileRuleset).max(fileLimits.rulesets).optional(),
  engagement_levels: z.array(z.strictObject(levelFields)).max(maximumLevels).optional(),
});
export type ConfigurationFile = z.infer<typeof configurationFile>;
export type FileRuleset = z.infer<typeof fileRuleset>;
export type FileRule = z.infer<typeof fileRule>;

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
