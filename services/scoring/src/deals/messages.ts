// Commands about a deal, and the events that make it.
import { records } from '@lead-scoring/contracts';

export type DealCommand =
  | { type: 'RecordDeal'; payload: records.RecordDeal }
  | { type: 'ForgetDealLead'; payload: records.ForgetDealLead };

export type DealEvent =
  | { type: 'DealScored'; payload: records.DealScored }
  | { type: 'DealLeadRemoved'; payload: records.DealLeadRemoved }
  | { type: 'DealRemoved'; payload: records.DealRemoved };

export const dealCommands = {
  RecordDeal: records.recordDeal,
  ForgetDealLead: records.forgetDealLead,
} as const;

export const dealEvents = {
  DealScored: records.dealScored,
  DealLeadRemoved: records.dealLeadRemoved,
  DealRemoved: records.dealRemoved,
} as const;
