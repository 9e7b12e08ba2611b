// Credit for won deals: which touches came before each, and what a model gives them. Pure.
import { amountUnits, apportion, creditPlaces } from './apportion.js';
import { dayMs, weightsOf, type ChosenModel } from './models.js';

export interface WonDeal {
  readonly id: string;
  readonly stage: string;
  readonly amount: number | null;
  readonly currency: string | null;
  readonly closed_at: string;
  readonly leads: readonly string[];
}

export interface Touch {
  readonly id: string;
  readonly lead_id: string;
  readonly at: string;
  readonly event_type: string;
  readonly campaign?: string | undefined;
  readonly path?: string | undefined;
}

/** A touch before a deal, and what it gets of it. */
export interface CreditedTouch {
  readonly touch: Touch;
  /** In units of `creditPlaces`. */
  readonly credit: bigint;
  /** In units of `amountPlaces`; 0 where the deal has no amount. */
  readonly amount: bigint;
}

export interface CreditedDeal {
  readonly deal: WonDeal;
  /** null: the deal has none. */
  readonly amount: bigint | null;
  /** In their order of time; empty where nobody gets credit. */
  readonly touches: readonly CreditedTouch[];
}

/** What a deal is shared by. */
export interface CreditOptions extends ChosenModel {
  /** null: all touches before it count. */
  readonly lookback_days: number | null;
}

/** One deal. */
export const wholeDeal = 10n ** BigInt(creditPlaces);

export function creditedDeals(
  deals: readonly WonDeal[],
  touches: readonly Touch[],
  options: CreditOptions,
): CreditedDeal[] {
  const ofLead = new Map<string, Touch[]>();
  for (const touch of touches) {
    const known = ofLead.get(touch.lead_id);
    if (known) known.push(touch);
    else ofLead.set(touch.lead_id, [touch]);
  }
  return deals.map((deal) => creditedDeal(deal, touchesBefore(deal, ofLead, options), options));
}

/** The touches of its leads before the deal was closed, by time and, of one time, by id. */
function touchesBefore(
  { leads, closed_at }: WonDeal,
  ofLead: ReadonlyMap<string, readonly Touch[]>,
  { lookback_days }: CreditOptions,
): Touch[] {
  const earliest =
    lookback_days === null ? '' : new Date(Date.parse(closed_at) - lookback_days * dayMs).toISOString();
  return leads
    .flatMap((lead) => ofLead.get(lead) ?? [])
    .filter(({ at }) => at < closed_at && at >= earliest)
    .sort((one, other) => compare(one.at, other.at) || compare(one.id, other.id));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function creditedDeal(deal: WonDeal, touches: readonly Touch[], model: ChosenModel): CreditedDeal {
  const amount = deal.amount === null ? null : amountUnits(deal.amount);
  if (touches.length === 0) return { deal, amount, touches: [] };
  const weights = weightsOf(
    model,
    touches.map(({ at }) => Date.parse(at)),
  );
  const credits = apportion(wholeDeal, weights);
  const amounts = apportion(amount ?? 0n, weights);
  return {
    deal,
    amount,
    touches: touches.map((touch, index) => ({
      touch,
      credit: credits[index] ?? 0n,
      amount: amounts[index] ?? 0n,
    })),
  };
}
