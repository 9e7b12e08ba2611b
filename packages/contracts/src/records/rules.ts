// Commands and events that change or delete rules and rulesets that exist.
import { z } from 'zod';
import { id } from '../common.js';
import { happened, requested } from '../vocabulary/actor.js';
import { attributeFilter } from '../vocabulary/filters.js';
import { defineRecord, type PayloadOf } from './record.js';
import { ruleCreated, ruleFields } from './scoring.js';

type ChangeOf<Field> =
  Field extends z.ZodOptional<infer Inner extends z.ZodType>
    ? z.ZodOptional<z.ZodNullable<Inner>>
    : Field extends z.ZodType
      ? z.ZodOptional<Field>
      : never;

/** The fields of a change: each may be absent, and null removes a field that the resource need not have. */
export function changesOf<Shape extends Readonly<Record<string, z.ZodType>>>(
  shape: Shape,
): { [Name in keyof Shape]: ChangeOf<Shape[Name]> } {
  const changes = Object.entries(shape).map(([name, field]): [string, z.ZodType] => {
    if (!(field instanceof z.ZodOptional)) return [name, field.optional()];
    const change = (field.unwrap() as z.ZodType).nullable().optional();
    return [name, change.describe([field.description, 'null removes it.'].filter(Boolean).join(' '))];
  });
  return Object.fromEntries(changes) as { [Name in keyof Shape]: ChangeOf<Shape[Name]> };
}

export const updateRule = defineRecord({
  type: 'UpdateRule',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Change fields of a rule; absent fields stay, and null removes a field.',
  schema: z.strictObject({
    ou_id: id,
    rule_id: id,
    ruleset_id: id.optional(),
    ...changesOf(ruleFields),
    active: z.boolean().optional(),
    conditions: z
      .array(attributeFilter)
      .min(1)
      .max(20)
      .optional()
      .describe('Of a rule over conditions, in place of event_type and attribute_filters.'),
    ...requested,
  }),
});
export type UpdateRule = PayloadOf<typeof updateRule>;

export const deleteRule = defineRecord({
  type: 'DeleteRule',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Delete a rule.',
  schema: z.strictObject({ ou_id: id, rule_id: id, ...requested }),
});
export type DeleteRule = PayloadOf<typeof deleteRule>;

export const deleteRuleset = defineRecord({
  type: 'DeleteRuleset',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Delete a ruleset without rules.',
  schema: z.strictObject({ ou_id: id, ruleset_id: id, ...requested }),
});
export type DeleteRuleset = PayloadOf<typeof deleteRuleset>;

export const ruleUpdated = defineRecord({
  type: 'RuleUpdated',
  topic: 'scoring.events',
  key: 'ou_id',
  description:
    'A rule has these fields and no others; they count for events that are processed from now on. Points given before stay.',
  schema: ruleCreated.schema,
});
export type RuleUpdated = PayloadOf<typeof ruleUpdated>;

export const ruleDeleted = defineRecord({
  type: 'RuleDeleted',
  topic: 'scoring.events',
  key: 'ou_id',
  description: 'A rule is gone, and its id is not used again. Points that it gave stay.',
  schema: z.strictObject({
    ou_id: id,
    rule_id: id,
    version: z.int().min(1).describe('The version of the deletion, one more than the last of the rule.'),
    ...happened,
  }),
});
export type RuleDeleted = PayloadOf<typeof ruleDeleted>;

export const rulesetDeleted = defineRecord({
  type: 'RulesetDeleted',
  topic: 'scoring.events',
  key: 'ou_id',
  description:
    'A ruleset without rules is gone, and its id is not used again. Points of its former rules stay.',
  schema: z.strictObject({
    ou_id: id,
    ruleset_id: id,
    version: z.int().min(1).describe('The version of the deletion, one more than the last of the ruleset.'),
    ...happened,
  }),
});
export type RulesetDeleted = PayloadOf<typeof rulesetDeleted>;

export const ruleRecords = [
  updateRule,
  deleteRule,
  deleteRuleset,
  ruleUpdated,
  ruleDeleted,
  rulesetDeleted,
] as const;
