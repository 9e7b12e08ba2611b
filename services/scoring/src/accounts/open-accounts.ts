// The accounts of a partition: contributions are decided a batch at a time, folded in memory, and written behind the next batch.
import type { CapabilityDecision, OpenCapability, PartitionScope } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { outgoing, type FoldedRecord, type IncomingRecord } from '@lead-scoring/event-log';
import { BufferedStates, offsetToNumber, WriteBehind } from '@lead-scoring/read-model';
import { rankKey } from '../keys.js';
import { identityOf, leadName } from '../leads/lead-batch.js';
import type { CurrentRules } from '../scores/current-rules.js';
import { decideAccounts } from './decide.js';
import {
  accountLeadKey,
  accountLeads,
  accounts,
  toAccount,
  toAccountDocument,
  type AccountDocument,
  type AccountLeadDocument,
} from './documents.js';
import {
  accountStatistics,
  toAccountStatistics,
  toStatisticsDocument,
  type AccountStatisticsDocument,
} from './account-statistics.js';
import { foldAccount } from './fold.js';
import { countAccountScored, emptyAccountStatistics, type AccountStatistics } from './statistics-fold.js';
import { histogramId } from '../leads/documents.js';
import type { Account } from './state.js';

/** What counts of a lead in an account. */
interface CountedLead {
  readonly score: number;
  readonly offset: number;
}

const maximumCached = { accounts: 500, leads: 5_000, statistics: 500 };

export class OpenAccounts implements OpenCapability {
  /** By leadName of OU and account. */
  readonly #accounts: BufferedStates<Account, AccountDocument>;
  /** By leadName of account and lead. */
  readonly #leads: BufferedStates<CountedLead, AccountLeadDocument>;
  /** By OU. */
  readonly #statistics: BufferedStates<AccountStatistics, AccountStatisticsDocument>;
  readonly #behind: WriteBehind;

  constructor(
    { readModel, partition }: PartitionScope,
    private readonly rules: CurrentRules,
  ) {
    this.#accounts = new BufferedStates(readModel, {
      collection: accounts,
      idOf: (name) => leadKeyOf(name),
      toState: (document, name) => toAccount(document, identityOf(name)[0]),
      toDocument: (account) => toAccountDocument(account, partition),
      maximumCached: maximumCached.accounts,
    });
    this.#leads = new BufferedStates(readModel, {
      collection: accountLeads,
      idOf: leadKeyOf,
      toState: ({ score, offset }) => ({ score, offset }),
      toDocument: ({ score, offset }, name) => {
        const [accountId, leadId] = identityOf(name);
        return { _id: leadKeyOf(name), rank: rankKey(accountId, score, leadId), score, partition, offset };
      },
      maximumCached: maximumCached.leads,
    });
    this.#statistics = new BufferedStates(readModel, {
      collection: accountStatistics,
      idOf: (ouId) => histogramId(ouId, partition),
      toState: toAccountStatistics,
      toDocument: (statistics, ouId) => toStatisticsDocument(statistics, ouId, partition),
      maximumCached: maximumCached.statistics,
      changesInPlace: true,
    });
    // Leads first: a decision is not folded again once its account is stored. Accounts before statistics, so that a list that uses
    // these misses none.
    this.#behind = new WriteBehind([this.#leads, this.#accounts, this.#statistics]);
  }

  async decide(incoming: readonly IncomingRecord[]): Promise<CapabilityDecision> {
    const commands = incoming.map(({ payload }) => payload as records.ContributeToAccount);
    const [rules, before, counted] = await Promise.all([
      this.rules.load(new Set(commands.map(({ ou_id }) => ou_id))),
      this.#accounts.load(commands.map(({ ou_id, account_id }) => leadName(ou_id, account_id))),
      this.#leads.load(commands.map(({ account_id, lead_id }) => leadName(account_id, lead_id))),
    ]);
    const decided = decideAccounts(commands, {
      accountsOf: (ouId) => rules.get(ouId)?.accounts ?? null,
      versionOf: (ouId) => rules.get(ouId)?.version ?? 0,
      accountBefore: (ouId, accountId) => before.get(leadName(ouId, accountId)) ?? null,
      contributionBefore: (accountId, leadId) => counted.get(leadName(accountId, leadId))?.score ?? null,
    });
    return {
      outcome: 'decided',
      events: decided.map((payload) => outgoing(records.accountScored, { key: payload.account_id, payload })),
    };
  }

  async fold(folded: readonly FoldedRecord[]): Promise<void> {
    await this.#behind.room();
    const decisions = folded.map(({ payload, offset }) => ({
      decision: payload as records.AccountScored,
      offset: offsetToNumber(offset),
    }));
    const [states, statistics] = await Promise.all([
      this.#accounts.load(
        decisions.map(({ decision: { ou_id, account_id } }) => leadName(ou_id, account_id)),
      ),
      this.#statistics.load(decisions.map(({ decision: { ou_id } }) => ou_id)),
      this.#leads.load(
        decisions.flatMap(({ decision: { account_id, contributions } }) =>
          contributions.map(({ lead_id }) => leadName(account_id, lead_id)),
        ),
      ),
    ]);
    for (const { decision, offset } of decisions) {
      const { ou_id, account_id, contributions } = decision;
      const counted = statistics.get(ou_id) ?? emptyAccountStatistics();
      statistics.set(ou_id, counted);
      if (countAccountScored(counted, decision, offset)) this.#statistics.put(ou_id, counted);
      const name = leadName(ou_id, account_id);
      const account = states.get(name) ?? null;
      // Folded already, before a crash.
      if (account && account.offset >= offset) continue;
      for (const { lead_id, score } of contributions)
        this.#leads.put(leadName(account_id, lead_id), score === null ? null : { score, offset });
      const after = foldAccount(account, decision, offset);
      states.set(name, after);
      this.#accounts.put(name, after);
    }
  }

  write(awaited: AbortSignal): Promise<void> {
    return this.#behind.write(awaited);
  }

  forget(): void {
    this.#behind.forget();
  }
}

function leadKeyOf(name: string) {
  return accountLeadKey(...identityOf(name));
}
