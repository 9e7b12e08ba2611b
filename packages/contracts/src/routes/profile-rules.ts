// Rules over profiles of leads, as requests send them and as answers hold them.
import { z } from 'zod';
import { id, time, warned } from '../common.js';
import { profileRuleFields } from '../records/profile-scoring.js';
import { actor } from '../vocabulary/actor.js';
import { attributeFilterForms } from '../vocabulary/filter-forms.js';
import { attributeFilter } from '../vocabulary/filters.js';

export const profileRule = z
  .strictObject({
    id,
    ruleset_id: id,
    conditions: z.array(attributeFilter).max(20),
    filter_label: z.string().max(50_000).describe('The conditions in words.'),
    weight: z.int(),
    label: z.string().max(100).optional(),
    active: z.boolean(),
    version: z.int().min(1),
    created_at: time,
    updated_at: time,
    changed_by: actor.optional().describe('Who made the latest change, where it is known.'),
  })
  .meta({ id: 'ProfileRule' });
export type ProfileRule = z.infer<typeof profileRule>;

export const newProfileRule = profileRule.extend(warned).meta({ id: 'NewProfileRule' });

export const profileConditions = attributeFilterForms
  .min(1, 'must hold at least one condition')
  .describe(
    'Conditions on the fields of the profile; all must hold. Fields are those that mappings feed, and name, company, title, owner, phone and email_domain. Conditions of an account rule are on name, key, leads, leads_score, domain, and further fields that events give in metadata.account. Conditions of a deal rule are on id, stage, amount, currency and closed_at of the deal.',
  );

/** The body of POST /rules for a profile, an account or a deal ruleset. */
export const profileRuleForm = z
  .strictObject({
    ruleset_id: id.describe('A ruleset with score_type profile, account or deal.'),
    conditions: profileConditions,
    ...profileRuleFields,
  })
  .meta({
    id: 'ProfileRuleForm',
    example: {
      ruleset_id: '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e',
      conditions: [{ field: 'title', operator: 'contains', value: ['vp', 'director'] }],
      weight: 20,
      label: 'Decision maker',
    },
  });
