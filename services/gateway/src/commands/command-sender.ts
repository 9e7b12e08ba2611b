// Writes the command of a request to its owner's topic and waits for the reply. It sends the command again with another TOKEN_SECRET
// when the first request was made with that one, and about another lead when the id's alias was linked to that lead.
import { leadParametersOf, type records, type RouteDeclaration } from '@lead-scoring/contracts';
import type { OutgoingRecord, Requester } from '@lead-scoring/event-log';
import { requestIdOf, type Sealing } from '@lead-scoring/service';
import { tokenSecretId } from '../credentials/derived-secrets.js';
import { asLogProblem } from '../edge/log-problem.js';
import { actorOf } from '../edge/request.js';
import type { CommandSignature, TokenSecrets } from '../identity/command-signature.js';
import type { OrganisationRateLimit, RateLimit } from '../identity/messages.js';
import type { Forwarder } from '../reads/forward.js';
import type { LookedUp } from '../reads/look-ups.js';
import type { CommandRequest, CommandContent } from './command-request.js';
import type { BuiltCommand, CommandInput } from './command-building.js';

export interface CommandSenderDependencies {
  requester: Requester;
  /** Signs commands to the gateway's own topic. */
  signature: CommandSignature;
  tokenSecrets: TokenSecrets;
  /** The limit of credentials that have none of their own. */
  standardRateLimit: RateLimit;
  /** The configured limit of all credentials of an organisation together. */
  organisationRateLimit: OrganisationRateLimit;
  sealing: Sealing;
  /** The address at which browsers open share links. */
  appUrl: string;
  /** The time after which a command without a reply is answered with 504; a route may declare a longer one. */
  replyTimeoutMs: number;
  /** The lead that an id names. */
  namedLead: Forwarder['namedLead'];
  /** The parts of commands that only their owner knows. */
  lookUp: Forwarder['lookUp'];
}

export type CommandBuilder = (input: CommandInput<never>) => BuiltCommand;

export interface CommandOutcome extends Pick<BuiltCommand, 'shown'> {
  reply: records.CommandReplied;
}

type Parameters = CommandContent['parameters'];

/** The common part of all attempts to send one request's command. */
interface Attempts {
  request: CommandRequest;
  /** The part of the builder's input that is the same for all attempts. */
  input: object;
  /** The token secrets in force, beginning with that of the first request. */
  secrets: TokenSecrets;
}

export class CommandSender {
  readonly #timeoutMs: number;
  readonly #leadParameters: readonly string[];

  constructor(
    private readonly route: RouteDeclaration,
    private readonly build: CommandBuilder,
    private readonly dependencies: CommandSenderDependencies,
  ) {
    this.#timeoutMs = Math.max(dependencies.replyTimeoutMs, route.replyTimeoutMs ?? 0);
    this.#leadParameters = leadParametersOf(route).path;
  }

  /** @param firstMadeWith the id of the token secret of the first request with this key; undefined: this is the first */
  async send(
    request: CommandRequest,
    content: CommandContent,
    firstMadeWith: string | undefined,
  ): Promise<CommandOutcome> {
    const lookedUp = await this.dependencies.lookUp(this.route.name, content, request.req, request.ouId);
    const attempts = this.#attemptsFor(request, content, firstMadeWith, lookedUp);
    const outcome = await this.#sendAbout(content.parameters, attempts);
    if (outcome.reply.outcome !== 'rejected' || outcome.reply.code !== 'lead_not_found') return outcome;
    const named = await this.#withNamedLeads(content.parameters, request);
    return named ? this.#sendAbout(named, attempts) : outcome;
  }

  #attemptsFor(
    request: CommandRequest,
    content: CommandContent,
    firstMadeWith: string | undefined,
    lookedUp: LookedUp,
  ): Attempts {
    const { tokenSecrets, standardRateLimit, organisationRateLimit, sealing, appUrl } = this.dependencies;
    const { caller, commandId, ouId } = request;
    return {
      request,
      input: {
        query: content.query,
        expectedVersion: content.expectedVersion,
        body: content.body,
        rawBody: content.rawBody,
        commandId,
        organisationId: caller.organisationId,
        credentialId: caller.credentialId,
        role: caller.role,
        actor: actorOf(request.req),
        ouId,
        requestedAt: new Date().toISOString(),
        standardRateLimit,
        organisationRateLimit,
        sealing,
        appUrl,
        lookedUp,
      },
      secrets: firstInForce(tokenSecrets, firstMadeWith),
    };
  }

  /** A repeat uses the token secret of the first request, as long as that is in force. */
  async #sendAbout(parameters: Parameters, attempts: Attempts): Promise<CommandOutcome> {
    const [first, ...others] = attempts.secrets;
    let outcome = await this.#sendWith(first, parameters, attempts);
    for (const other of this.route.showsSecret === true ? others : []) {
      const { reply } = outcome;
      if (reply.outcome !== 'rejected' || reply.code !== 'idempotency_key_reused') break;
      outcome = await this.#sendWith(other, parameters, attempts);
    }
    return outcome;
  }

  async #sendWith(
    tokenSecret: string,
    parameters: Parameters,
    { request, input }: Attempts,
  ): Promise<CommandOutcome> {
    const { record, shown } = this.build({
      ...input,
      tokenSecret,
      parameters,
    } as unknown as CommandInput<never>);
    const { requester } = this.dependencies;
    const reply = await requester
      .request(this.#signed({ ...record, headers: headersOf(record, request) }), {
        timeoutMs: this.#timeoutMs,
      })
      .catch((error: unknown) => {
        throw asLogProblem(error, request.commandId);
      });
    return { reply, ...(shown && { shown }) };
  }

  #signed(command: OutgoingRecord): OutgoingRecord {
    return command.declaration.topic === 'gateway.commands'
      ? this.dependencies.signature.sign(command)
      : command;
  }

  /** The parameters with the leads to which their ids' aliases were linked; null where no id was linked. */
  async #withNamedLeads(parameters: Parameters, { req, ouId }: CommandRequest): Promise<Parameters | null> {
    if (ouId === undefined) return null;
    const named: Record<string, unknown> = { ...parameters };
    let isAnother = false;
    for (const name of this.#leadParameters) {
      const leadId = String(parameters[name]).toLowerCase();
      named[name] = await this.dependencies.namedLead(leadId, req, ouId);
      isAnother ||= named[name] !== leadId;
    }
    return isAnother ? named : null;
  }
}

function headersOf(
  { headers }: OutgoingRecord,
  { req, caller, commandId, ouId }: CommandRequest,
): Record<string, string> {
  return {
    ...headers,
    id: commandId,
    actor: caller.actor,
    // Unique among the requests of this instance, also when a caller sends two with the same request id.
    'correlation-id': `${requestIdOf(req)}:${commandId}`,
    ...(ouId !== undefined && { ou: ouId }),
  };
}

/** The token secrets in force, beginning with the one that has the id. */
function firstInForce(secrets: TokenSecrets, id: string | undefined): TokenSecrets {
  const named = secrets.find((secret) => tokenSecretId(secret) === id);
  return named === undefined ? secrets : [named, ...secrets.filter((secret) => secret !== named)];
}
