// The documents of leads, of their timelines, and of histograms of scores.
import { nameBasedId, type Alias, type LeadFields, type OverriddenFields } from '@lead-scoring/contracts';
import {
  defineCollection,
  packJson,
  readJson,
  unpackJson,
  uuidToBinary,
  type Binary,
  type GuardedDocument,
} from '@lead-scoring/read-model';
import type { LeadDecay, ScoreDecision } from '@lead-scoring/scoring-domain';
import { leadKey, leadOfKey, rankKey } from '../keys.js';
import type { StoredOpenGains } from '../gains/documents.js';
import type { LeadAccount } from '../accounts/contribution-model.js';
import type { DueEntry } from '../decays/due-entry-model.js';
import type { LeadProfile } from '../profile/state.js';
import type { LimitUses } from '../scores/use-model.js';
import type { Histogram } from './histogram-fold.js';
import { sparseScoreOf } from './sparse-scores.js';
import {
  loweredTextsOf,
  nameOf,
  searchTextOf,
  type Lead,
  type LoweredTexts,
  type ScoreReset,
} from './state.js';

/** `_id` is leadKey. */
export interface LeadDocument extends GuardedDocument {
  _id: Binary;
  /** rankKey: the lead's rank in its OU's order of scores. */
  rank: Binary;
  name: string;
  /** The name lower-cased, for sorting. */
  name_key: string;
  owner: string;
  search: string;
  /** For filters: absent in documents stored before there were filters. */
  lowered?: LoweredTexts;
  /** As they are shown. */
  fields: LeadFields;
  /** Absent where callers have set no fields. */
  overridden?: OverriddenFields;
  aliases: Alias[];
  score: number;
  /** Only for leads with another profile score than 0. */
  profile_score?: number;
  /** Only for leads with another deal score than 0. */
  deal_score?: number;
  rulesets: { ruleset_id: string; score: number }[];
  resets?: ScoreReset[];
  event_count: number;
  first_activity_at: string;
  last_activity_at: string;
  last_scored_at?: string;
  decay?: LeadDecay;
  due_entry?: DueEntry;
  first_offset: number;
  /** Absent for a lead without profile values and points. */
  profile?: LeadProfile;
  /** Keys of the deals that its events named; absent where there are none. */
  deals?: string[];
  /** What they give it, by their keys. */
  deal_scores?: Record<string, number>;
  /** Keys of those that count as a whole; absent where there are none. */
  whole_deals?: string[];
  /** Absent for a lead that counts in no account. */
  account?: LeadAccount;
  /** JSON text: what limits of rules have counted. Absent where they have counted nothing. */
  limit_uses?: string;
}

/** `_id` is aliasKey. Only linked aliases have a document: the lead of any other alias is computed. */
export interface AliasDocument {
  _id: Binary;
  partition: number;
}

/** A recorded decision that explains the score (`explainsScore`); `_id` is recordKey of lead and offset. */
export interface TimelineDocument {
  _id: Binary;
  ou: Binary;
  /** The record as JSON: storedJson. */
  json: Binary;
  partition: number;
}

export interface HistogramDocument extends GuardedDocument, StoredOpenGains {
  _id: Binary;
  ou: Binary;
  leads: number;
  /** JSON text: bucket, count, bucket, count … in order of buckets. */
  buckets: string;
  /** The same of profile scores other than 0. Absent where there are none. */
  profile_buckets?: string;
  /** The same of deal scores. */
  deal_buckets?: string;
  /** Kinds of alias that leads have, from which a search computes the possible lead ids of a text. */
  alias_kinds: string[];
}

/** Each further index would cost every write of a lead, also of a lead that is not in it. */
export const leads = defineCollection<LeadDocument>({ name: 'leads', indexes: [{ key: { rank: 1 } }] });
export const leadAliases = defineCollection<AliasDocument>({ name: 'lead_aliases', indexes: [] });
export const timeline = defineCollection<TimelineDocument>({ name: 'timeline', indexes: [] });
export const histograms = defineCollection<HistogramDocument>({
  name: 'score_histograms',
  indexes: [{ key: { ou: 1 } }],
});

export function toLeadDocument(lead: Lead, partition: number): LeadDocument {
  const name = nameOf(lead);
  const lowered = loweredTextsOf(lead);
  const profileScore = sparseScoreOf(lead, 'profile');
  const dealScore = sparseScoreOf(lead, 'deal');
  return {
    _id: leadKey(lead.ou_id, lead.id),
    rank: rankKey(lead.ou_id, lead.score, lead.id),
    // Fields that lists filter and sort by come first: the database reads a document up to the required field.
    search: searchTextOf(lowered),
    owner: lead.fields.owner?.value ?? '',
    score: lead.score,
    ...(profileScore !== 0 && { profile_score: profileScore }),
    ...(dealScore !== 0 && { deal_score: dealScore }),
    name_key: name.toLowerCase(),
    last_activity_at: lead.last_activity_at,
    first_activity_at: lead.first_activity_at,
    lowered,
    offset: lead.offset,
    name,
    fields: lead.fields,
    ...(lead.overridden && { overridden: lead.overridden }),
    aliases: [...lead.aliases],
    rulesets: [...lead.rulesets],
    ...(lead.resets && { resets: [...lead.resets] }),
    event_count: lead.event_count,
    ...(lead.last_scored_at !== undefined && { last_scored_at: lead.last_scored_at }),
    ...(lead.decay && { decay: lead.decay }),
    ...(lead.due_entry && { due_entry: lead.due_entry }),
    first_offset: lead.first_offset,
    ...(lead.profile && { profile: lead.profile }),
    ...(lead.deals && { deals: [...lead.deals] }),
    ...(lead.deal_scores && { deal_scores: { ...lead.deal_scores } }),
    ...(lead.whole_deals && { whole_deals: [...lead.whole_deals] }),
    ...(lead.account && { account: lead.account }),
    partition,
    ...(lead.limit_uses && { limit_uses: JSON.stringify(lead.limit_uses) }),
  };
}

export function toLead(document: LeadDocument, ouId: string): Lead {
  const {
    aliases,
    fields,
    overridden,
    score,
    rulesets,
    resets,
    event_count,
    first_activity_at,
    last_activity_at,
    last_scored_at,
    decay,
    due_entry,
    first_offset,
    offset,
    profile,
    deals,
    deal_scores,
    whole_deals,
    account,
    limit_uses,
  } = document;
  return {
    id: leadOfKey(document._id),
    ou_id: ouId,
    aliases,
    fields,
    ...(overridden && { overridden }),
    score,
    rulesets,
    ...(resets && { resets }),
    event_count,
    first_activity_at,
    last_activity_at,
    ...(last_scored_at !== undefined && { last_scored_at }),
    ...(decay && { decay }),
    ...(due_entry && { due_entry }),
    first_offset,
    offset,
    ...(profile && { profile }),
    ...(deals && { deals }),
    ...(deal_scores && { deal_scores }),
    ...(whole_deals && { whole_deals }),
    ...(account && { account }),
    ...(limit_uses !== undefined && { limit_uses: JSON.parse(limit_uses) as LimitUses }),
  };
}

export function decisionOf({ json }: TimelineDocument): ScoreDecision {
  return readJson(json) as unknown as ScoreDecision;
}

export function histogramId(ouId: string, partition: number): Binary {
  return uuidToBinary(nameBasedId(ouId, `histogram:${String(partition)}`));
}

export function packHistogram(histogram: Histogram): string {
  return packJson([...histogram].sort(([left], [right]) => left - right).flat());
}

/** @param buckets absent: no lead was counted */
export function unpackHistogram(buckets = '[]'): Map<number, number> {
  const numbers = unpackJson(buckets) as number[];
  const histogram = new Map<number, number>();
  for (let index = 0; index < numbers.length; index += 2)
    histogram.set(numbers[index] ?? 0, numbers[index + 1] ?? 0);
  return histogram;
}
