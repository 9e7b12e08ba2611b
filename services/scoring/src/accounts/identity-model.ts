// The account that an e-mail address or an event's metadata names. Pure.
import {
  accountLimits,
  type AccountIdentity,
  type Alias,
  type JsonObject,
  type JsonValue,
  type ProfileValue,
} from '@lead-scoring/contracts';
import { emailDomainOf, mappedValue } from '@lead-scoring/scoring-domain';
import { parse } from 'tldts';
import { isFreeMail } from './mail-model.js';

/** The account that an event names, and the values of its fields that the event has. */
export interface NamedAccount {
  readonly identity: AccountIdentity;
  readonly values: readonly { readonly field: string; readonly value: ProfileValue }[];
}

/** The account of the first e-mail address whose domain is not that of a free-mail provider; null: there is none. */
export function accountOfAliases(aliases: readonly Alias[]): AccountIdentity | null {
  for (const { alias_kind, alias } of aliases) {
    const host = alias_kind === 'email' ? emailDomainOf(alias) : undefined;
    const domain = host === undefined ? null : parse(host).domain;
    if (domain !== null && domain.length <= accountLimits.key && !isFreeMail(domain))
      return { account_kind: 'domain', account_key: domain };
  }
  return null;
}

/**
 * The account that an event's metadata names: `account` is a domain, a key, or an object with `domain` or `id` beside further
 * fields of the account. null: it names none.
 */
export function namedAccountIn(metadata: JsonObject): NamedAccount | null {
  const named = Object.hasOwn(metadata, 'account') ? metadata.account : undefined;
  if (typeof named === 'string' || typeof named === 'number') {
    const identity = identityOfText(String(named));
    return identity && { identity, values: [] };
  }
  if (named === undefined || named === null || typeof named !== 'object' || Array.isArray(named)) return null;
  const identity = domainIn(named.domain) ?? keyIn(named.id);
  return identity && { identity, values: valuesIn(named) };
}

/** Longer texts are no domains. */
const maximumAddress = 1_000;

/** A text that is a domain of a known suffix, or an address of one, names the account of its e-mail addresses. */
function identityOfText(text: string): AccountIdentity | null {
  if (text.length > maximumAddress) return keyIn(text);
  const isOneWord = !/\s/.test(text.trim());
  const { domain, isIcann } = parse(text.trim());
  return isOneWord && domain !== null && isIcann === true ? domainIn(domain) : keyIn(text);
}

function domainIn(value: JsonValue | undefined): AccountIdentity | null {
  if (typeof value !== 'string' || value.length > maximumAddress) return null;
  const { domain } = parse(value.trim());
  if (domain === null || domain.length > accountLimits.key) return null;
  return { account_kind: 'domain', account_key: domain };
}

function keyIn(value: JsonValue | undefined): AccountIdentity | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const key = String(value).trim().slice(0, accountLimits.key).toWellFormed();
  return key === '' ? null : { account_kind: 'named', account_key: key };
}

const fieldName = /^[a-z][a-z0-9_]{0,49}$/;

/** Texts, numbers, booleans and short lists of them, limited as values of profiles are. */
function valuesIn(named: JsonObject): NamedAccount['values'] {
  const values: { field: string; value: ProfileValue }[] = [];
  for (const [field, found] of Object.entries(named)) {
    if (values.length >= accountLimits.fields) break;
    // The domain is what the account is found by.
    if (field === 'domain' || !fieldName.test(field)) continue;
    const value = mappedValue(found, []);
    if (value !== undefined) values.push({ field, value });
  }
  return values;
}
