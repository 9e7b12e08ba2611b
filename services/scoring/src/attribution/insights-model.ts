// Sums of credit by event type, campaign and path, and the deals of one of these sums: pure.
import {
  eventTypeKey,
  preferredEventTypeName,
  type AttributionDimension,
  type routeDeclarations,
} from '@lead-scoring/contracts';
import { amountPlaces, creditPlaces, numberOf } from './apportion.js';
import type { CreditedDeal, CreditedTouch, Touch } from './credit-model.js';

type Row = routeDeclarations.AttributionRow;
type Rows = routeDeclarations.AttributionRows;
type Insights = routeDeclarations.AttributionInsights;
type Currency = string | null;

/** The rows of a page. */
export interface ShownRows {
  readonly page: number;
  readonly limit: number;
}

export function insightsOf(
  deals: readonly CreditedDeal[],
  shown: ShownRows,
): Pick<
  Insights,
  'deals' | 'amounts' | 'leads' | 'touches' | 'untouched' | 'event_types' | 'campaigns' | 'paths'
> {
  const touches = deals.flatMap((deal) => deal.touches.map(({ touch }) => touch));
  return {
    ...dealSum(deals),
    leads: new Set(touches.map(({ lead_id }) => lead_id)).size,
    touches: touches.length,
    untouched: dealSum(deals.filter((deal) => deal.touches.length === 0)),
    event_types: rowsBy('event_type', deals, shown),
    campaigns: rowsBy('campaign', deals, shown),
    paths: rowsBy('path', deals, shown),
  };
}

function dealSum(deals: readonly CreditedDeal[]): Pick<Insights, 'deals' | 'amounts'> {
  const sums = new Map<Currency, { units: bigint; deals: number }>();
  for (const { amount, deal } of deals) {
    if (amount === null) continue;
    const { units, deals: before } = sums.get(deal.currency) ?? { units: 0n, deals: 0 };
    sums.set(deal.currency, { units: units + amount, deals: before + 1 });
  }
  return {
    deals: deals.length,
    amounts: [...sums].sort(byCurrency).map(([currency, sum]) => ({
      currency,
      amount: numberOf(sum.units, amountPlaces),
      deals: sum.deals,
    })),
  };
}

/** What the touches of one value get. */
class ValueSum {
  credit = 0n;
  touches = 0;
  readonly deals = new Set<string>();
  readonly leads = new Set<string>();
  readonly amounts = new Map<Currency, bigint>();

  constructor(readonly value: string | null) {}

  add({ deal, amount }: CreditedDeal, credited: CreditedTouch): void {
    this.credit += credited.credit;
    this.touches += 1;
    this.deals.add(deal.id);
    this.leads.add(credited.touch.lead_id);
    if (amount !== null) addTo(this.amounts, deal.currency, credited.amount);
  }
}

function rowsBy(
  dimension: AttributionDimension,
  deals: readonly CreditedDeal[],
  { page, limit }: ShownRows,
): Rows {
  const sums = new Map<string | null, ValueSum>();
  for (const deal of deals)
    for (const credited of deal.touches) {
      const key = keyOf(dimension, credited.touch);
      let sum = sums.get(key);
      if (!sum) sums.set(key, (sum = new ValueSum(key)));
      sum.add(deal, credited);
    }
  const ordered = [...sums.values()].sort(byCredit);
  const first = (page - 1) * limit;
  const names = dimension === 'event_type' ? shownNames(deals) : new Map<string, string>();
  return {
    data: ordered.slice(first, first + limit).map((sum) => rowOf(sum, names)),
    total: ordered.length,
    other: together([...ordered.slice(0, first), ...ordered.slice(first + limit)]),
  };
}

/** What touches of one row have in common; null: they have no such value. */
function keyOf(dimension: AttributionDimension, touch: Touch): string | null {
  const value = touch[dimension] ?? null;
  return dimension === 'event_type' && value !== null ? eventTypeKey(value) : value;
}

/** The spelling to show of each event type. */
function shownNames(deals: readonly CreditedDeal[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { touches } of deals)
    for (const { touch } of touches) {
      const key = eventTypeKey(touch.event_type);
      names.set(key, preferredEventTypeName(names.get(key) ?? touch.event_type, touch.event_type));
    }
  return names;
}

/** Most credit first; then by value, touches without one last. */
function byCredit(one: ValueSum, other: ValueSum): number {
  if (one.credit !== other.credit) return one.credit > other.credit ? -1 : 1;
  if (one.value === null || other.value === null) return one.value === null ? 1 : -1;
  return one.value < other.value ? -1 : 1;
}

function rowOf(
  { value, credit, amounts, touches, deals, leads }: ValueSum,
  names: ReadonlyMap<string, string>,
): Row {
  return {
    value: value === null ? null : (names.get(value) ?? value),
    credit: numberOf(credit, creditPlaces),
    amounts: amountsOf(amounts),
    touches,
    deals: deals.size,
    leads: leads.size,
  };
}

function together(sums: readonly ValueSum[]): Rows['other'] {
  const amounts = new Map<Currency, bigint>();
  for (const sum of sums) for (const [currency, units] of sum.amounts) addTo(amounts, currency, units);
  return {
    values: sums.length,
    credit: numberOf(
      sums.reduce((before, { credit }) => before + credit, 0n),
      creditPlaces,
    ),
    amounts: amountsOf(amounts),
    touches: sums.reduce((before, { touches }) => before + touches, 0),
  };
}

function addTo(amounts: Map<Currency, bigint>, currency: Currency, units: bigint): void {
  amounts.set(currency, (amounts.get(currency) ?? 0n) + units);
}

function amountsOf(amounts: ReadonlyMap<Currency, bigint>): Row['amounts'] {
  return [...amounts]
    .sort(byCurrency)
    .map(([currency, units]) => ({ currency, amount: numberOf(units, amountPlaces) }));
}

/** By code, amounts without a currency last. */
function byCurrency([one]: readonly [Currency, unknown], [other]: readonly [Currency, unknown]): number {
  if (one === null || other === null) return one === null ? 1 : -1;
  return one < other ? -1 : 1;
}

/** The touches that a number is made of. */
export interface WantedTouches {
  readonly by?: AttributionDimension | 'untouched' | undefined;
  /** Absent: touches without a value. */
  readonly value?: string | undefined;
}

/** The deals of a number, most credit first; of equal ones the latest closed. */
export function dealsOf(
  deals: readonly CreditedDeal[],
  wanted: WantedTouches,
): routeDeclarations.CreditedDeal[] {
  return chosenDeals(deals, wanted)
    .map((deal) => ({ deal, credit: creditOf(deal.touches) }))
    .sort((one, other) =>
      one.credit === other.credit ? byClosing(one.deal, other.deal) : one.credit > other.credit ? -1 : 1,
    )
    .map(({ deal, credit }) => dealAnswer(deal, credit));
}

function chosenDeals(deals: readonly CreditedDeal[], { by, value }: WantedTouches): CreditedDeal[] {
  if (by === undefined) return [...deals];
  if (by === 'untouched') return deals.filter(({ touches }) => touches.length === 0);
  const key = by === 'event_type' && value !== undefined ? eventTypeKey(value) : (value ?? null);
  return deals
    .map((deal) => ({ ...deal, touches: deal.touches.filter(({ touch }) => keyOf(by, touch) === key) }))
    .filter(({ touches }) => touches.length > 0);
}

function byClosing({ deal: one }: CreditedDeal, { deal: other }: CreditedDeal): number {
  if (one.closed_at !== other.closed_at) return one.closed_at > other.closed_at ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}

function creditOf(touches: readonly CreditedTouch[]): bigint {
  return touches.reduce((before, { credit }) => before + credit, 0n);
}

function dealAnswer({ deal, amount, touches }: CreditedDeal, credit: bigint): routeDeclarations.CreditedDeal {
  const credited = touches.reduce((before, touch) => before + touch.amount, 0n);
  return {
    deal_id: deal.id,
    stage: deal.stage,
    amount: deal.amount,
    currency: deal.currency,
    closed_at: deal.closed_at,
    credit: numberOf(credit, creditPlaces),
    credited_amount: amount === null ? null : numberOf(credited, amountPlaces),
    touches: touches.length,
    leads: leadsOf(touches),
  };
}

function leadsOf(touches: readonly CreditedTouch[]): routeDeclarations.CreditedDeal['leads'] {
  const leads = new Map<string, CreditedTouch[]>();
  for (const credited of touches)
    leads.set(credited.touch.lead_id, [...(leads.get(credited.touch.lead_id) ?? []), credited]);
  return [...leads]
    .map(([lead_id, own]) => ({ lead_id, credit: creditOf(own), touches: own.length }))
    .sort((one, other) => (one.credit === other.credit ? 0 : one.credit > other.credit ? -1 : 1))
    .map(({ lead_id, credit: units, touches: number }) => ({
      lead_id,
      credit: numberOf(units, creditPlaces),
      touches: number,
    }));
}
