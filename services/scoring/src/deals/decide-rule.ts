// Decides on rules over deals: pure; time and ids come with the command.
import { dealConditionFields, nearestName, type AttributeFilter } from '@lead-scoring/contracts';
import type { Refusal } from '../configuration/messages.js';

/** The refusal of conditions on fields that no deal has: they would never be met. */
export function refusalOfDealConditions(conditions: readonly AttributeFilter[]): Refusal | null {
  const errors = conditions.flatMap(({ field }, index) => {
    if (dealConditionFields.includes(field)) return [];
    const meant = nearestName(field, dealConditionFields);
    return [
      {
        path: `body.conditions[${String(index)}].field`,
        message: `must be ${dealConditionFields.join(', ')}${meant === undefined ? '' : `; did you mean "${meant}"`}`,
      },
    ];
  });
  if (errors.length === 0) return null;
  return {
    outcome: 'rejected',
    code: 'invalid_request',
    message: `A deal has the fields ${dealConditionFields.join(', ')}, and no others that conditions could be on.`,
    errors,
  };
}
