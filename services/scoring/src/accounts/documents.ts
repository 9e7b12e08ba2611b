// The documents of accounts, and of the leads that count in them.
import type { AccountKind, RollUp } from '@lead-scoring/contracts';
import {
  bytesOf,
  defineCollection,
  orderedKey,
  packJson,
  readUuid,
  unpackJson,
  uuidBytes,
  type Binary,
  type GuardedDocument,
} from '@lead-scoring/read-model';
import type { HeldPoints, ProfileValues } from '@lead-scoring/scoring-domain';
import type { GivenPoints } from '../condition-rules/points-model.js';
import { leadKey, leadOfKey, rankKey } from '../keys.js';
import type { LeadScores } from './rollup-model.js';
import { accountNameOf, type Account } from './state.js';

/** `_id` is leadKey of OU and account. */
export interface AccountDocument extends GuardedDocument {
  _id: Binary;
  /** rankKey: the account's rank in its OU's order of scores. */
  rank: Binary;
  /** The name lower-cased, up to 200 characters, for sorting. */
  name_key: string;
  /** Name and key lower-cased, a line each. */
  search: string;
  account_kind: AccountKind;
  account_key: string;
  score: number;
  leads: number;
  /** JSON text: bucket, leads, sum, bucket … */
  scores: string;
  leads_points: number;
  roll_up: RollUp;
  given: GivenPoints[];
  /** Absent where limits of rulesets hold nothing. */
  held?: HeldPoints[];
  values: ProfileValues;
  created_at: string;
  last_activity_at: string;
  updated_at: string;
  configuration_version: number;
}

/** The fields that lists show, and their order by score. */
export const shownFields = [
  ...(['rank', 'account_kind', 'account_key', 'score', 'leads', 'values'] as const),
  ...(['created_at', 'last_activity_at', 'updated_at'] as const),
] as const;
export type ShownAccount = Pick<AccountDocument, '_id' | (typeof shownFields)[number]>;

/** A lead that counts in an account; `_id` is accountLeadKey. */
export interface AccountLeadDocument extends GuardedDocument {
  _id: Binary;
  /** rankKey of account, score and lead: the lead's rank in the account's order of scores. */
  rank: Binary;
  score: number;
}

export const accounts = defineCollection<AccountDocument>({
  name: 'accounts',
  indexes: [{ key: { rank: 1 } }],
});
export const accountLeads = defineCollection<AccountLeadDocument>({
  name: 'account_leads',
  indexes: [{ key: { rank: 1 } }],
});

export function accountLeadKey(accountId: string, leadId: string): Binary {
  return orderedKey([accountId, leadId]);
}

export function leadOfAccountLeadKey(key: Binary): string {
  return readUuid(bytesOf(key), uuidBytes);
}

export function toAccountDocument(account: Account, partition: number): AccountDocument {
  const { id, ou_id, account_kind, account_key, score, leads, leads_points, roll_up, offset } = account;
  const { created_at, last_activity_at, updated_at, configuration_version } = account;
  const name = accountNameOf(account).toLowerCase();
  return {
    _id: leadKey(ou_id, id),
    rank: rankKey(ou_id, score, id),
    name_key: name.slice(0, 200).toWellFormed(),
    search: `${name}\n${account_key.toLowerCase()}`,
    account_kind,
    account_key,
    score,
    leads,
    scores: packScores(account.scores),
    leads_points,
    roll_up,
    given: [...account.given],
    ...(account.held.length > 0 && { held: [...account.held] }),
    values: account.values,
    created_at,
    last_activity_at,
    updated_at,
    configuration_version,
    partition,
    offset,
  };
}

export function toAccount(document: AccountDocument, ouId: string): Account {
  const { account_kind, account_key, score, leads, leads_points, roll_up, given, held, values, offset } =
    document;
  const { created_at, last_activity_at, updated_at, configuration_version } = document;
  return {
    id: leadOfKey(document._id),
    ou_id: ouId,
    account_kind,
    account_key,
    score,
    leads,
    scores: unpackScores(document.scores),
    leads_points,
    roll_up,
    given,
    held: held ?? [],
    values,
    created_at,
    last_activity_at,
    updated_at,
    configuration_version,
    offset,
  };
}

function packScores(scores: LeadScores): string {
  return packJson(
    [...scores]
      .sort(([one], [other]) => one - other)
      .flatMap(([bucket, { leads, sum }]) => [bucket, leads, sum]),
  );
}

function unpackScores(text: string): LeadScores {
  const numbers = unpackJson(text) as number[];
  const scores = new Map<number, { leads: number; sum: number }>();
  for (let index = 0; index < numbers.length; index += 3)
    scores.set(numbers[index] ?? 0, { leads: numbers[index + 1] ?? 0, sum: numbers[index + 2] ?? 0 });
  return scores;
}
