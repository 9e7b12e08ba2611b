// zod at the edge: every problem of a value with its path, in sentences.
import type { z } from 'zod';
import { ProblemError, type FieldError } from './problems.js';

export type Part = 'parameters' | 'query' | 'body' | 'headers';

/**
 * The parsed value.
 * @param part starts every path: `body.name`
 * @throws ProblemError 400 `invalid_request` listing all problems (the first 100)
 */
export function parseOrProblem<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  part: Part,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = fieldErrorsOf(parsed.error, value, part);
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

/** The problems that zod found, with paths such as `body.events[3].alias`. */
export function fieldErrorsOf(error: z.ZodError, value: unknown, part: string): FieldError[] {
  return error.issues.flatMap((issue) => errorsOf(issue, value, part));
}

function errorsOf(issue: z.core.$ZodIssue, value: unknown, at: string): FieldError[] {
  const path = joinPath(at, issue.path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        path: joinPath(path, [key]),
        message: 'is not a known field; leave it out',
      }));
    case 'invalid_type':
      return [
        {
          path,
          message: isAbsent(value, issue.path) ? 'is required' : `must be ${typeName(issue.expected)}`,
        },
      ];
    case 'invalid_value':
      return [
        {
          path,
          message: isAbsent(value, issue.path)
            ? 'is required'
            : `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`,
        },
      ];
    case 'too_small':
      return [{ path, message: sized(issue.origin, 'at least', issue.minimum, issue.message) }];
    case 'too_big':
      return [{ path, message: sized(issue.origin, 'at most', issue.maximum, issue.message) }];
    case 'invalid_union': {
      if (isAbsent(value, issue.path)) return [{ path, message: 'is required' }];
      const [closest] = [...issue.errors].sort(
        (left, right) => depthOf(right) - depthOf(left) || left.length - right.length,
      );
      if (closest && depthOf(closest) > 0)
        return closest.flatMap((inner) => errorsOf(inner, valueAt(value, issue.path), path));
      return [{ path, message: lowerFirst(issue.message) }];
    }
    case 'invalid_key':
    case 'invalid_element':
      return issue.issues.flatMap((inner) => errorsOf(inner, valueAt(value, issue.path), path));
    default:
      return [{ path, message: lowerFirst(issue.message) }];
  }
}

/** How far into the value a union's alternative got before it failed: the deepest is the one that was meant. */
function depthOf(issues: readonly z.core.$ZodIssue[]): number {
  return Math.min(...issues.map((issue) => issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)));
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

function sized(origin: string, bound: string, limit: number | bigint, message: string): string {
  // A sentence that the schema brings along is better than one made from its kind.
  if (!message.startsWith('Too ')) return lowerFirst(message);
  switch (origin) {
    case 'string':
      return `must be ${bound} ${String(limit)} characters`;
    case 'array':
    case 'set':
      return `must hold ${bound} ${String(limit)} elements`;
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
