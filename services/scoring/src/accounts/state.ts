// The state of an account, folded from the decisions on it. Pure.
import type { AccountIdentity, JsonObject } from '@lead-scoring/contracts';
import type { AccountPoints, ProfileValues } from '@lead-scoring/scoring-domain';
import type { LeadScores } from './rollup-model.js';

export interface Account extends AccountIdentity, AccountPoints {
  readonly id: string;
  readonly ou_id: string;
  readonly scores: LeadScores;
  /** Values that events gave. */
  readonly values: ProfileValues;
  readonly created_at: string;
  /** The time of the latest event of a lead that a contribution told of. */
  readonly last_activity_at: string;
  readonly updated_at: string;
  /** The version that made the last decision. */
  readonly configuration_version: number;
  /** Offset of the last decision folded. */
  readonly offset: number;
}

/** The name to display: the latest name or company that events gave, else the key. */
export function accountNameOf({ values, account_key }: Pick<Account, 'values' | 'account_key'>): string {
  const textOf = (field: string) => {
    const value = values.find((one) => one.field === field)?.value;
    return typeof value === 'string' ? value : undefined;
  };
  return textOf('name') ?? textOf('company') ?? account_key;
}

/** The fields of an account for rules. Values that events gave never take the place of what is known of every account. */
export function accountFields(
  account: Pick<Account, 'values' | 'account_kind' | 'account_key'>,
  { leads, leads_score }: { leads: number; leads_score: number },
): JsonObject {
  const fields: JsonObject = {};
  for (const { field, value } of account.values) fields[field] = value;
  fields.name = accountNameOf(account);
  fields.key = account.account_key;
  delete fields.domain;
  if (account.account_kind === 'domain') fields.domain = account.account_key;
  fields.leads = leads;
  fields.leads_score = leads_score;
  return fields;
}
