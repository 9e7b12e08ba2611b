// Decides what the leads of a batch contribute to their accounts: pure. At most one contribution for each lead and batch, and none
// where nothing has changed. Each is recorded, and sent to the partition of the account.
import {
  accountLimits,
  fieldsAfter,
  type AccountIdentity,
  type Alias,
  type ProfileChange,
  type records,
  type ShownFields,
} from '@lead-scoring/contracts';
import { withAliases } from '@lead-scoring/scoring-domain';
import type { LeadCause, ScoreEvent } from '../scores/messages.js';
import { isNewerValue, type LeadAccount } from './contribution-model.js';
import { accountOfAliases, namedAccountIn } from './identity-model.js';
import { accountMeant, type MergedAccounts } from './merge-model.js';
import type { ContributionEvent } from './messages.js';

/** The parts of a lead that its contribution is made of. */
export interface ContributingLead extends ShownFields {
  readonly score: number;
  readonly aliases: readonly Alias[];
  readonly last_activity_at: string;
  readonly account?: LeadAccount | undefined;
}

export interface ContributionSources {
  /** Whether the OU has account scoring. */
  contributes: (ouId: string) => boolean;
  versionOf: (ouId: string) => number;
  /** The accounts of the OU that were merged into others. */
  mergedOf: (ouId: string) => MergedAccounts;
  /** The lead before the batch; null for a lead that does not exist. */
  leadBefore: (ouId: string, leadId: string) => ContributingLead | null;
}

export interface Contributions {
  readonly events: ContributionEvent[];
  readonly commands: records.ContributeToAccount[];
}

/**
 * The contributions that follow the decisions of a batch.
 * @param decided all decisions of the batch
 * @param causes what ingest recorded, where that was decided: its metadata may name accounts
 */
export function contributionsOf(
  decided: readonly ScoreEvent[],
  causes: readonly LeadCause[],
  sources: ContributionSources,
): Contributions {
  const changes = new Map<string, LeadChange>();
  const commands: records.ContributeToAccount[] = [];
  for (const event of decided) {
    const { ou_id, lead_id } = event.payload;
    // A lead that is removed leaves its account, also where account scoring was switched off since.
    if (event.type !== 'LeadRemoved' && !sources.contributes(ou_id)) continue;
    const name = `${ou_id}/${lead_id}`;
    let change = changes.get(name);
    if (!change) {
      change = new LeadChange(
        { ou_id, lead_id },
        sources.leadBefore(ou_id, lead_id),
        sources.mergedOf(ou_id),
      );
      changes.set(name, change);
    }
    commands.push(...change.decided(event));
  }
  if (changes.size === 0) return { events: [], commands };
  for (const { type, payload } of causes) {
    const change = changes.get(`${payload.ou_id}/${payload.lead_id}`);
    if (type === 'LeadDeleted') change?.forgetNamed();
    // Metadata that is set for a lead names no account; a company that is set is one of the lead's fields.
    else if (type === 'EventsIngested' && sources.contributes(payload.ou_id))
      change?.ingested(payload.events);
  }
  const events: ContributionEvent[] = [];
  for (const change of changes.values()) {
    const { event, sent } = change.contribution(sources);
    if (event) events.push(event);
    commands.push(...sent);
  }
  return { events, commands };
}

/** What is recorded and sent of a lead. */
export interface LeadContribution {
  readonly event: ContributionEvent | null;
  readonly sent: readonly records.ContributeToAccount[];
}

const nothing: LeadContribution = { event: null, sent: [] };

/** A lead in a batch: what its decisions leave, and the account that its events name. */
class LeadChange {
  #lead: ContributingLead | null;
  readonly #before: ContributingLead | null;
  #decision: Decided | null = null;
  #named: { identity: AccountIdentity; at: string } | null = null;
  /** By the id of the account that the event named, and by field. */
  #values = new Map<string, Map<string, ProfileChange>>();

  constructor(
    private readonly identity: { ou_id: string; lead_id: string },
    before: ContributingLead | null,
    private readonly merged: MergedAccounts,
  ) {
    this.#lead = before;
    this.#before = before;
  }

  /** @returns the command by which a removed lead leaves its account */
  decided({ type, payload }: ScoreEvent): records.ContributeToAccount[] {
    switch (type) {
      case 'LeadScored':
        this.#lead = {
          score: payload.score,
          aliases: withAliases(this.#lead?.aliases ?? [], payload.aliases),
          ...fieldsAfter(this.#lead, payload),
          last_activity_at: laterOf(this.#lead?.last_activity_at, payload.last_activity_at),
          account: this.#lead?.account,
        };
        this.#decision = payload;
        return [];
      case 'ScoreAdjusted':
        if (this.#lead && payload.score_type === 'engagement') {
          this.#lead = { ...this.#lead, score: payload.score };
          this.#decision = payload;
        }
        return [];
      case 'LeadRemoved': {
        const left = this.#lead?.account;
        this.#lead = null;
        return left
          ? [leaving(this.identity, left, { decided_at: payload.removed_at, fire_triggers: false })]
          : [];
      }
      case 'LeadLevelChanged':
      case 'LeadContributed':
      case 'DealsIgnored':
        return [];
    }
  }

  /** What was named before belongs to the lead that is deleted. */
  forgetNamed(): void {
    this.#named = null;
    this.#values = new Map();
  }

  ingested(events: records.EventsIngested['events']): void {
    for (const { metadata, timestamp: at } of events) {
      const named = metadata && namedAccountIn(metadata);
      if (!named) continue;
      if (this.#named === null || this.#named.at <= at) this.#named = { identity: named.identity, at };
      const { account_id } = accountMeant(this.identity.ou_id, named.identity, this.merged);
      const values = this.#values.get(account_id) ?? new Map<string, ProfileChange>();
      this.#values.set(account_id, values);
      for (const { field, value } of named.values)
        if (isNewerValue({ value, at }, values.get(field))) values.set(field, { field, value, at });
    }
  }

  contribution({ versionOf }: ContributionSources): LeadContribution {
    const [lead, decision] = [this.#lead, this.#decision];
    if (!lead || !decision) return nothing;
    return contributionOf({
      ...this.identity,
      lead,
      decision,
      named: this.#named,
      valuesOf: (accountId, joins) => this.#newValues(lead, accountId, joins),
      merged: this.merged,
      configuration_version: versionOf(this.identity.ou_id),
    });
  }

  /** Values of the account's fields: those that events named with it, and the lead's company where it is new. */
  #newValues({ fields: { company } }: ContributingLead, accountId: string, joins: boolean): ProfileChange[] {
    const values = new Map(this.#values.get(accountId));
    if (company && !values.has('company') && (joins || company.value !== this.#before?.fields.company?.value))
      values.set('company', { field: 'company', ...company });
    return [...values.values()].slice(0, accountLimits.fields);
  }
}

type Decided = Pick<records.ContributeToAccount, 'decided_at' | 'fire_triggers'>;

/** What decides a lead's contribution. */
export interface ContributionBasis {
  readonly ou_id: string;
  readonly lead_id: string;
  readonly lead: ContributingLead;
  readonly decision: Decided;
  /** The account that the latest event named, of those that count. */
  readonly named: { readonly identity: AccountIdentity; readonly at: string } | null;
  /** Values of the account's fields that the lead's events gave. @param joins whether the lead comes to the account */
  readonly valuesOf: (accountId: string, joins: boolean) => ProfileChange[];
  readonly merged: MergedAccounts;
  readonly configuration_version: number;
}

/** What a lead contributes to its account, as far as that has changed. */
export function contributionOf({
  ou_id,
  lead_id,
  lead,
  decision,
  named,
  valuesOf,
  merged,
  configuration_version,
}: ContributionBasis): LeadContribution {
  const chosen = accountOf(lead, named);
  if (!chosen) return nothing;
  const { named_at } = chosen;
  const account = accountMeant(ou_id, chosen, merged);
  const { account_id } = account;
  const known = lead.account;
  const joins = known?.account_id !== account_id;
  const values = valuesOf(account_id, joins);
  const { decided_at, fire_triggers } = decision;
  const hasChanged =
    joins || known.score !== lead.score || known.configuration_version !== configuration_version;
  // The account does not need to know when it was named last; the lead's next event with another name does.
  const isRecorded = hasChanged || known.named_at !== named_at;
  const isSent = hasChanged || values.length > 0;
  const common = { ou_id, lead_id, ...account, score: lead.score, decided_at };
  const { last_activity_at } = lead;
  const left = known && joins ? [leaving({ ou_id, lead_id }, known, decision)] : [];
  return {
    event: isRecorded
      ? {
          type: 'LeadContributed',
          payload: { ...common, ...(named_at !== undefined && { named_at }), configuration_version },
        }
      : null,
    sent: isSent
      ? [...left, { ...common, last_activity_at, ...(values.length > 0 && { values }), fire_triggers }]
      : [],
  };
}

/** The account that the latest event named, else the one that the lead is in, else that of an e-mail address. */
function accountOf(
  { account: known, aliases }: ContributingLead,
  named: ContributionBasis['named'],
): (AccountIdentity & { named_at?: string }) | null {
  if (named && (known?.named_at === undefined || known.named_at <= named.at))
    return { ...named.identity, named_at: named.at };
  if (known) {
    const { account_kind, account_key, named_at } = known;
    return { account_kind, account_key, ...(named_at !== undefined && { named_at }) };
  }
  return accountOfAliases(aliases);
}

function leaving(
  identity: { readonly ou_id: string; readonly lead_id: string },
  { account_id, account_kind, account_key }: LeadAccount,
  { decided_at, fire_triggers }: Decided,
): records.ContributeToAccount {
  return { ...identity, account_id, account_kind, account_key, score: null, decided_at, fire_triggers };
}

function laterOf(known: string | undefined, time: string): string {
  return known !== undefined && known > time ? known : time;
}
