// What a lead contributes to its account, as the lead remembers it: folded from LeadContributed. Pure.
import type { AccountIdentity, ProfileChange, records } from '@lead-scoring/contracts';

/** The account of a lead, and what counts there of the lead. */
export interface LeadAccount extends AccountIdentity {
  readonly account_id: string;
  /** The time of the event that named the account; absent where an e-mail address did. */
  readonly named_at?: string;
  /** The score that counts in the account. */
  readonly score: number;
  /** The version of the configuration that decided when it last contributed. */
  readonly configuration_version: number;
}

export function leadAccountOf({
  account_id,
  account_kind,
  account_key,
  named_at,
  score,
  configuration_version,
}: records.LeadContributed): LeadAccount {
  return {
    account_id,
    account_kind,
    account_key,
    ...(named_at !== undefined && { named_at }),
    score,
    configuration_version,
  };
}

/**
 * Whether a value of an account's field takes the place of another: the latest event time wins, and of one time the greater value,
 * so that the order in which leads contribute makes no difference.
 */
export function isNewerValue(
  value: Pick<ProfileChange, 'value' | 'at'>,
  known: Pick<ProfileChange, 'value' | 'at'> | undefined,
): boolean {
  if (!known || known.at !== value.at) return !known || known.at < value.at;
  return JSON.stringify(known.value) < JSON.stringify(value.value);
}
