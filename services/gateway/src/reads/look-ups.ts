// Parts of commands that only the owner knows: the gateway asks for them, in the caller's name, before it sends the command.
import { problem as problemBody, routeDeclarations, routes, type records } from '@lead-scoring/contracts';
import { ProblemError } from '@lead-scoring/service';
import type { z } from 'zod';
import type { Ask, OwnerAnswer } from './owners.js';

const { planAccountMerge } = routeDeclarations;
const { getConfiguration, mergeAccounts, restoreConfiguration } = routes;

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

type LookUp = (request: LookUpRequest, ask: Ask) => Promise<LookedUp>;

const lookUps: Readonly<Record<string, LookUp>> = {
  [mergeAccounts.name]: async ({ parameters, body }, ask) => {
    const { target_id } = body as { target_id: string };
    const path = planAccountMerge.path.replace('{id}', String(parameters.id).toLowerCase());
    const answer = await ask('scoring', `${path}?target_id=${target_id.toLowerCase()}`);
    return { accountMerge: await read(planAccountMerge.responses[200].schema, answer) };
  },
  [restoreConfiguration.name]: async ({ body }, ask) => {
    const { version } = body as { version: number };
    const answer = await ask('scoring', `${getConfiguration.path}?version=${String(version)}`);
    return { earlierConfiguration: await read(getConfiguration.responses[200].schema, answer) };
  },
};

/** @throws ProblemError the owner's refusal, or 503 or 504 */
export async function lookUp(routeName: string, request: LookUpRequest, ask: Ask): Promise<LookedUp> {
  return (await lookUps[routeName]?.(request, ask)) ?? {};
}

async function read<Schema extends z.ZodType>(
  schema: Schema,
  answer: OwnerAnswer,
): Promise<z.output<Schema>> {
  const body: unknown = await answer.body.json();
  if (answer.statusCode === 200) return schema.parse(body);
  const { status, code, detail } = problemBody.parse(body);
  throw new ProblemError(status, code, detail);
}
