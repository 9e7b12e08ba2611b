// The scoring of accounts written a second time, for tests: plain and slow, from SPEC.md, API.md and the decisions on accounts and
// their merges and not from the code. It imports nothing of the service.
import { noPoints, ReferenceConditions, scoreOf, type Points } from './reference-conditions.js';

/** An account by what names it, as text: `domain acme.com` or `named Crm-17`. */
export type AccountName = `${'domain' | 'named'} ${string}`;

type Value = string | number;
interface Known {
  at: string;
  value: Value;
}

/** An account as conditions see it: a field without a value is absent. */
export type AccountFacts = Record<string, Value> & {
  name: Value;
  key: string;
  leads: number;
  leads_score: number;
};

export interface ReferenceRollUp {
  method: 'none' | 'sum' | 'mean' | 'max' | 'top';
  /** For top. */
  leads?: number;
}

/** What an event of a lead says of accounts. */
export interface SaidOfAccount {
  at: string;
  account?: AccountName;
  /** Values of fields that it gives the account. */
  values?: Record<string, Value>;
  /** What ingest read of the lead's company. */
  company?: string;
}

/** What a lead tells an account. */
export interface ReferenceContribution {
  lead: string;
  account: AccountName;
  /** null: the lead counts there no more. */
  score: number | null;
  values: Map<string, Known>;
  /** The time of the lead's latest event; absent where it leaves. */
  active?: string;
}

/** A merged account tells a lead where it belongs now. */
export interface ReferenceMove {
  lead: string;
  from: AccountName;
  to: AccountName;
}

/** What a partition knows of the configuration. */
export interface KnownSettings {
  version: number;
  isOn: boolean;
  merged: ReadonlyMap<AccountName, AccountName>;
}

interface ReferenceLead {
  company: Known | null;
  /** The company before the batch. */
  companyBefore: Value | undefined;
  active: string;
  /** What events of the batch said. */
  said: SaidOfAccount[];
  account: AccountName | null;
  /** The time of the event that named the account; empty where none did. */
  namedAt: string;
  /** What was last contributed. */
  score: number;
  version: number;
}

interface ReferenceAccount {
  /** The scores that count. */
  leads: Map<string, number>;
  values: Map<string, Known>;
  points: Points;
  /** Of the roll-up. */
  ofLeads: number;
  rollUp: ReferenceRollUp;
  active: string;
}

/** The accounts of one organisational unit, and what its leads tell them. */
export class ReferenceAccounts {
  readonly rules = new ReferenceConditions<AccountFacts>();
  /** null: none was chosen. */
  rollUp: ReferenceRollUp | null = null;
  readonly #merged = new Map<AccountName, AccountName>();
  readonly #leads = new Map<string, ReferenceLead>();
  readonly #accounts = new Map<AccountName, ReferenceAccount>();

  /** @param addressOf the account of a lead's e-mail address; null for one of a free-mail provider */
  constructor(private readonly addressOf: (lead: string) => AccountName | null) {}

  /** @param version of the configuration */
  settings(version: number): KnownSettings {
    return { version, isOn: this.#isOn(), merged: new Map(this.#merged) };
  }

  /** Account scoring is on while a roll-up or an account ruleset is. */
  #isOn(): boolean {
    const rollsUp = this.rollUp !== null && this.rollUp.method !== 'none';
    return rollsUp || [...this.rules.rulesets.values()].some(({ active }) => active);
  }

  /** Two accounts are one from now on. */
  merge(source: AccountName, target: AccountName): 'done' | 'already done' | 'refused' {
    const [from, to] = [this.meant(source), this.meant(target)];
    if (from !== source) return from === to ? 'already done' : 'refused';
    if (from === to) return 'refused';
    this.#merged.set(source, to);
    return 'done';
  }

  /** The account at the end of a chain of merges. */
  meant(account: AccountName, merged: KnownSettings['merged'] = this.#merged): AccountName {
    const next = merged.get(account);
    return next === undefined ? account : this.meant(next, merged);
  }

  isMerged(account: AccountName): boolean {
    return this.#merged.has(account);
  }

  /** Events of a lead are taken: its batch goes on. */
  take(lead: string, said: readonly SaidOfAccount[]): void {
    const known = this.#leads.get(lead) ?? newLead();
    this.#leads.set(lead, known);
    for (const one of said) {
      known.said.push(one);
      if (one.at > known.active) known.active = one.at;
      if (one.company !== undefined && isNewer({ at: one.at, value: one.company }, known.company))
        known.company = { at: one.at, value: one.company };
    }
  }

  /** @returns what the account hears of it */
  delete(lead: string): ReferenceContribution[] {
    const account = this.#leads.get(lead)?.account ?? null;
    this.#leads.delete(lead);
    return account === null ? [] : [leaves(lead, account)];
  }

  /**
   * A batch of decisions on a lead ends: what it contributes to its account, once.
   * @param score of the lead now
   * @param known what the lead's partition knows
   */
  contribute(lead: string, score: number, { version, isOn, merged }: KnownSettings): ReferenceContribution[] {
    const known = this.#leads.get(lead);
    if (!known) return [];
    const { said, companyBefore, account: before } = known;
    known.said = [];
    known.companyBefore = known.company?.value;
    if (!isOn) return [];
    let named = before;
    for (const { account, at } of said)
      if (account !== undefined && at >= known.namedAt) [named, known.namedAt] = [account, at];
    named ??= this.addressOf(lead);
    if (named === null) return [];
    const account = this.meant(named, merged);
    const joins = account !== before;
    const values = new Map<string, Known>();
    for (const { at, account: of, values: given = {} } of said)
      if (of !== undefined && this.meant(of, merged) === account) addNewer(values, given, at);
    const isOtherCompany = known.company?.value !== companyBefore;
    if (known.company && !values.has('company') && (joins || isOtherCompany))
      values.set('company', known.company);
    const isOther = joins || score !== known.score || version !== known.version;
    Object.assign(known, { account, score, version });
    if (!isOther && values.size === 0) return [];
    return [
      ...(joins && before !== null ? [leaves(lead, before)] : []),
      { lead, account, score, values, active: known.active },
    ];
  }

  /** A lead hears that its account was merged. Where it counts elsewhere by now, nothing happens. */
  move({ lead, from, to }: ReferenceMove, score: number, version: number): ReferenceContribution[] {
    const known = this.#leads.get(lead);
    if (known?.account !== from) return [];
    Object.assign(known, { account: to, score, version });
    return [leaves(lead, from), { lead, account: to, score, values: new Map(), active: known.active }];
  }

  /**
   * An account hears contributions: one decision, with the rules and the roll-up in force now.
   * @returns what it tells leads that came to count in it though it was merged
   */
  hear(account: AccountName, contributions: readonly ReferenceContribution[]): ReferenceMove[] {
    const known = this.#accounts.get(account) ?? newAccount();
    const moves: ReferenceMove[] = [];
    for (const { lead, score } of contributions) {
      if (score === null) known.leads.delete(lead);
      else {
        known.leads.set(lead, score);
        if (this.isMerged(account)) moves.push({ lead, from: account, to: this.meant(account) });
      }
    }
    if (known.leads.size === 0) this.#accounts.delete(account);
    else {
      this.#accounts.set(account, known);
      for (const { values, active = '' } of contributions) {
        for (const [field, { at, value }] of values) addNewer(known.values, { [field]: value }, at);
        if (active > known.active) known.active = active;
      }
      known.rollUp = this.#isOn() ? (this.rollUp ?? { method: 'sum' }) : { method: 'none' };
      known.ofLeads = rolledUp([...known.leads.values()], known.rollUp);
      known.points = this.#isOn() ? this.rules.due(this.factsOf(account)) : noPoints();
    }
    return moves;
  }

  /** What a merged account tells leads that count in it. */
  tell(account: AccountName, leads: readonly string[]): ReferenceMove[] {
    return leads.map((lead) => ({ lead, from: account, to: this.meant(account) }));
  }

  accounts(): AccountName[] {
    return [...this.#accounts.keys()];
  }

  /** The account in which a lead counts, as the lead knows it. */
  accountOf(lead: string): AccountName | null {
    return this.#leads.get(lead)?.account ?? null;
  }

  /** The score that counts of a lead, as the lead knows it. */
  contributed(lead: string): number {
    return this.#leads.get(lead)?.score ?? 0;
  }

  /** The scores that count in an account, by lead. */
  leadsOf(account: AccountName): ReadonlyMap<string, number> {
    return this.#accounts.get(account)?.leads ?? new Map<string, number>();
  }

  known(account: AccountName): Readonly<ReferenceAccount> {
    return this.#accounts.get(account) ?? newAccount();
  }

  scoreOf(account: AccountName): number {
    const { points, ofLeads } = this.known(account);
    return scoreOf(points) + ofLeads;
  }

  /** The points that the rules in force now would give. */
  dueOf(account: AccountName): number {
    return scoreOf(this.rules.due(this.factsOf(account)));
  }

  /** Values that events gave, and what is known of every account, which no event can say otherwise. */
  factsOf(account: AccountName): AccountFacts {
    const { values, leads, ofLeads } = this.known(account);
    const [kind, key] = partsOf(account);
    const given = Object.fromEntries([...values].map(([field, { value }]) => [field, value]));
    return {
      ...given,
      name: this.nameOf(account),
      key,
      ...(kind === 'domain' && { domain: key }),
      leads: leads.size,
      leads_score: ofLeads,
    };
  }

  /** The name or, without one, the company that events gave; else the key. */
  nameOf(account: AccountName): Value {
    const { values } = this.known(account);
    return (values.get('name') ?? values.get('company'))?.value ?? partsOf(account)[1];
  }
}

function newLead(): ReferenceLead {
  return {
    company: null,
    companyBefore: undefined,
    active: '',
    said: [],
    account: null,
    namedAt: '',
    score: 0,
    version: 0,
  };
}

function newAccount(): ReferenceAccount {
  return {
    leads: new Map(),
    values: new Map(),
    points: noPoints(),
    ofLeads: 0,
    rollUp: { method: 'none' },
    active: '',
  };
}

function leaves(lead: string, account: AccountName): ReferenceContribution {
  return { lead, account, score: null, values: new Map() };
}

export function partsOf(account: AccountName): [kind: 'domain' | 'named', key: string] {
  const end = account.indexOf(' ');
  return [account.startsWith('domain') ? 'domain' : 'named', account.slice(end + 1)];
}

/** The latest event wins; of one time the greater value, as text. */
function isNewer(one: Known, known: Known | null | undefined): boolean {
  if (!known || known.at !== one.at) return !known || known.at < one.at;
  return JSON.stringify(known.value) < JSON.stringify(one.value);
}

function addNewer(known: Map<string, Known>, given: Record<string, Value>, at: string): void {
  for (const [field, value] of Object.entries(given))
    if (isNewer({ at, value }, known.get(field))) known.set(field, { at, value });
}

function rolledUp(scores: number[], { method, leads = 1 }: ReferenceRollUp): number {
  const sum = (some: number[]) => some.reduce((total, score) => total + score, 0);
  const highest = scores.toSorted((one, other) => other - one);
  switch (method) {
    case 'none':
      return 0;
    case 'sum':
      return sum(scores);
    case 'mean':
      // Not -0, which is no score.
      return Math.round(sum(scores) / scores.length) || 0;
    case 'max':
      return sum(highest.slice(0, 1));
    case 'top':
      return sum(highest.slice(0, leads));
  }
}
