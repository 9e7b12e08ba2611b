// Schemas that many declarations share: ids, times, names, paging, and the error body.
import { z } from 'zod';
import { isTimeZone } from './vocabulary/local-time.js';
import { largestScore, smallestScore } from './vocabulary/score-range.js';

/**
 * The one way to declare a text with a pattern. zod checks the length first, and a text of a wrong length reaches no
 * pattern and no later check. linear.unit.test.ts walks all declarations and fails where a text is declared otherwise.
 * @param trimmed white space around the text is removed before the checks
 */
export const text = (maximum: number, { minimum = 0, trimmed = false } = {}) => {
  const any = trimmed ? z.string().trim() : z.string();
  const bounded = any.max(maximum, {
    error: `must be at most ${countText(maximum, 'character')}`,
    abort: true,
  });
  if (minimum === 0) return bounded;
  const error = minimum === 1 ? 'must not be empty' : `must be at least ${countText(minimum, 'character')}`;
  return bounded.min(minimum, { error, abort: true });
};

/** A count with its noun: `1 character`, `2 characters`. */
function countText(count: number, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** A whole number. Every violation is reported with the allowed range. */
export const wholeNumber = (minimum: number, maximum: number) =>
  z
    .int(`must be a whole number from ${String(minimum)} to ${String(maximum)}`)
    .min(minimum)
    .max(maximum);

export const id = z.uuid().describe('UUID').meta({ example: '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e' });

/**
 * A lead's id as a parameter. `leadParametersOf` finds the parameters that name a lead by comparing with this schema.
 */
export const leadId = z
  .uuid({
    error: ({ input }) =>
      typeof input === 'string' && /[@:]/.test(input)
        ? "is an address, not a lead's id; find the lead with GET /leads/search?q=…"
        : undefined,
  })
  .describe(
    "The lead's id. An id that no lead has, and whose alias was linked to another lead, names that lead.",
  )
  .meta({ example: '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e' });

/** A field of the answers of reads by a lead's id. The query port adds it, for all of them. */
export const ofMergedLead = {
  merged_into: id
    .optional()
    .describe(
      'The lead that the answer is about, where the id in the path is that of a lead which has joined it. Absent where the id is its own.',
    ),
};

/** ISO 8601 UTC with milliseconds: the form of every time that the system writes. */
export const time = text(40)
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/, 'must be ISO 8601 UTC with milliseconds')
  .meta({ format: 'date-time', example: '2026-01-31T09:30:00.000Z' });

const momentRule = 'must be an ISO 8601 time such as 2026-01-31T09:30:00Z';
const dateTime = text(40)
  .regex(z.regexes.datetime({ offset: true }), momentRule)
  .meta({ format: 'date-time' });
const utc = (value: string) => new Date(value).toISOString();

/** A moment in a body: any ISO 8601 date-time with an offset or Z. It is stored as UTC with milliseconds. */
export const moment = dateTime.transform(utc);

/** A moment in a query as it was written: as in a body, or a plain date. */
export const momentText = z.union([dateTime, text(10).regex(z.regexes.date).meta({ format: 'date' })], {
  error: momentRule,
});

/** A moment in a query: as in a body, or a plain date, which is midnight UTC. */
export const timeParameter = momentText.transform(utc);

const plainDate = text(10).regex(z.regexes.date, momentRule).meta({ format: 'date' });

const timezoneRule = 'must be a name of the IANA time zone database such as Europe/Berlin';

/** A moment in a query, or a plain date that is left as it is: a day of the time zone that the query names. */
export const dayOrMomentParameter = z
  .union([dateTime.transform(utc), plainDate], { error: momentRule })
  .refine((value) => value >= '1000', 'must not be before the year 1000');

/** The name of a time zone in a query. */
export const timezoneParameter = text(64)
  .regex(/^[A-Za-z][A-Za-z0-9_+/-]*$/, { error: timezoneRule, abort: true })
  .refine(isTimeZone, { error: timezoneRule, abort: true })
  .meta({ format: 'timezone' });

/** By how much the clock of a caller may be ahead. */
export const clockDifferenceMs = 60_000;

/** A moment of a query that must not lie in the future. */
export const pastTimeParameter = timeParameter.refine(
  (value) => value <= new Date(Date.now() + clockDifferenceMs).toISOString(),
  'must not be in the future',
);

/** Pairs of a lower and an upper bound that a query may hold, with the comparison that the error message uses. */
const bounds = [
  ['from', 'to', 'before'],
  ['starts_at', 'ends_at', 'before'],
  ['min_score', 'max_score', 'less than'],
] as const;

/** A strict object in which no lower bound is greater than its upper bound. */
export const inOrder = <Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> =>
  bounds
    .filter(([low, high]) => low in shape && high in shape)
    .reduce(
      (form, [low, high, word]) =>
        form.refine((value: Record<string, unknown>) => !isBeyond(value[low], value[high]), {
          path: [high],
          error: `must not be ${word} ${low}: nothing lies between them`,
        }),
      z.strictObject(shape),
    );

/** Whether the lower bound is greater than the upper one: two numbers, or two UTC times. An absent bound never is. */
function isBeyond(low: unknown, high: unknown): boolean {
  return (
    (typeof low === 'number' && typeof high === 'number' && low > high) ||
    (typeof low === 'string' && typeof high === 'string' && low > high)
  );
}

// Control characters are forbidden: nobody types them into a name, and they break logs. JavaScript and the engines that
// read the published pattern disagree about \s, so `visible` spells out the characters that they treat differently.
// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f]/;
const visible = /[^\s\u0085\ufeff]/;
/** `control` and `visible` as one pattern, for the published documents only: it backtracks, so no code runs it. */
const printable =
  '^[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f\\u0085\\ufeff][^\\u0000-\\u001f\\u007f]*$';

/**
 * A name that a person gives: trimmed, not empty, of limited length, well-formed Unicode without control characters.
 */
export const name = (maximum = 100) =>
  text(maximum, { minimum: 1, trimmed: true })
    .refine((value) => visible.test(value), { error: 'must not be empty', abort: true })
    .refine((value) => !control.test(value), 'must not hold control characters')
    .refine((value) => value.isWellFormed(), 'must be well-formed Unicode')
    .meta({ pattern: printable });

export const score = wholeNumber(smallestScore, largestScore);

export const weight = wholeNumber(-10_000, 10_000).refine(
  (value) => value !== 0,
  'must not be 0: a rule that gives no points does nothing',
);

const number = /^-?\d{1,20}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?$/;

/** A number in a query, in decimal digits only: Number() would also accept an empty text, spaces and hexadecimal. */
export const numberParameter = (minimum: number, maximum: number) =>
  z
    .preprocess(
      (text) => (typeof text === 'string' && number.test(text) ? Number(text) : text),
      z
        .number(`must be a number from ${String(minimum)} to ${String(maximum)}`)
        .min(minimum)
        .max(maximum),
    )
    .meta({ type: 'number', minimum, maximum });

/** A whole number in a query. */
export const integerParameter = (minimum: number, maximum: number) =>
  z
    .preprocess(
      (text) => (typeof text === 'string' && number.test(text) ? Number(text) : text),
      wholeNumber(minimum, maximum),
    )
    .meta({ type: 'integer', minimum, maximum });

/** For `refine` of a body with changes, all of which may be absent. */
export const someField = [
  (body: object) => Object.keys(body).length > 0,
  'must hold at least one field',
] as const;

export const pageParameters = {
  page: integerParameter(1, 1_000_000).default(1).describe('From 1.').meta({ default: 1 }),
  limit: integerParameter(1, 100).default(25).describe('1 to 100.').meta({ default: 25 }),
};

// A cursor holds the sort value: a lead's name of 512 characters takes up to 2,200 characters in base64url.
const maximumCursor = 3_000;

export const cursorParameter = text(maximumCursor)
  .regex(/^[A-Za-z0-9_-]+$/, 'must be a next_cursor of an earlier answer')
  .optional()
  .describe('The next_cursor of the page before; in place of page.')
  .meta({ format: 'cursor' });

/** A page of a list, as API.md describes list answers. */
export const page = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    data: z.array(item).max(100),
    total: z.int().min(0),
    page: z.int().min(1),
    limit: z.int().min(1).max(100),
    next_cursor: z.string().max(maximumCursor).optional(),
  });

/** RFC 9457 members. Programs read the stable `code`; `detail` tells a person what to change. */
export const problem = z
  .strictObject({
    type: z.string().max(200),
    title: z.string().max(200),
    status: z.int().min(400).max(599),
    detail: z.string().max(4_000),
    code: text(64).regex(/^[a-z][a-z0-9_]*$/),
    errors: z
      .array(z.strictObject({ path: z.string().max(1_000), message: z.string().max(1_000) }))
      .max(100)
      .optional(),
    request_id: z.string().max(128),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof problem>;

/** A request that was carried out and looks like a mistake. */
export const warning = z
  .strictObject({
    code: z.enum(['identical_rule', 'event_type_not_seen', 'channel_not_set_up', 'profile_field_not_fed']),
    message: z.string().max(1_000),
  })
  .meta({ id: 'Warning' });
export type Warning = z.infer<typeof warning>;

/** The field `warnings`, to be spread into the answer of a route that warns. */
export const warned = {
  warnings: z
    .array(warning)
    .min(1)
    .max(10)
    .optional()
    .describe('What was done as asked, and may not be meant so; absent when there is nothing.'),
};
