// Attribute filters as requests send them. Records and answers hold any filter that was accepted before; a new filter
// must be meaningful: order operators take numbers and dates only, and a range has its lower end first.
import { z } from 'zod';
import { text } from '../common.js';
import {
  compareOperands,
  existenceFilter,
  filterField,
  filterRule,
  fragmentListFilter,
  fragmentOperators,
  listFilter,
  matchMissing,
  operand,
} from './filters.js';

const orderRule =
  'must be a number, or a date such as 2026-01-31 or 2026-01-31T09:30:00Z: other texts have no order';
const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const date = /^\d{4}-\d{2}(?:-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?)?$/;

const comparableText = text(60, { trimmed: true })
  .refine((value) => number.test(value) || date.test(value), orderRule)
  .meta({ pattern: `${number.source}|${date.source}` });

/** An operand of an order operator (less than, more than, between). */
const comparable = z.union([z.number(), comparableText], { error: orderRule });

const range = z
  .tuple([comparable, comparable], { error: 'must be a list of two: the lowest value and the highest' })
  .refine(([low, high]) => isDated(low) === isDated(high), 'must be two numbers or two dates')
  .refine(
    ([low, high]) => isDated(low) !== isDated(high) || compareOperands(low, high) <= 0,
    'must have the lowest value first: nothing lies between them',
  );

function isDated(value: number | string): boolean {
  return typeof value === 'string' && date.test(value);
}

export const attributeFilterForm = z
  .union(
    [
      z.strictObject({
        field: filterField,
        operator: z.enum(['equals', 'not_equals', ...fragmentOperators]),
        value: operand,
        match_missing: matchMissing,
      }),
      fragmentListFilter,
      z.strictObject({
        field: filterField,
        operator: z.enum(['gt', 'gte', 'lt', 'lte']),
        value: comparable,
        match_missing: matchMissing,
      }),
      listFilter,
      z.strictObject({ field: filterField, operator: z.literal('between'), value: range }),
      existenceFilter,
    ],
    { error: filterRule },
  )
  .meta({ id: 'AttributeFilterForm' });

export type AttributeFilterForm = z.infer<typeof attributeFilterForm>;

/** The filters of a rule or a step. */
export const attributeFilterForms = z.array(attributeFilterForm).max(20, 'must be at most 20 filters');
