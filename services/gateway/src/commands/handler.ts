// Routes of kind `command`: validated, written to the owner's topic, and answered with the owner's reply.
import {
  bodyIsOptional,
  isProblemCode,
  leadParametersOf,
  problemTypeOf,
  records,
  type JsonObject,
  type JsonValue,
  type RouteDeclaration,
  type Warning,
} from '@lead-scoring/contracts';
import type { Requester } from '@lead-scoring/event-log';
import type { ReadModel } from '@lead-scoring/read-model';
import {
  decodeUtf8,
  hasBody,
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
import type { RateLimit } from '../identity/messages.js';
import { idempotencyKeyOf, writeId } from '../idempotency/key.js';
import { tokenSecretId } from '../credentials/derived-secrets.js';
import type { CommandSignature, TokenSecrets } from '../identity/command-signature.js';
import type { Forwarder } from '../reads/forward.js';
import { ruleWarnings } from './rule-warnings.js';
import type { BuiltCommand, CommandInput } from './commands.js';

export interface CommandDependencies {
  requester: Requester;
  /** Of commands to the gateway's own topic. */
  signature: CommandSignature;
  readModel: ReadModel;
  gate: DatabaseGate;
  tokenSecrets: TokenSecrets;
  /** Of credentials that have no limit of their own. */
  standardRateLimit: RateLimit;
  sealing: Sealing;
  /** Where browsers open share links. */
  appUrl: string;
  /** Until a command without a reply is answered with 504, where its route does not allow more. */
  replyTimeoutMs: number;
  /** Called when the gateway's own state has changed. */
  identityChanged(): void;
  /** The lead that an id names. */
  namedLead: Forwarder['namedLead'];
  eventTypes: Forwarder['eventTypes'];
  /** Also check results against their declared schema. */
  checkAnswers: boolean;
}

const maximumBodyBytes = 1_000_000;

export function createCommandHandler(
  route: RouteDeclaration,
  build: (input: CommandInput<never>) => BuiltCommand,
  dependencies: CommandDependencies,
): (req: Request, ouId: string | undefined) => Promise<Answer> {
  const { requester, signature, tokenSecrets, standardRateLimit, sealing, appUrl } = dependencies;
  const madeWith = tokenSecretId(tokenSecrets[0]);
  const timeoutMs = Math.max(dependencies.replyTimeoutMs, route.replyTimeoutMs ?? 0);
  const [status, declared] = successOf(route);
  const { path: leadParameters } = leadParametersOf(route);
  const isRequired = !bodyIsOptional(route);
  return async (req, ouId) => {
    const caller = callerOf(req);
    const key = idempotencyKeyOf(headerOf(req, 'idempotency-key'));
    const commandId = writeId(caller.credentialId, route.name, key);
    const bytes =
      route.body && (isRequired || hasBody(req))
        ? (
            await readBody(req, {
              maximumBytes: maximumBodyBytes,
              types: route.bodyTypes ?? ['application/json'],
            })
          ).bytes
        : new Uint8Array();
    const perform = async (firstMadeWith?: string): Promise<Answer> => {
      const text = isRequired || bytes.length > 0 ? decodeUtf8(bytes) : '{}';
      const rawBody = route.body ? parseJson(text) : undefined;
      const parameters = route.parameters ? parseOrProblem(route.parameters, req.params, 'parameters') : {};
      const input = {
        body: route.body ? parseOrProblem(route.body, rawBody, 'body') : {},
        rawBody,
        commandId,
        organisationId: caller.organisationId,
        credentialId: caller.credentialId,
        actor: caller.by,
        ouId,
        requestedAt: new Date().toISOString(),
        standardRateLimit,
        sealing,
        appUrl,
      };
      const sendWith = async (tokenSecret: string, of: Record<string, unknown>) => {
        const { record, shown } = build({
          ...input,
          tokenSecret,
          parameters: of,
        } as unknown as CommandInput<never>);
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
        return { reply, shown };
      };
      /** A repeat is made with what the first request was made with, as long as that is in force. */
      const send = async (of: Record<string, unknown>) => {
        const [first, ...others] = firstInForce(tokenSecrets, firstMadeWith);
        let sent = await sendWith(first, of);
        for (const other of route.showsSecret === true ? others : []) {
          if (sent.reply.outcome !== 'rejected' || sent.reply.code !== 'idempotency_key_reused') break;
          sent = await sendWith(other, of);
        }
        return sent;
      };
      let { reply, shown } = await send(parameters);
      if (reply.outcome === 'rejected' && reply.code === 'lead_not_found' && ouId !== undefined) {
        const named = await withNamedLeads(parameters, leadParameters, (leadId) =>
          dependencies.namedLead(leadId, req, ouId),
        );
        if (named) ({ reply, shown } = await send(named));
      }
      if (route.owner === 'gateway') dependencies.identityChanged();
      if (reply.outcome === 'rejected') throw refused(reply);
      if (!declared) return { status };
      const warnings =
        ouId === undefined
          ? []
          : await ruleWarnings(route, input.body, () => dependencies.eventTypes(req, ouId));
      const result = withMore(reply.result, shown?.((reply.result ?? {}) as JsonObject), warnings);
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
      madeWith,
      perform,
    });
  };
}

/** The secrets in force, the named one first. */
function firstInForce(secrets: TokenSecrets, id: string | undefined): TokenSecrets {
  const named = secrets.find((secret) => tokenSecretId(secret) === id);
  return named === undefined ? secrets : [named, ...secrets.filter((secret) => secret !== named)];
}

/** The parameters with the leads that their ids name; null where those are the same. */
async function withNamedLeads(
  parameters: Readonly<Record<string, unknown>>,
  leadParameters: readonly string[],
  find: (leadId: string) => Promise<string>,
): Promise<Record<string, unknown> | null> {
  const named: Record<string, unknown> = { ...parameters };
  let isAnother = false;
  for (const name of leadParameters) {
    const leadId = String(parameters[name]).toLowerCase();
    named[name] = await find(leadId);
    isAnother ||= named[name] !== leadId;
  }
  return isAnother ? named : null;
}

/** The owner's result with what only the gateway can show. */
function withMore(
  result: JsonValue | undefined,
  shown: JsonObject | undefined,
  warnings: readonly Warning[],
): JsonValue | undefined {
  if (!shown && warnings.length === 0) return result;
  const whole = { ...(result as JsonObject), ...shown };
  if (warnings.length === 0) return whole;
  return { ...whole, warnings: [...((whole.warnings ?? []) as JsonValue[]), ...warnings] };
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
