// Routes of kind `command`: validated, written to the owner's topic, and answered with the owner's reply.
import type { RouteDeclaration } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import type { Request } from 'express';
import { tokenSecretId } from '../credentials/derived-secrets.js';
import type { DatabaseGate } from '../database-gate.js';
import { performOnce } from '../idempotency/answers.js';
import type { Answer } from '../idempotency/write-claim.js';
import type { Charge } from '../lead-import/table-charge.js';
import type { Forwarder } from '../reads/forward.js';
import { answerOf, successOf } from './command-answer.js';
import { jobAnswerOf } from './job-answer.js';
import { readCommandRequest, contentOf, type CommandRequest } from './command-request.js';
import { CommandSender, type CommandBuilder, type CommandSenderDependencies } from './command-sender.js';
import { ruleWarnings } from './rule-warnings.js';

export interface CommandDependencies extends CommandSenderDependencies {
  readModel: ReadModel;
  gate: DatabaseGate;
  /** Called when the gateway's own state has changed. */
  identityChanged(): void;
  eventTypes: Forwarder['eventTypes'];
  job: Forwarder['job'];
  /** Takes what a command brings in from quotas. */
  charge: Charge;
  /** Also check results against their declared schema. */
  checkAnswers: boolean;
}

export function createCommandHandler(
  route: RouteDeclaration,
  build: CommandBuilder,
  dependencies: CommandDependencies,
): (req: Request, ouId: string | undefined) => Promise<Answer> {
  const sender = new CommandSender(route, build, dependencies);
  const success = successOf(route);
  const madeWith = tokenSecretId(dependencies.tokenSecrets[0]);
  const perform = async (request: CommandRequest, firstMadeWith?: string): Promise<Answer> => {
    const content = contentOf(route, request);
    const giveBack = await dependencies.charge(route.name, request, content);
    const outcome = await sender.send(request, content, firstMadeWith);
    if (outcome.reply.outcome === 'rejected') giveBack();
    if (route.owner === 'gateway') dependencies.identityChanged();
    const { req, ouId } = request;
    if (route.waitsForJobMs !== undefined && outcome.reply.outcome === 'done')
      return jobAnswerOf(route, outcome.reply, (jobId) => dependencies.job(jobId, req, ouId));
    return answerOf(success, outcome, {
      warningsOf: async () =>
        ouId === undefined ? [] : ruleWarnings(route, content.body, () => dependencies.eventTypes(req, ouId)),
      isChecked: dependencies.checkAnswers,
    });
  };
  return async (req, ouId) => {
    const request = await readCommandRequest(route, req, ouId);
    if (!request.isRepeatable) return perform(request);
    return performOnce(dependencies, {
      id: request.commandId,
      request: [route.method, ouId ?? '', req.url, request.bytes],
      keepAnswer: route.showsSecret !== true,
      worksWithoutStore: false,
      madeWith,
      perform: (firstMadeWith) => perform(request, firstMadeWith),
    });
  };
}
