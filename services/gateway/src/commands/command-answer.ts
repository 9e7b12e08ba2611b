// The answer of a command's route: the owner's reply, with the secrets and warnings that only the gateway can add.
import {
  isProblemCode,
  problemTypeOf,
  type JsonObject,
  type JsonValue,
  type records,
  type RouteDeclaration,
  type Warning,
} from '@lead-scoring/contracts';
import { ProblemError } from '@lead-scoring/service';
import type { z } from 'zod';
import { challenge } from '../credentials/authenticate.js';
import type { Answer } from '../idempotency/write-claim.js';
import type { CommandOutcome } from './command-sender.js';

export interface DeclaredSuccess {
  status: number;
  /** The schema of the body; undefined where there is none. */
  schema: z.ZodType | undefined;
  routeName: string;
}

export function successOf(route: RouteDeclaration): DeclaredSuccess {
  for (const [status, response] of Object.entries(route.responses))
    if (Number(status) < 300)
      return { status: Number(status), schema: response.schema, routeName: route.name };
  throw new Error(`${route.name} declares no success`);
}

export interface AnswerOptions {
  /** Finds the warnings that the answer has besides the result. */
  warningsOf: () => Promise<readonly Warning[]>;
  /** Whether the result is checked against its schema. */
  isChecked: boolean;
}

/** @throws ProblemError for a command that was rejected */
export async function answerOf(
  { status, schema, routeName }: DeclaredSuccess,
  { reply, shown }: CommandOutcome,
  { warningsOf, isChecked }: AnswerOptions,
): Promise<Answer> {
  if (reply.outcome === 'rejected') throw refused(reply);
  if (!schema) return { status };
  const warnings = await warningsOf();
  const result = withGatewayFields(reply.result, shown?.((reply.result ?? {}) as JsonObject), warnings);
  const checked = isChecked ? schema.safeParse(result) : null;
  if (checked?.success === false)
    throw new Error(`the result of ${routeName} is not as declared: ${checked.error.message}`);
  return { status, body: JSON.stringify(result ?? null) };
}

/** The owner's result with the secrets and warnings that the gateway adds. */
function withGatewayFields(
  result: JsonValue | undefined,
  shown: JsonObject | undefined,
  warnings: readonly Warning[],
): JsonValue | undefined {
  if (!shown && warnings.length === 0) return result;
  const complete = { ...(result as JsonObject), ...shown };
  if (warnings.length === 0) return complete;
  return { ...complete, warnings: [...((complete.warnings ?? []) as JsonValue[]), ...warnings] };
}

function refused({
  code,
  message,
  errors,
}: Extract<records.CommandReplied, { outcome: 'rejected' }>): ProblemError {
  if (!isProblemCode(code)) throw new Error(`a command was rejected with ${code}, which is not declared`);
  const { status } = problemTypeOf(code);
  return new ProblemError(status, code, message, {
    ...(errors && { errors }),
    headers: {
      ...(status === 401 && { 'WWW-Authenticate': challenge }),
      ...(status === 503 && { 'Retry-After': '1' }),
    },
  });
}
