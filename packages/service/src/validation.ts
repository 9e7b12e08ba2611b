// zod at the edge: every problem of a value with its path, in sentences that go on from the path.
import { nearestName } from '@lead-scoring/contracts';
import type { z } from 'zod';
import { knownFieldsAt } from './known-fields.js';
import { ProblemError, type FieldError } from './problems.js';

export type Part = 'parameters' | 'query' | 'body' | 'headers';

/**
 * The parsed value.
 * @param part starts every path: `body.name`
 * @throws ProblemError 400 `invalid_request` listing all problems, the most useful first
 */
export function parseOrProblem<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  part: Part,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = inOrder(parsed.error.issues.flatMap((issue) => problemsOf(issue, { value, schema, part })));
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

/** How soon a problem must be told: without what is missing nothing works, and what is too much may be what was meant by it. */
const ranks = ['missing', 'wrong', 'unknown'] as const;

interface FieldProblem extends FieldError {
  rank: (typeof ranks)[number];
}

/** Each once, in the order of their ranks. */
function inOrder(problems: readonly FieldProblem[]): FieldError[] {
  const told = new Map<string, FieldError>();
  for (const rank of ranks)
    for (const { path, message } of problems.filter((problem) => problem.rank === rank))
      told.set(`${path}\0${message}`, { path, message });
  return [...told.values()];
}

/** What was sent, what it is held against, and what it is called. */
interface Sent {
  value: unknown;
  schema: z.core.$ZodType;
  part: Part;
}

/** @param within where the value is that the issue's path starts from */
function problemsOf(
  issue: z.core.$ZodIssue,
  sent: Sent,
  within: readonly PropertyKey[] = [],
): FieldProblem[] {
  const place = [...within, ...issue.path];
  const path = joinPath(sent.part, place);
  if (issue.code === 'unrecognized_keys') return unknownFields(issue.keys, sent, place);
  if (issue.code === 'invalid_key' || issue.code === 'invalid_element')
    return issue.issues.flatMap((inner) => problemsOf(inner, sent, place));
  if (isAbsent(sent.value, place) && issue.code !== 'custom')
    return [{ path, message: 'is required', rank: 'missing' }];
  if (issue.code === 'invalid_union') return problemsOfUnion(issue, sent, place);
  return [{ path, message: messageOf(issue), rank: 'wrong' }];
}

function unknownFields(
  keys: readonly string[],
  { value, schema, part }: Sent,
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

/** A union's alternatives refuse the value each for reasons of its own: those of the one that was meant are told. */
function problemsOfUnion(
  { errors, message }: z.core.$ZodIssueInvalidUnion,
  sent: Sent,
  place: readonly PropertyKey[],
): FieldProblem[] {
  const kind = kindAsked(errors);
  if (kind) {
    // No alternative has this kind: what all of them together would take.
    const path = joinPath(sent.part, [...place, kind.field]);
    return isAbsent(sent.value, [...place, kind.field])
      ? [{ path, message: 'is required', rank: 'missing' }]
      : [{ path, message: `must be one of ${kind.values.join(', ')}`, rank: 'wrong' }];
  }
  const [closest] = [...errors].sort(closestFirst);
  if (closest && depthOf(closest) > 0) return closest.flatMap((inner) => problemsOf(inner, sent, place));
  const path = joinPath(sent.part, place);
  const types = errors.flatMap((issues) =>
    issues.length === 1 && issues[0]?.code === 'invalid_type' ? [typeName(issues[0].expected)] : [],
  );
  if (message === 'Invalid input' && types.length > 0 && types.length === errors.length)
    return [{ path, message: `must be ${listed(types)}`, rank: 'wrong' }];
  return [{ path, message: lowerFirst(message), rank: 'wrong' }];
}

/** The field by whose value alternatives differ, when none of them takes the one that was sent. */
function kindAsked(
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
 * The deepest alternative is the one that was meant; of these the one that takes the value's kind, then the one that
 * takes its types, then the one with fewest complaints.
 */
function closestFirst(left: readonly z.core.$ZodIssue[], right: readonly z.core.$ZodIssue[]): number {
  const counted = (issues: readonly z.core.$ZodIssue[], codes: readonly string[]) =>
    issues.filter(({ code, path }) => codes.includes(code) && path.length <= 1).length;
  return (
    depthOf(right) - depthOf(left) ||
    counted(left, ['invalid_value']) - counted(right, ['invalid_value']) ||
    counted(left, ['invalid_type', 'invalid_union']) - counted(right, ['invalid_type', 'invalid_union']) ||
    left.length - right.length
  );
}

/** How far into the value an alternative got before it failed. */
function depthOf(issues: readonly z.core.$ZodIssue[]): number {
  return Math.min(...issues.map((issue) => issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)));
}

function messageOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      // A sentence that the schema brings along says more than its kind, such as a range.
      return issue.message.startsWith('Invalid input')
        ? `must be ${typeName(issue.expected)}`
        : issue.message;
    case 'invalid_value':
      return issue.message.startsWith('Invalid')
        ? `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`
        : issue.message;
    case 'too_small':
      return sized(issue.origin, 'at least', issue.minimum, issue.message);
    case 'too_big':
      return sized(issue.origin, 'at most', issue.maximum, issue.message);
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

/** `a text, a number, or true or false`. */
function listed(names: readonly string[]): string {
  const distinct = [...new Set(names)];
  return distinct.length < 2
    ? distinct.join('')
    : `${distinct.slice(0, -1).join(', ')}, or ${distinct.at(-1) ?? ''}`;
}

function sized(origin: string, bound: string, limit: number | bigint, message: string): string {
  // A sentence that the schema brings along is better than one made from its kind.
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
