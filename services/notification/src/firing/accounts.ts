// What is told of the leads that fire: from the decisions that the partition sees pass, and from the service's explanations
// for what lies before those. So a firing seldom waits for the explanations, and never reads what passed here.
import { records } from '@lead-scoring/contracts';
import { isRecord, type IncomingRecord } from '@lead-scoring/event-log';
import { foldAccount, joinAccounts, type AccountRequest, type LeadAccount } from '@lead-scoring/explanations';
import { createStateCache, offsetToNumber } from '@lead-scoring/read-model';
import type { Explanations } from './explanations.js';

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
  ou_id: string;
  lead_id: string;
}

/** A lead to be told of, as of a moment: undefined where nothing of it has passed by then. */
export type ToldLead = LeadName & { seen: SeenLead | undefined };

export interface LeadAccounts {
  /** A batch. What passes in it is forgotten unless it is kept: it may be decided again, in parts. */
  begin(): AccountsOfBatch;
}

export interface AccountsOfBatch {
  /** Looks at a record of scoring.events, in their order; at others not. */
  see(record: IncomingRecord): void;
  /** The lead as of the last record that was seen. */
  now(lead: LeadName): SeenLead | undefined;
  /**
   * The accounts of leads, in the order of the request; null for one of which nothing is known.
   * @throws ExplanationsBehind
   */
  of(leads: readonly ToldLead[]): Promise<(LeadAccount | null)[]>;
  keep(): void;
}

export function nameOf({ ou_id, lead_id }: LeadName): string {
  return `${ou_id}/${lead_id}`;
}

export function createLeadAccounts(
  partition: number,
  explanations: Pick<Explanations, 'reach' | 'read'>,
  { cachedLeads }: { cachedLeads: number },
): LeadAccounts {
  /** Offsets: all of scoring.events passed here from the first on; what is forgotten of it lies before the other. */
  let first: number | undefined;
  let last = -1;
  let forgotten = -1;
  const kept = createStateCache<SeenLead>({
    maximumEntries: cachedLeads,
    onForgotten: (seen) => {
      forgotten = Math.max(forgotten, seen?.last ?? -1);
    },
  });

  /** One that is sent again comes at the place where it first was: of its lead more has passed since. */
  function isSentAgain({ headers }: IncomingRecord): boolean {
    return headers['dead-letter-topic'] !== undefined;
  }

  return {
    begin: () => {
      const passed = new Map<string, SeenLead>();
      let upTo = last;
      const now = (name: string) => passed.get(name) ?? kept.get(name) ?? undefined;

      /** What lies before what has passed of these leads: found where it was folded by when the first record passed. */
      async function read(requests: readonly AccountRequest[]): Promise<(LeadAccount | null)[]> {
        const before = Math.max((first ?? 0) - 1, forgotten);
        if (before >= 0 && requests.some(({ up_to }) => up_to !== undefined))
          await explanations.reach(partition, BigInt(before));
        return explanations.read(requests);
      }

      return {
        see: (record) => {
          const isRemoved = isRecord(record, records.leadRemoved);
          if (!isRemoved && !isRecord(record, records.leadScored)) return;
          const offset = offsetToNumber(record.offset);
          if (offset <= upTo || (first === undefined && isSentAgain(record))) return;
          first ??= offset;
          upTo = offset;
          const name = nameOf(record.payload);
          if (isRemoved) {
            passed.set(name, { account: null, isWhole: true, last: offset });
            return;
          }
          const seen = now(name);
          const account = foldAccount(seen?.account ?? null, record.payload, offset);
          const isWhole = seen?.isWhole ?? record.payload.new_lead === true;
          passed.set(name, { account, isWhole, last: offset });
        },

        now: (lead) => now(nameOf(lead)),

        of: async (leads) => {
          const parts = new Map<string, AccountRequest>();
          for (const { ou_id, lead_id, seen } of leads) {
            if (seen?.isWhole) continue;
            const up_to = seen?.account ? seen.account.first_offset - 1 : undefined;
            parts.set(partName({ ou_id, lead_id }, seen), {
              ou_id,
              lead_id,
              ...(up_to !== undefined && { up_to }),
            });
          }
          const found = parts.size > 0 ? await read([...parts.values()]) : [];
          const before = new Map([...parts.keys()].map((name, index) => [name, found[index] ?? null]));
          return leads.map(({ ou_id, lead_id, seen }) => {
            if (seen?.isWhole) return seen.account;
            const earlier = before.get(partName({ ou_id, lead_id }, seen)) ?? null;
            if (!seen?.account) return earlier;
            const name = nameOf({ ou_id, lead_id });
            const newest = now(name);
            if (newest?.account?.first_offset === seen.account.first_offset)
              passed.set(name, {
                account: joinAccounts(earlier, newest.account),
                isWhole: true,
                last: newest.last,
              });
            return joinAccounts(earlier, seen.account);
          });
        },

        keep: () => {
          last = upTo;
          for (const [name, seen] of passed) kept.put(name, seen);
        },
      };
    },
  };
}

/** What lies before a stretch of a lead's decisions, or all of them. */
function partName(lead: LeadName, seen: SeenLead | undefined): string {
  return `${nameOf(lead)}/${seen?.account ? String(seen.account.first_offset) : ''}`;
}
