// Profiles of leads: which event metadata feeds which profile field, and the values as they are recorded.
import { z } from 'zod';
import { text, time } from '../common.js';
import { filterField } from './filters.js';

export const profileLimits = {
  /** Mappings of an OU; several may feed one field. */
  mappings: 50,
  /** Characters of a value; a longer text is cut. */
  characters: 500,
  /** Elements of a value that is a list; further ones are left out. */
  elements: 10,
  /** Characters of an element of a list. */
  elementCharacters: 100,
  /** Transforms of a mapping. */
  transforms: 5,
  /** Texts from which `first_of` chooses. */
  choices: 50,
};

/** Removed fields and new ones of one decision: all that were mapped before and all that are mapped now. */
export const maximumProfileChanges = 2 * profileLimits.mappings;

export const profileField = text(50)
  .regex(/^[a-z][a-z0-9_]*$/, 'must be a name such as seniority: a letter, then a to z, 0 to 9 and _')
  .meta({ example: 'seniority' });

const transform = z
  .union(
    [
      z.enum(['trim', 'lower', 'number', 'email_domain']),
      z.strictObject({
        first_of: z
          .array(text(100, { minimum: 1 }))
          .min(1)
          .max(profileLimits.choices)
          .describe('The first of these texts that the value contains, whatever the case.'),
      }),
    ],
    {
      error:
        'must be trim, lower, number, email_domain, or {"first_of": ["vp", "director"]}: the first text that the value contains',
    },
  )
  .meta({ id: 'ProfileTransform' });
export type ProfileTransform = z.infer<typeof transform>;

/** A mapping's fields in commands, events and answers. */
export const mappingFields = {
  field: profileField.describe('The profile field that the value goes into.'),
  source: filterField
    .describe(
      'A key of the event metadata; dots reach into nested objects. The prefix `metadata.` is optional.',
    )
    .meta({ example: 'metadata.job_title' }),
  transform: z
    .union([transform, z.array(transform).min(1).max(profileLimits.transforms)])
    .optional()
    .describe(
      'Changes the value before it is recorded, in the given order. A value that a transform cannot read is left out.',
    ),
};

const scalar = z.union([z.string().max(profileLimits.characters), z.number(), z.boolean()]);
export type ProfileScalar = z.infer<typeof scalar>;

export const profileValue = z.union([scalar, z.array(scalar).min(1).max(profileLimits.elements)]);
export type ProfileValue = z.infer<typeof profileValue>;

/** A recorded change of a lead's profile. */
export const profileChange = z.strictObject({
  field: z.string().min(1).max(50),
  value: profileValue.nullable().describe('null: no mapping feeds the field any more.'),
  at: time.describe('The time of the event that had the value.'),
});
export type ProfileChange = z.infer<typeof profileChange>;
