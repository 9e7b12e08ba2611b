// A rule's share in a score, in explanations.
import { z } from 'zod';
import { id } from '../common.js';
import { limitedDriverFields } from '../vocabulary/webhook.js';

export const driver = z
  .strictObject({
    rule_id: id,
    event_type: z.string().max(100),
    count: z.int().min(1).describe('Events attributed to the rule; of a deal score, deals that meet it.'),
    weight: z.int().describe('Points per event, or per deal.'),
    total: z.int().describe('count multiplied by weight.'),
    filter_label: z
      .string()
      .max(50_000)
      .optional()
      .describe('The attribute filter in words; absent without filters.'),
    label: z
      .string()
      .max(100)
      .optional()
      .describe(
        'What the rule was called in the version that gave the points; absent where it had no label.',
      ),
    rule_version: z.int().min(1).describe('The latest version of the rule that gave points of this weight.'),
    ...limitedDriverFields,
  })
  .meta({ id: 'Driver' });
