// Deals: what an event's `metadata.deal` may say of a deal, and the deal's fields as they are recorded.
import { z } from 'zod';
import { name, text, time, timeParameter, wholeNumber } from '../common.js';
import { nameBasedId } from './identity.js';

export const dealLimits = {
  /** Leads that a deal remembers. */
  leads: 100,
  /** Deals that a lead remembers. */
  dealsOfLead: 200,
  /** Ignored deals of an OU that a partition remembers. */
  ignored: 100,
};

/** The fields of a deal that events give values, besides its id. */
export const dealFieldNames = ['stage', 'amount', 'currency', 'closed_at'] as const;
export type DealFieldName = (typeof dealFieldNames)[number];

/** The fields that conditions of deal rules compare. */
export const dealConditionFields: readonly string[] = ['id', ...dealFieldNames];

/** A deal's id, as senders name it. */
export const dealId = name(200)
  .describe("The deal's id: that of `metadata.deal`.")
  .meta({ example: 'D-1042' });

/** The key of a deal in records: it follows from the OU and the deal's id, so that a deal is found without a look-up. */
export function dealKeyOf(ouId: string, id: string): string {
  return nameBasedId(ouId, `deal:${id}`);
}

/** Senders write ids and stages as numbers too. */
const wholeNumberText = wholeNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER).transform(String);

const decimal = text(40)
  .regex(/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/)
  .transform(Number);

const currencyCode = text(3, { trimmed: true })
  .regex(/^[A-Za-z]{3}$/)
  .transform((code) => code.toUpperCase());

/** The fields of a deal as senders write them: null says that the field has no value, an absent field says nothing. */
export const dealFieldForms = {
  stage: z
    .union([name(100), wholeNumberText], {
      error: 'must be a text of 1 to 100 characters, or a whole number',
    })
    .nullable()
    .optional()
    .meta({ example: 'won' }),
  amount: z
    .union([z.number(), decimal], { error: 'must be a number, or a decimal such as "12500.50"' })
    // Not -0, which JSON does not have.
    .transform((value) => value + 0)
    .nullable()
    .optional()
    .meta({ example: 12_500 }),
  currency: z
    .union([currencyCode, z.null()], { error: 'must be a code of three letters, such as EUR' })
    .optional()
    .meta({ example: 'EUR' }),
  closed_at: timeParameter
    .refine((value) => value.length === 24, 'must be a time from the year 0 to 9999')
    .nullable()
    .optional()
    .meta({ example: '2026-03-31' }),
};

/** `metadata.deal`: other fields are left alone. */
export const mentionedDeal = z.object(
  {
    id: z.union([dealId, wholeNumberText], {
      error: 'must be the id of the deal: a text of 1 to 200 characters, or a whole number',
    }),
    ...dealFieldForms,
  },
  'must be an object such as {"id": "D-1042", "stage": "won", "amount": 12500, "currency": "EUR"}',
);

const dealValue = z.union([z.string().max(100), z.number()]);
export type DealValue = z.infer<typeof dealValue>;

/** A value that an event gives a field of a deal. */
export const dealChange = z.strictObject({
  field: z.enum(dealFieldNames),
  value: dealValue.nullable().describe('null: the field has no value.'),
  at: time.describe('The time of the event.'),
});
export type DealChange = z.infer<typeof dealChange>;
