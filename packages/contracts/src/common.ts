// Schemas that many declarations share: ids, times, names, paging, and the error body.
import { z } from 'zod';
import { largestScore, smallestScore } from './domain/score-range.js';

export const id = z.uuid().describe('UUID').meta({ example: '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e' });

/** ISO 8601 UTC with milliseconds, as everything that the system writes carries it. */
export const time = z
  .string()
  .max(40)
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/, 'must be ISO 8601 UTC with milliseconds')
  .meta({ format: 'date-time', example: '2026-01-31T09:30:00.000Z' });

/** A moment in a query: any ISO 8601 date-time with an offset or Z; a plain date is midnight UTC. */
export const timeParameter = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], {
    error: 'must be an ISO 8601 time such as 2026-01-31T09:30:00Z',
  })
  .transform((value) => new Date(value).toISOString());

// Control characters are forbidden: nobody types them into a name, and they break logs. One pattern says all of it
// (something visible, nothing forbidden), so that the published documents refuse what the system refuses.
// What counts as visible is spelled out where the engines that read the pattern disagree about \s.
// eslint-disable-next-line no-control-regex
const printable = /^[^\u0000-\u001f\u007f]*[^\s\u0000-\u001f\u007f\u0085\ufeff][^\u0000-\u001f\u007f]*$/;

/** Text of a person's making: trimmed, no control characters, well-formed Unicode, bounded. */
export const name = (maximum = 100) =>
  z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(maximum, `must be at most ${String(maximum)} characters`)
    .regex(printable, 'must not hold control characters')
    .refine((value) => value.isWellFormed(), 'must be well-formed Unicode');

export const score = z.int().min(smallestScore).max(largestScore);

export const weight = z
  .int('must be a whole number')
  .min(-10_000)
  .max(10_000)
  .refine((value) => value !== 0, 'must not be 0: a rule that gives no points does nothing');

const number = /^-?\d{1,20}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?$/;

/** A number in a query: decimal digits only, where Number() would also take an empty text, spaces or hexadecimal. */
export const numberParameter = (minimum: number, maximum: number) =>
  z
    .preprocess(
      (text) => (typeof text === 'string' && number.test(text) ? Number(text) : text),
      z.number('must be a number').min(minimum).max(maximum),
    )
    .meta({ type: 'number', minimum, maximum });

/** A whole number in a query. */
export const integerParameter = (minimum: number, maximum: number) =>
  z
    .preprocess(
      (text) => (typeof text === 'string' && number.test(text) ? Number(text) : text),
      z.int('must be a whole number').min(minimum).max(maximum),
    )
    .meta({ type: 'integer', minimum, maximum });

export const pageParameters = {
  page: integerParameter(1, 1_000_000).default(1).describe('From 1.').meta({ default: 1 }),
  limit: integerParameter(1, 100).default(25).describe('1 to 100.').meta({ default: 25 }),
};

// A cursor holds the sort value: a lead's name of 512 characters takes up to 2,200 in base64url.
const maximumCursor = 3_000;

export const cursorParameter = z
  .string()
  .max(maximumCursor)
  .regex(/^[A-Za-z0-9_-]+$/, 'must be a next_cursor of an earlier answer')
  .optional()
  .describe('The next_cursor of the page before; in place of page.')
  .meta({ format: 'cursor' });

/** The list answer of API.md. */
export const page = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    data: z.array(item).max(100),
    total: z.int().min(0),
    page: z.int().min(1),
    limit: z.int().min(1).max(100),
    next_cursor: z.string().max(maximumCursor).optional(),
  });

/** RFC 9457 members; `code` is stable and for programs, `detail` says what to change. */
export const problem = z
  .strictObject({
    type: z.string().max(200),
    title: z.string().max(200),
    status: z.int().min(400).max(599),
    detail: z.string().max(4_000),
    code: z
      .string()
      .regex(/^[a-z][a-z0-9_]*$/)
      .max(64),
    errors: z
      .array(z.strictObject({ path: z.string().max(1_000), message: z.string().max(1_000) }))
      .max(100)
      .optional(),
    request_id: z.string().max(128),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof problem>;
