// Counts leads in their accounts by their recorded history: what their events have named, and what they contribute by that. Pure.
import { accountLimits, type AccountIdentity, type ProfileChange, records } from '@lead-scoring/contracts';
import { leadName } from '../leads/lead-batch.js';
import type { Lead } from '../leads/state.js';
import type { LeadCause } from '../scores/messages.js';
import { isNewerValue, leadAccountOf } from './contribution-model.js';
import {
  contributionOf,
  type ContributingLead,
  type Contributions,
  type LeadContribution,
} from './decide-contributions.js';
import { namedAccountIn } from './identity-model.js';
import { accountMeant, type MergedAccounts } from './merge-model.js';

/** An account that events of a lead have named. */
interface NamedAccount {
  readonly identity: AccountIdentity;
  at: string;
  /** Grows with each event that named it, so that of two of one time the later one counts. */
  order: number;
  readonly values: Map<string, ProfileChange>;
}

/** What the recorded events of a group of leads have named. */
export class NamedHistory {
  /** By lead, and by the kind and key of the account. */
  readonly #leads = new Map<string, Map<string, NamedAccount>>();
  #events = 0;

  /** Takes records of ingest, in their order. What was named before a lead was deleted is of the deleted lead. */
  take(causes: readonly LeadCause[]): void {
    for (const { type, payload } of causes)
      if (type === 'LeadDeleted') this.#leads.delete(payload.lead_id);
      else if (type === 'EventsIngested')
        for (const event of payload.events) this.#takeEvent(payload.lead_id, event);
  }

  #takeEvent(leadId: string, { metadata, timestamp: at }: records.EventsIngested['events'][number]): void {
    const found = metadata && namedAccountIn(metadata);
    if (!found) return;
    const { identity, values } = found;
    const named = this.#leads.get(leadId) ?? new Map<string, NamedAccount>();
    this.#leads.set(leadId, named);
    const name = `${identity.account_kind} ${identity.account_key}`;
    const account: NamedAccount = named.get(name) ?? { identity, at, order: 0, values: new Map() };
    named.set(name, account);
    this.#events += 1;
    if (account.at <= at) [account.at, account.order] = [at, this.#events];
    for (const { field, value } of values)
      if (isNewerValue({ value, at }, account.values.get(field)))
        account.values.set(field, { field, value, at });
  }

  /** The accounts that the lead's events named, the one that counts first; values of the first ones where there are very many. */
  of(leadId: string): records.NamedAccounts {
    const named = [...(this.#leads.get(leadId)?.values() ?? [])].sort((one, other) =>
      one.at === other.at ? other.order - one.order : one.at < other.at ? 1 : -1,
    );
    let left = accountLimits.fields;
    return named.slice(0, records.maximumNamedAccounts).map(({ identity, at, values }) => {
      const told = [...values.values()].slice(0, left);
      left -= told.length;
      return { ...identity, at, values: told };
    });
  }
}

/** By what a lead contributes. */
export interface BackfillRules {
  readonly merged: MergedAccounts;
  readonly configuration_version: number;
}

/** What a lead contributes to its account by its history. */
export function backfilled(
  lead: ContributingLead,
  { ou_id, lead_id, named, decided_at, fire_triggers }: records.ContributeLead,
  { merged, configuration_version }: BackfillRules,
): LeadContribution {
  const [latest] = named;
  return contributionOf({
    ou_id,
    lead_id,
    lead,
    decision: { decided_at, fire_triggers },
    named: latest ? { identity: latest, at: latest.at } : null,
    valuesOf: (accountId, joins) => {
      const values = valuesFor(accountId, { ou_id, named }, merged);
      const { company } = lead.fields;
      if (company && joins && !values.has('company')) values.set('company', { field: 'company', ...company });
      return [...values.values()].slice(0, accountLimits.fields);
    },
    merged,
    configuration_version,
  });
}

/** The values for an account: also those of accounts that were merged into it. */
function valuesFor(
  accountId: string,
  { ou_id, named }: Pick<records.ContributeLead, 'ou_id' | 'named'>,
  merged: MergedAccounts,
): Map<string, ProfileChange> {
  const values = new Map<string, ProfileChange>();
  for (const account of named)
    if (accountMeant(ou_id, account, merged).account_id === accountId)
      for (const value of account.values)
        if (isNewerValue(value, values.get(value.field))) values.set(value.field, value);
  return values;
}

/** What becomes of a lead by its contribution. */
export function outcomeOf(
  { account }: Pick<ContributingLead, 'account'>,
  { event, sent }: LeadContribution,
): keyof records.AccountBackfillFound {
  if (event && event.payload.account_id !== account?.account_id) return account ? 'moving' : 'joining';
  if (event || sent.length > 0) return 'refreshed';
  return account ? 'unchanged' : 'without_account';
}

export interface BackfillSources {
  /** null: the OU has no account scoring. */
  rulesOf: (ouId: string) => BackfillRules | null;
  /** The lead as it is stored; null for one that does not exist. */
  leadBefore: (ouId: string, leadId: string) => Lead | null;
  /** The leads as the batch has decided on them so far: they take what is decided now. */
  decided: Map<string, Lead>;
}

/** What the leads of a batch contribute. A command that comes again changes nothing. */
export function decideBackfilled(
  commands: readonly records.ContributeLead[],
  { rulesOf, leadBefore, decided }: BackfillSources,
): Contributions {
  const contributions: Contributions = { events: [], commands: [] };
  for (const command of commands) {
    const { ou_id, lead_id } = command;
    const name = leadName(ou_id, lead_id);
    const rules = rulesOf(ou_id);
    const lead = decided.get(name) ?? leadBefore(ou_id, lead_id);
    if (!rules || !lead) continue;
    const { event, sent } = backfilled(lead, command, rules);
    contributions.commands.push(...sent);
    if (!event) continue;
    contributions.events.push(event);
    decided.set(name, { ...lead, account: leadAccountOf(event.payload) });
  }
  return contributions;
}
