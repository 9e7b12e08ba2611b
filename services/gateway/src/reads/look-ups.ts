// Parts of commands that only the owner knows: the gateway asks for them, in the caller's name, before it sends the command.
import { problem as problemBody, routeDeclarations, routes, type records } from '@lead-scoring/contracts';
import { ProblemError } from '@lead-scoring/service';
import type { z } from 'zod';
import { problem } from '../problem.js';
import type { Ask, OwnerAnswer } from './owners.js';

const { planAccountMerge } = routeDeclarations;
const {
  changeLimits,
  changeServiceAccount,
  changeToken,
  getConfiguration,
  listChannels,
  mergeAccounts,
  restoreConfiguration,
} = routes;

/** The looked-up parts of a command, for its builder; a route without a look-up has none of them. */
export interface LookedUp {
  /** For a merge of accounts: the keys of both, and the numbers of leads and deals that the merge moves. */
  accountMerge?: z.output<(typeof planAccountMerge.responses)[200]['schema']>;
  /** For the restoring of a configuration: the document of the earlier version. */
  earlierConfiguration?: records.ConfigurationFile;
}

/** A validated request. */
export interface LookUpRequest {
  parameters: Readonly<Record<string, unknown>>;
  body: unknown;
}

/** Asks owners in the caller's name. */
export interface CallersQuestions {
  /** In the OU of the request, if it has one. */
  ask: Ask;
  /** In an OU that the request names. @throws ProblemError 404 when the caller may not use it */
  askIn: (ouId: string) => Promise<Ask>;
}

type LookUp = (request: LookUpRequest, questions: CallersQuestions) => Promise<LookedUp>;

/** Refuses a warning channel that its OU does not have. A channel that is deleted later stays named, and its messages are cancelled. */
const checkWarningChannel: LookUp = async ({ body }, { askIn }) => {
  const { warning_channel } = body as { warning_channel?: records.WarningChannel | null };
  if (!warning_channel) return {};
  const ask = await askIn(warning_channel.ou_id.toLowerCase());
  const channels = await bodyOfAnswer(
    listChannels.responses[200].schema,
    await ask('notification', listChannels.path),
  );
  if (channels.some(({ id }) => id === warning_channel.channel_id.toLowerCase())) return {};
  throw problem(
    'notification_channel_not_found',
    'The organizational unit that warning_channel names has no notification channel with this id. GET /notification-channels lists those of a unit.',
  );
};

const lookUps: Readonly<Record<string, LookUp>> = {
  [mergeAccounts.name]: async ({ parameters, body }, { ask }) => {
    const { target_id } = body as { target_id: string };
    const path = planAccountMerge.path.replace('{id}', String(parameters.id).toLowerCase());
    const answer = await ask('scoring', `${path}?target_id=${target_id.toLowerCase()}`);
    return { accountMerge: await bodyOfAnswer(planAccountMerge.responses[200].schema, answer) };
  },
  [restoreConfiguration.name]: async ({ body }, { ask }) => {
    const { version } = body as { version: number };
    const answer = await ask('scoring', `${getConfiguration.path}?version=${String(version)}`);
    return { earlierConfiguration: await bodyOfAnswer(getConfiguration.responses[200].schema, answer) };
  },
  [changeLimits.name]: checkWarningChannel,
  [changeToken.name]: checkWarningChannel,
  [changeServiceAccount.name]: checkWarningChannel,
};

/** @throws ProblemError the owner's refusal, a refusal of what the owner does not have, or 503 or 504 */
export async function lookUp(
  routeName: string,
  request: LookUpRequest,
  questions: CallersQuestions,
): Promise<LookedUp> {
  return (await lookUps[routeName]?.(request, questions)) ?? {};
}

/** What an owner has answered. @throws ProblemError the owner's refusal */
export async function bodyOfAnswer<Schema extends z.ZodType>(
  schema: Schema,
  answer: OwnerAnswer,
): Promise<z.output<Schema>> {
  const body: unknown = await answer.body.json();
  if (answer.statusCode === 200) return schema.parse(body);
  const { status, code, detail } = problemBody.parse(body);
  throw new ProblemError(status, code, detail);
}
