// Accounts of the leads that fire: added up from the decisions that pass through the partition, and read from the service's
// explanations for everything before those. So a firing seldom waits for the explanations, and never reads there what passed
// here.
import { records } from '@lead-scoring/contracts';
import { isRecord, type IncomingRecord } from '@lead-scoring/event-log';
import { foldAccount, joinAccounts, type AccountRequest, type LeadAccount } from '@lead-scoring/explanations';
import { createStateCache, offsetToNumber, type StateCache } from '@lead-scoring/read-model';
import type { Explanations } from '../explanations/reader.js';

/** A lead as far as it passed here. Never changed: it is the lead as of the last decision in it. */
export interface SeenLead {
  /** null: it was removed. */
  readonly account: LeadAccount | null;
  /** Nothing of the lead lies before what passed, or that is in its account. */
  readonly isWhole: boolean;
  /** Offset of the last record that passed. */
  readonly last: number;
}

export interface LeadName {
  readonly ou_id: string;
  readonly lead_id: string;
}

/** A lead whose account is wanted as of a moment: undefined where nothing of it has passed by then. */
export type WantedLead = LeadName & { readonly seen: SeenLead | undefined };

export function nameOf({ ou_id, lead_id }: LeadName): string {
  return `${ou_id}/${lead_id}`;
}

/** The lead that `nameOf` has named. */
export function leadNamed(name: string): LeadName {
  const slash = name.indexOf('/');
  return { ou_id: name.slice(0, slash), lead_id: name.slice(slash + 1) };
}

export class LeadAccounts {
  readonly #kept: StateCache<SeenLead>;
  /** Offset of the first record that passed: all of scoring.events from there on passed here. */
  #first: number | undefined;
  /** Offset of the last record that passed in a batch that was kept. */
  #last = -1;
  /** The highest offset that is in a lead that the cache has dropped. */
  #dropped = -1;

  constructor(
    private readonly partition: number,
    private readonly explanations: Pick<Explanations, 'reach' | 'read'>,
    { cachedLeads }: { cachedLeads: number },
  ) {
    this.#kept = createStateCache<SeenLead>({
      maximumEntries: cachedLeads,
      onForgotten: (seen) => {
        this.#dropped = Math.max(this.#dropped, seen?.last ?? -1);
      },
    });
  }

  /** Starts a batch. What passes in it is forgotten unless it is kept: the batch may be decided again, in parts. */
  begin(): AccountsOfBatch {
    return new AccountsOfBatch(this);
  }

  get last(): number {
    return this.#last;
  }

  find(name: string): SeenLead | undefined {
    return this.#kept.get(name) ?? undefined;
  }

  /** Whether the record is one of those that pass in order; from the first one on, all are. */
  takes(record: IncomingRecord, offset: number): boolean {
    if (this.#first === undefined && isSentAgain(record)) return false;
    this.#first ??= offset;
    return true;
  }

  /**
   * The accounts before what passed: the explanations are waited for where they have not folded that yet.
   * @throws ExplanationsBehind
   */
  async readEarlier(requests: readonly AccountRequest[]): Promise<(LeadAccount | null)[]> {
    const before = Math.max((this.#first ?? 0) - 1, this.#dropped);
    if (before >= 0 && requests.some(({ up_to }) => up_to !== undefined))
      await this.explanations.reach(this.partition, BigInt(before));
    return this.explanations.read(requests);
  }

  keep(passed: ReadonlyMap<string, SeenLead>, last: number): void {
    this.#last = last;
    for (const [name, seen] of passed) this.#kept.put(name, seen);
  }
}

export class AccountsOfBatch {
  readonly #passed = new Map<string, SeenLead>();
  /** Offset of the last record that passed. */
  #last: number;

  constructor(private readonly accounts: LeadAccounts) {
    this.#last = accounts.last;
  }

  /** Adds up a record of scoring.events, in their order; other records change nothing. */
  see(record: IncomingRecord): void {
    const isRemoved = isRecord(record, records.leadRemoved);
    if (!isRemoved && !isRecord(record, records.leadScored)) return;
    const offset = offsetToNumber(record.offset);
    if (offset <= this.#last || !this.accounts.takes(record, offset)) return;
    this.#last = offset;
    const name = nameOf(record.payload);
    if (isRemoved) {
      this.#passed.set(name, { account: null, isWhole: true, last: offset });
      return;
    }
    const seen = this.#find(name);
    const account = foldAccount(seen?.account ?? null, record.payload, offset);
    const isWhole = seen?.isWhole ?? record.payload.new_lead === true;
    this.#passed.set(name, { account, isWhole, last: offset });
  }

  /** The lead as of the last record that was seen. */
  now(lead: LeadName): SeenLead | undefined {
    return this.#find(nameOf(lead));
  }

  #find(name: string): SeenLead | undefined {
    return this.#passed.get(name) ?? this.accounts.find(name);
  }

  /**
   * The accounts of leads, in the order of the request; null for one of which nothing is known.
   * @throws ExplanationsBehind
   */
  async of(leads: readonly WantedLead[]): Promise<(LeadAccount | null)[]> {
    const earlier = await this.#readEarlier(leads);
    return leads.map((lead) => {
      const { seen } = lead;
      if (seen?.isWhole) return seen.account;
      const before = earlier.get(partName(lead)) ?? null;
      return seen?.account ? this.#join(lead, before, seen.account) : before;
    });
  }

  /** By part name, what lies before what has passed of these leads. */
  async #readEarlier(leads: readonly WantedLead[]): Promise<ReadonlyMap<string, LeadAccount | null>> {
    const parts = new Map<string, AccountRequest>();
    for (const lead of leads) {
      const { ou_id, lead_id, seen } = lead;
      if (seen?.isWhole) continue;
      const up_to = seen?.account ? seen.account.first_offset - 1 : undefined;
      parts.set(partName(lead), { ou_id, lead_id, ...(up_to !== undefined && { up_to }) });
    }
    const found = parts.size > 0 ? await this.accounts.readEarlier([...parts.values()]) : [];
    return new Map([...parts.keys()].map((name, index) => [name, found[index] ?? null]));
  }

  /** Also makes the newest account of the lead whole where it began with the same decision. */
  #join(lead: LeadName, before: LeadAccount | null, account: LeadAccount): LeadAccount {
    const name = nameOf(lead);
    const newest = this.#find(name);
    if (newest?.account?.first_offset === account.first_offset)
      this.#passed.set(name, {
        account: joinAccounts(before, newest.account),
        isWhole: true,
        last: newest.last,
      });
    return joinAccounts(before, account);
  }

  keep(): void {
    this.accounts.keep(this.#passed, this.#last);
  }
}

/** A record that is sent again comes at the place where it first was: more of its lead has passed since. */
function isSentAgain({ headers }: IncomingRecord): boolean {
  return headers['dead-letter-topic'] !== undefined;
}

/** Names the decisions of a lead before those that were seen, or all of them. */
function partName(lead: WantedLead): string {
  const account = lead.seen?.account;
  return `${nameOf(lead)}/${account ? String(account.first_offset) : ''}`;
}
