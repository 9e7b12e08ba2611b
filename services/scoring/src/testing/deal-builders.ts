// Deals for tests: rules over them, and what events say of them.
import { dealKeyOf, type AttributeFilter, type JsonObject, type records } from '@lead-scoring/contracts';
import type { ConfigurationCommand } from '../configuration/messages.js';
import type { DealCommand } from '../deals/messages.js';
import { at, createProfileRule, idOf, ingested, ouId } from './builders.js';

export const keyOf = (dealId: string): string => dealKeyOf(ouId, dealId);

/** A deal rule of the ruleset "Deals". */
export const createDealRule = (
  name: string,
  conditions: AttributeFilter[],
  more: Partial<records.CreateProfileRule> = {},
): ConfigurationCommand => createProfileRule(name, conditions, { ruleset_id: idOf('Deals'), ...more });

export const isWon: AttributeFilter[] = [{ field: 'stage', operator: 'equals', value: 'won' }];
export const isLarge: AttributeFilter[] = [{ field: 'amount', operator: 'gte', value: 10_000 }];

/** What a lead says of a deal: each field with the time of its event. */
export const recordDeal = (
  deal: string,
  changes: records.RecordDeal['changes'],
  more: Partial<records.RecordDeal> = {},
): DealCommand => ({
  type: 'RecordDeal',
  payload: {
    ou_id: ouId,
    deal_key: keyOf(deal),
    deal_id: deal,
    lead_id: idOf('ada'),
    changes,
    decided_at: at,
    fire_triggers: true,
    ...more,
  },
});

export const forgetDealLead = (deal: string, lead: string): DealCommand => ({
  type: 'ForgetDealLead',
  payload: {
    ou_id: ouId,
    deal_key: keyOf(deal),
    lead_id: idOf(lead),
    deletion_id: idOf(`deletion of ${lead}`),
    removed_at: at,
  },
});

/** Events of a lead, each with this `metadata.deal`. */
export const naming = (
  lead: string,
  deals: JsonObject[string][],
  { timestamp, ...more }: Parameters<typeof ingested>[2] & { timestamp?: string } = {},
): records.EventsIngested =>
  ingested(
    lead,
    deals.map((deal, index) => ({
      id: idOf(`${lead} ${JSON.stringify(deal)} ${String(index)} ${timestamp ?? ''}`),
      ...(timestamp !== undefined && { timestamp }),
      metadata: { deal },
    })),
    more,
  );
