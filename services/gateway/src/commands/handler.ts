// Routes of kind `command`: validated, written to the owner's topic, and answered with the owner's reply.
import {
  isProblemCode,
  problemTypeOf,
  records,
  type JsonObject,
  type RouteDeclaration,
} from '@lead-scoring/contracts';
import type { Requester } from '@lead-scoring/event-log';
import type { ReadModel } from '@lead-scoring/read-model';
import {
  decodeUtf8,
  parseJson,
  parseOrProblem,
  ProblemError,
  readBody,
  requestIdOf,
  type Sealing,
} from '@lead-scoring/service';
import type { Request } from 'express';
import { challenge } from '../credentials/authenticate.js';
import type { DatabaseGate } from '../database-gate.js';
import { asLogProblem } from '../edge/log-problem.js';
import { callerOf, headerOf } from '../edge/request.js';
import { performOnce, type Answer } from '../idempotency/answers.js';
import { idempotencyKeyOf, writeId } from '../idempotency/key.js';
import type { CommandSignature } from '../identity/command-signature.js';
import type { BuiltCommand, CommandInput } from './commands.js';

export interface CommandDependencies {
  requester: Requester;
  /** Of commands to the gateway's own topic. */
  signature: CommandSignature;
  readModel: ReadModel;
  gate: DatabaseGate;
  tokenSecret: string;
  sealing: Sealing;
  /** Where browsers open share links. */
  appUrl: string;
  /** Until a command without a reply is answered with 504, where its route does not allow more. */
  replyTimeoutMs: number;
  /** Called when the gateway's own state has changed. */
  identityChanged(): void;
  /** Also check results against their declared schema. */
  checkAnswers: boolean;
}

const maximumBodyBytes = 1_000_000;

export function createCommandHandler(
  route: RouteDeclaration,
  build: (input: CommandInput<never>) => BuiltCommand,
  dependencies: CommandDependencies,
): (req: Request, ouId: string | undefined) => Promise<Answer> {
  const { requester, signature, tokenSecret, sealing, appUrl } = dependencies;
  const timeoutMs = Math.max(dependencies.replyTimeoutMs, route.replyTimeoutMs ?? 0);
  const [status, declared] = successOf(route);
  return async (req, ouId) => {
    const caller = callerOf(req);
    const key = idempotencyKeyOf(headerOf(req, 'idempotency-key'));
    const commandId = writeId(caller.credentialId, route.name, key);
    const bytes = route.body
      ? (
          await readBody(req, {
            maximumBytes: maximumBodyBytes,
            types: route.bodyTypes ?? ['application/json'],
          })
        ).bytes
      : new Uint8Array();
    const perform = async (): Promise<Answer> => {
      const rawBody = route.body ? parseJson(decodeUtf8(bytes)) : undefined;
      const input = {
        parameters: route.parameters ? parseOrProblem(route.parameters, req.params, 'parameters') : {},
        body: route.body ? parseOrProblem(route.body, rawBody, 'body') : {},
        rawBody,
        commandId,
        organisationId: caller.organisationId,
        credentialId: caller.credentialId,
        actor: caller.by,
        ouId,
        requestedAt: new Date().toISOString(),
        tokenSecret,
        sealing,
        appUrl,
      };
      const { record, shown } = build(input as unknown as CommandInput<never>);
      const headers = {
        ...record.headers,
        id: commandId,
        actor: caller.actor,
        // Unique among the requests of this instance, also when a caller gives two of them one request id.
        'correlation-id': `${requestIdOf(req)}:${commandId}`,
        ...(ouId !== undefined && { ou: ouId }),
      };
      const command =
        record.declaration.topic === 'gateway.commands'
          ? signature.sign({ ...record, headers })
          : { ...record, headers };
      const reply = await requester.request(command, { timeoutMs }).catch((error: unknown) => {
        throw asLogProblem(error, commandId);
      });
      if (route.owner === 'gateway') dependencies.identityChanged();
      if (reply.outcome === 'rejected') throw refused(reply);
      if (!declared) return { status };
      const result = shown ? { ...(reply.result as JsonObject), ...shown } : reply.result;
      if (dependencies.checkAnswers) {
        const checked = declared.safeParse(result);
        if (!checked.success)
          throw new Error(`the result of ${route.name} is not as declared: ${checked.error.message}`);
      }
      return { status, body: JSON.stringify(result ?? null) };
    };
    if (key === null) return perform();
    return performOnce(dependencies, {
      id: commandId,
      request: [route.method, ouId ?? '', req.url, bytes],
      keepAnswer: route.showsSecret !== true,
      worksWithoutStore: false,
      perform,
    });
  };
}

function successOf(route: RouteDeclaration) {
  for (const [status, response] of Object.entries(route.responses))
    if (Number(status) < 300) return [Number(status), response.schema] as const;
  throw new Error(`${route.name} declares no success`);
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
