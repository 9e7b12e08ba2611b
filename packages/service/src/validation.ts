// zod at the HTTP edge: every error of a value with its path, as a sentence that continues the path.
import { nearestName } from '@lead-scoring/contracts';
import type { z } from 'zod';
import { knownFieldsAt } from './known-fields.js';
import { ProblemError, type FieldError } from './problems.js';

export type Part = 'parameters' | 'query' | 'body' | 'headers';

/**
 * Parses a value.
 * @param part the start of every path: `body` in `body.name`
 * @throws ProblemError 400 `invalid_request` listing all errors, the most useful first
 */
export function parseOrProblem<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  part: Part,
): z.output<Schema> {
  const parsed = parseOrErrors(schema, value, part);
  if ('data' in parsed) return parsed.data;
  const { errors } = parsed;
  const [first] = errors;
  throw new ProblemError(
    400,
    'invalid_request',
    errors.length === 1 && first
      ? `${first.path} ${first.message}.`
      : `${String(errors.length)} problems: see errors. The first: ${first?.path ?? part} ${first?.message ?? 'is not valid'}.`,
    { errors },
  );
}

/** As `parseOrProblem`, for values of which others of the request may be valid. */
export function parseOrErrors<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  part: Part,
): { data: z.output<Schema> } | { errors: FieldError[] } {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { data: parsed.data };
  return {
    errors: sortByRank(parsed.error.issues.flatMap((issue) => problemsOf(issue, { value, schema, part }))),
  };
}

/** The order of errors: a missing field matters most, and an unknown field may be its misspelling, so it comes last. */
const ranks = ['missing', 'wrong', 'unknown'] as const;

interface FieldProblem extends FieldError {
  rank: (typeof ranks)[number];
}

/** Removes repeated errors and sorts the rest by rank. */
function sortByRank(problems: readonly FieldProblem[]): FieldError[] {
  const distinct = new Map<string, FieldError>();
  for (const rank of ranks)
    for (const { path, message } of problems.filter((problem) => problem.rank === rank))
      distinct.set(`${path}\0${message}`, { path, message });
  return [...distinct.values()];
}

/** The validated value, its schema and its name. */
interface ValidatedInput {
  value: unknown;
  schema: z.core.$ZodType;
  part: Part;
}

/** @param within path to the value at which the issue's own path starts */
function problemsOf(
  issue: z.core.$ZodIssue,
  input: ValidatedInput,
  within: readonly PropertyKey[] = [],
): FieldProblem[] {
  const place = [...within, ...issue.path];
  const path = joinPath(input.part, place);
  if (issue.code === 'unrecognized_keys') return unknownFields(issue.keys, input, place);
  if (issue.code === 'invalid_key' || issue.code === 'invalid_element')
    return issue.issues.flatMap((inner) => problemsOf(inner, input, place));
  if (isAbsent(input.value, place) && issue.code !== 'custom')
    return [{ path, message: 'is required', rank: 'missing' }];
  if (issue.code === 'invalid_union') return problemsOfUnion(issue, input, place);
  return [{ path, message: messageOf(issue), rank: 'wrong' }];
}

function unknownFields(
  keys: readonly string[],
  { value, schema, part }: ValidatedInput,
  place: readonly PropertyKey[],
): FieldProblem[] {
  const missing = knownFieldsAt(schema, place).filter((name) => isAbsent(value, [...place, name]));
  return keys.map((key) => {
    const meant = nearestName(key, missing);
    const advice = meant === undefined ? '; leave it out' : `; did you mean ${meant}?`;
    return {
      path: joinPath(part, [...place, key]),
      message: `is not a known field${advice}`,
      rank: 'unknown',
    };
  });
}

/**
 * Each alternative of a union has issues of its own. Reports those of the alternative that the sender probably meant.
 */
function problemsOfUnion(
  { errors, message }: z.core.$ZodIssueInvalidUnion,
  input: ValidatedInput,
  place: readonly PropertyKey[],
): FieldProblem[] {
  const kind = discriminatorOf(errors);
  if (kind) {
    // No alternative has this kind: lists the kinds of all alternatives.
    const path = joinPath(input.part, [...place, kind.field]);
    return isAbsent(input.value, [...place, kind.field])
      ? [{ path, message: 'is required', rank: 'missing' }]
      : [{ path, message: `must be one of ${kind.values.join(', ')}`, rank: 'wrong' }];
  }
  const [closest] = [...errors].sort(closestFirst);
  if (closest && depthOf(closest) > 0) return closest.flatMap((inner) => problemsOf(inner, input, place));
  const path = joinPath(input.part, place);
  const types = errors.flatMap((issues) =>
    issues.length === 1 && issues[0]?.code === 'invalid_type' ? [typeName(issues[0].expected)] : [],
  );
  if (message === 'Invalid input' && types.length > 0 && types.length === errors.length)
    return [{ path, message: `must be ${joinNames(types)}`, rank: 'wrong' }];
  return [{ path, message: lowerFirst(message), rank: 'wrong' }];
}

/** The discriminating field of the alternatives, when none of them accepts its value. */
function discriminatorOf(
  alternatives: readonly (readonly z.core.$ZodIssue[])[],
): { field: PropertyKey; values: string[] } | undefined {
  const [first, ...others] = alternatives;
  for (const { code, path } of first ?? []) {
    const [field, ...further] = path;
    if (code !== 'invalid_value' || field === undefined || further.length > 0 || others.length === 0)
      continue;
    const asked = alternatives.map((issues) =>
      issues.find(
        (issue) => issue.code === 'invalid_value' && issue.path.length === 1 && issue.path[0] === field,
      ),
    );
    if (!asked.every((issue) => issue?.code === 'invalid_value')) continue;
    return { field, values: [...new Set(asked.flatMap(({ values }) => values.map(String)))] };
  }
  return undefined;
}

/**
 * Sorts the alternative that the sender probably meant first: the one that knows most of the fields that were sent, then the
 * one whose issues lie deepest, then the one that accepts the value's kind, then the one that accepts its types, then the one with the fewest issues.
 */
function closestFirst(left: readonly z.core.$ZodIssue[], right: readonly z.core.$ZodIssue[]): number {
  const countIssues = (issues: readonly z.core.$ZodIssue[], codes: readonly string[]) =>
    issues.filter(({ code, path }) => codes.includes(code) && path.length <= 1).length;
  const countUnknown = (issues: readonly z.core.$ZodIssue[]) =>
    issues.reduce(
      (sum, issue) =>
        issue.code === 'unrecognized_keys' && issue.path.length === 0 ? sum + issue.keys.length : sum,
      0,
    );
  return (
    countUnknown(left) - countUnknown(right) ||
    depthOf(right) - depthOf(left) ||
    countIssues(left, ['invalid_value']) - countIssues(right, ['invalid_value']) ||
    countIssues(left, ['invalid_type', 'invalid_union']) -
      countIssues(right, ['invalid_type', 'invalid_union']) ||
    left.length - right.length
  );
}

/** The depth of an alternative's shallowest issue. */
function depthOf(issues: readonly z.core.$ZodIssue[]): number {
  return Math.min(...issues.map((issue) => issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)));
}

function messageOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      // A message from the schema, such as a range, tells more than the type.
      return issue.message.startsWith('Invalid input')
        ? `must be ${typeName(issue.expected)}`
        : issue.message;
    case 'invalid_value':
      return issue.message.startsWith('Invalid')
        ? `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`
        : issue.message;
    case 'too_small':
      return sizeMessage(issue.origin, 'at least', issue.minimum, issue.message);
    case 'too_big':
      return sizeMessage(issue.origin, 'at most', issue.maximum, issue.message);
    default:
      return lowerFirst(issue.message);
  }
}

function typeName(expected: string): string {
  switch (expected) {
    case 'int':
      return 'a whole number';
    case 'array':
      return 'an array';
    case 'object':
    case 'record':
      return 'an object';
    case 'string':
      return 'a text';
    case 'boolean':
      return 'true or false';
    default:
      return `a ${expected}`;
  }
}

/** Joins names: `a text, a number, or true or false`. */
function joinNames(names: readonly string[]): string {
  const distinct = [...new Set(names)];
  return distinct.length < 2
    ? distinct.join('')
    : `${distinct.slice(0, -1).join(', ')}, or ${distinct.at(-1) ?? ''}`;
}

function sizeMessage(origin: string, bound: string, limit: number | bigint, message: string): string {
  // A message from the schema is better than a general one.
  if (!message.startsWith('Too ')) return lowerFirst(message);
  const plural = Number(limit) === 1 ? '' : 's';
  switch (origin) {
    case 'string':
      return bound === 'at least' && Number(limit) === 1
        ? 'must not be empty'
        : `must be ${bound} ${String(limit)} character${plural}`;
    case 'array':
    case 'set':
      return `must hold ${bound} ${String(limit)} element${plural}`;
    default:
      return `must be ${bound} ${String(limit)}`;
  }
}

function lowerFirst(message: string): string {
  return message
    .replace(/^Invalid input: expected /, 'must be ')
    .replace(/^Invalid (.*)$/, 'must be a valid $1');
}

function isAbsent(value: unknown, path: readonly PropertyKey[]): boolean {
  return path.length > 0 && valueAt(value, path) === undefined;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const step of path) {
    if (current === null || typeof current !== 'object' || !Object.hasOwn(current, step)) return undefined;
    current = (current as Record<PropertyKey, unknown>)[step];
  }
  return current;
}

function joinPath(at: string, path: readonly PropertyKey[]): string {
  let joined = at;
  for (const step of path) joined += typeof step === 'number' ? `[${String(step)}]` : `.${String(step)}`;
  return joined;
}
