// The two accounts of a merge: their keys, and what the merge moves. Only scoring knows them.
import { problem as problemBody, routeDeclarations } from '@lead-scoring/contracts';
import { ProblemError } from '@lead-scoring/service';
import type { z } from 'zod';
import type { Ask } from './owners.js';

const { planAccountMerge } = routeDeclarations;

export type AccountMergePlan = z.output<(typeof planAccountMerge.responses)[200]['schema']>;

/** @throws ProblemError scoring's refusal: 404 `account_not_found`, or 503 */
export async function accountMerge(accountId: string, targetId: string, ask: Ask): Promise<AccountMergePlan> {
  const path = planAccountMerge.path.replace('{id}', accountId.toLowerCase());
  const answer = await ask('scoring', `${path}?target_id=${targetId.toLowerCase()}`);
  const body: unknown = await answer.body.json();
  if (answer.statusCode === 200) return planAccountMerge.responses[200].schema.parse(body);
  const { status, code, detail } = problemBody.parse(body);
  throw new ProblemError(status, code, detail);
}
