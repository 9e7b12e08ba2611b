// The won deals of a range, from their documents, as far as one answer may take them into account.
import { attributionLimits, wonStages } from '@lead-scoring/contracts';
import { uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { problem, type ProblemError } from '@lead-scoring/service';
import { dealFieldsOf } from '../deals/answers.js';
import { deals, toDeal } from '../deals/documents.js';
import { conditionFieldsOf } from '../deals/state.js';
import type { WonDeal } from './credit-model.js';

export interface ClosedRange {
  readonly from: string;
  /** Exclusive. */
  readonly to: string;
  /** undefined: any that means won. */
  readonly stage?: string | undefined;
}

/** @throws ProblemError 422 `range_too_large` */
export async function wonDeals(
  readModel: ReadModel,
  ouId: string,
  { from, to, stage }: ClosedRange,
): Promise<WonDeal[]> {
  const stages = stage === undefined ? [...wonStages] : [stage.toLowerCase()];
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(deals)
      .find({ ou: uuidToBinary(ouId), stage: { $in: stages }, closed_at: { $gte: from, $lt: to } })
      .limit(attributionLimits.deals + 1)
      .toArray(),
  );
  return withinLimits(
    found.map((document) => {
      const deal = toDeal(document);
      const fields = dealFieldsOf(conditionFieldsOf(deal));
      return {
        id: deal.id,
        stage: fields.stage ?? '',
        amount: fields.amount,
        currency: fields.currency,
        closed_at: document.closed_at ?? from,
        leads: deal.leads,
      };
    }),
  );
}

/** @throws ProblemError 422 `range_too_large` for more deals, or more leads of them, than one answer takes into account */
export function withinLimits(won: WonDeal[]): WonDeal[] {
  if (won.length > attributionLimits.deals)
    throw rangeTooLarge(`More than ${String(attributionLimits.deals)} deals were won`);
  const leads = new Set(won.flatMap((deal) => deal.leads));
  if (leads.size > attributionLimits.leads)
    throw rangeTooLarge(`The won deals have more than ${String(attributionLimits.leads)} leads`);
  return won;
}

/** @param found what there is too much of */
export function rangeTooLarge(found: string): ProblemError {
  return problem(
    'range_too_large',
    `${found} between \`from\` and \`to\`, which is more than one answer takes into account. Ask for a shorter time, part by part.`,
  );
}
