// Accounts (scores, contributions, fields and activity) of the leads that fire. Decisions that passed through this partition since it was
// opened are added up in memory; older decisions are read from the service's explanations. A firing therefore waits for the
// explanations only when its lead has decisions from before the partition was opened.
import { records } from '@lead-scoring/contracts';
import { isRecord, type IncomingRecord } from '@lead-scoring/event-log';
import { foldAccount, joinAccounts, type AccountRequest, type LeadAccount } from '@lead-scoring/explanations';
import { createStateCache, offsetToNumber, type StateCache } from '@lead-scoring/read-model';
import type { ScoreDecision } from '@lead-scoring/scoring-domain';
import type { Explanations } from '../explanations/reader.js';
import { cacheKeyOf } from './subject-model.js';

/** A lead's decisions that passed through this partition. Immutable: a later decision makes a new one. */
export interface SeenLead {
  /** null: the lead was removed. */
  readonly account: LeadAccount | null;
  /** The account has all decisions of the lead, those from before the partition was opened included. */
  readonly isWhole: boolean;
  /** Offset of the last record that passed. */
  readonly last: number;
}

export interface LeadIdentity {
  readonly ou_id: string;
  readonly lead_id: string;
}

/** A request for a lead's account as of a record; `seen` is undefined where no decision of the lead had passed by then. */
export type WantedLead = LeadIdentity & { readonly seen: SeenLead | undefined };

export class LeadAccounts {
  readonly #kept: StateCache<SeenLead>;
  /** Offset of the first record of scoring.events that passed; every later record of the partition passes too. */
  #first: number | undefined;
  /** Offset of the last record that passed in a batch whose accounts were kept. */
  #last = -1;
  /** The highest offset in a lead that the cache has evicted. */
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

  /** Starts a batch. Its accounts are discarded unless `keep` is called: a batch that is too large is decided again in parts. */
  begin(): BatchAccounts {
    return new BatchAccounts(this);
  }

  get last(): number {
    return this.#last;
  }

  find(key: string): SeenLead | undefined {
    return this.#kept.get(key) ?? undefined;
  }

  /** False for a dead letter that is sent again before any record has passed: its place in the order is not known. */
  takes(record: IncomingRecord, offset: number): boolean {
    if (this.#first === undefined && isSentAgain(record)) return false;
    this.#first ??= offset;
    return true;
  }

  /**
   * Reads the accounts as of before the records that passed, and waits for the explanations where they have not folded those yet.
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
    for (const [key, seen] of passed) this.#kept.put(key, seen);
  }
}

export class BatchAccounts {
  readonly #passed = new Map<string, SeenLead>();
  /** Offset of the last record that passed. */
  #last: number;

  constructor(private readonly accounts: LeadAccounts) {
    this.#last = accounts.last;
  }

  /** Adds a record of scoring.events to its lead's account; ignores all other records. Call it in the order of the log. */
  see(record: IncomingRecord): void {
    const isRemoved = isRecord(record, records.leadRemoved);
    if (!isRemoved && !isDecision(record)) return;
    const offset = offsetToNumber(record.offset);
    if (offset <= this.#last || !this.accounts.takes(record, offset)) return;
    this.#last = offset;
    const key = cacheKeyOf(record.payload);
    if (isRemoved) {
      this.#passed.set(key, { account: null, isWhole: true, last: offset });
      return;
    }
    const seen = this.#find(key);
    const account = foldAccount(seen?.account ?? null, record.payload, offset);
    const isWhole = seen?.isWhole ?? ('new_lead' in record.payload && record.payload.new_lead === true);
    this.#passed.set(key, { account, isWhole, last: offset });
  }

  /** The lead as of the last record that was passed to `see`. */
  now(lead: LeadIdentity): SeenLead | undefined {
    return this.#find(cacheKeyOf(lead));
  }

  #find(key: string): SeenLead | undefined {
    return this.#passed.get(key) ?? this.accounts.find(key);
  }

  /**
   * The accounts of leads, in the order of the request; null for a lead without a decision.
   * @throws ExplanationsBehind
   */
  async of(leads: readonly WantedLead[]): Promise<(LeadAccount | null)[]> {
    const earlier = await this.#readEarlier(leads);
    return leads.map((lead) => {
      const { seen } = lead;
      if (seen?.isWhole) return seen.account;
      const before = earlier.get(requestKeyOf(lead)) ?? null;
      return seen?.account ? this.#join(lead, before, seen.account) : before;
    });
  }

  /** The accounts from before the records that passed, by request key. */
  async #readEarlier(leads: readonly WantedLead[]): Promise<ReadonlyMap<string, LeadAccount | null>> {
    const parts = new Map<string, AccountRequest>();
    for (const lead of leads) {
      const { ou_id, lead_id, seen } = lead;
      if (seen?.isWhole) continue;
      const up_to = seen?.account ? seen.account.first_offset - 1 : undefined;
      parts.set(requestKeyOf(lead), { ou_id, lead_id, ...(up_to !== undefined && { up_to }) });
    }
    const found = parts.size > 0 ? await this.accounts.readEarlier([...parts.values()]) : [];
    return new Map([...parts.keys()].map((key, index) => [key, found[index] ?? null]));
  }

  /** Joins both parts of the account, and completes the lead's newest account too where it began with the same decision. */
  #join(lead: LeadIdentity, before: LeadAccount | null, account: LeadAccount): LeadAccount {
    const key = cacheKeyOf(lead);
    const newest = this.#find(key);
    if (newest?.account?.first_offset === account.first_offset)
      this.#passed.set(key, {
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

function isDecision(record: IncomingRecord): record is IncomingRecord & { payload: ScoreDecision } {
  return isRecord(record, records.leadScored) || isRecord(record, records.scoreAdjusted);
}

/** Whether a dead letter is sent again. It carries its old offset, so later records of its lead may have passed already. */
function isSentAgain({ headers }: IncomingRecord): boolean {
  return headers['dead-letter-topic'] !== undefined;
}

/** Identifies a request: the lead, and the offset up to which its account is read from the explanations. */
function requestKeyOf(lead: WantedLead): string {
  const account = lead.seen?.account;
  return `${cacheKeyOf(lead)}/${account ? String(account.first_offset) : ''}`;
}
