// The accounts of a partition: contributions are decided a batch at a time, folded in memory, and written behind the next batch.
import type { CapabilityDecision, OpenCapability, PartitionScope } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import {
  outgoing,
  pause,
  type FoldedRecord,
  type IncomingRecord,
  type OutgoingRecord,
} from '@lead-scoring/event-log';
import { BufferedStates, offsetToNumber, WriteBehind } from '@lead-scoring/read-model';
import { rankKey } from '../keys.js';
import { identityOf, leadName } from '../leads/lead-batch.js';
import type { CurrentRules } from '../scores/current-rules.js';
import type { CompiledRules } from '../scores/rule-model.js';
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
import { movesOfLate } from './move-leads.js';
import type { Account } from './state.js';
import { leadsAfter } from './stored-accounts.js';

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
  readonly #readModel: PartitionScope['readModel'];

  constructor(
    { readModel, partition }: PartitionScope,
    private readonly rules: CurrentRules,
    private readonly onError: (error: unknown) => void,
  ) {
    this.#readModel = readModel;
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
    const contributions = incoming.filter(({ type }) => type === records.contributeToAccount.type);
    const steps = incoming.filter(({ type }) => type === records.moveAccountLeads.type);
    const commands = contributions.map(({ payload }) => payload as records.ContributeToAccount);
    const [rules, before, counted] = await Promise.all([
      this.rules.load(new Set(incoming.map(ouOf))),
      this.#accounts.load(commands.map(({ ou_id, account_id }) => leadName(ou_id, account_id))),
      this.#leads.load(commands.map(({ account_id, lead_id }) => leadName(account_id, lead_id))),
    ]);
    const decided = decideAccounts(commands, {
      accountsOf: (ouId) => rules.get(ouId)?.accounts ?? null,
      versionOf: (ouId) => rules.get(ouId)?.version ?? 0,
      accountBefore: (ouId, accountId) => before.get(leadName(ouId, accountId)) ?? null,
      contributionBefore: (accountId, leadId) => counted.get(leadName(accountId, leadId))?.score ?? null,
    });
    const late = movesOfLate(commands, (ouId) => rules.get(ouId)?.mergedAccounts);
    return {
      outcome: 'decided',
      events: decided.map((payload) => outgoing(records.accountScored, { key: payload.account_id, payload })),
      commands: [...late.map(moveRecord), ...(await this.#moveLeads(steps, rules))],
    };
  }

  /**
   * Steps of moving the leads of merged accounts. A step begins only when this partition knows the merge: of a lead that comes to count
   * in the account later, its contribution is answered with a move (`movesOfLate`), so that none is left behind. The steps of a batch
   * move at most as many leads as one step; those that find no room, or do not know their merge yet, are sent again.
   */
  async #moveLeads(
    steps: readonly IncomingRecord[],
    rules: ReadonlyMap<string, CompiledRules>,
  ): Promise<OutgoingRecord[]> {
    const sent: OutgoingRecord[] = [];
    let room = records.maximumMovedLeads;
    let isWaiting = false;
    // What was counted last is still being written.
    if (steps.length > 0) await this.#behind.write();
    for (const { payload, headers } of steps) {
      const step = payload as records.MoveAccountLeads;
      const own = rules.get(step.ou_id);
      const to = own && own.version >= step.version && own.mergedAccounts.get(step.account_id)?.target;
      if (!to && headers.time > step.until) this.#giveUp(step);
      else if (!to || room === 0) {
        isWaiting ||= !to;
        sent.push(stepRecord(step));
      } else {
        const leads = await leadsAfter(this.#readModel, step.account_id, step.after, room);
        sent.push(...movesIn(step, leads, { to, decided_at: headers.time }));
        if (leads.length === room) sent.push(stepRecord({ ...step, after: leads.at(-1) ?? null }));
        room -= leads.length;
      }
    }
    if (isWaiting) await pause(publicationPauseMs);
    return sent;
  }

  #giveUp({ account_id }: records.MoveAccountLeads): void {
    this.onError(
      new Error(
        `The merge of account ${account_id} was not published in time: each lead moves with its next event.`,
      ),
    );
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

/** Milliseconds before steps that wait for the publication of a merge are sent again. */
const publicationPauseMs = 50;

function ouOf({ payload }: IncomingRecord): string {
  return (payload as { ou_id: string }).ou_id;
}

function moveRecord(payload: records.MoveLeadToAccount): OutgoingRecord {
  return outgoing(records.moveLeadToAccount, { key: payload.lead_id, payload });
}

function stepRecord(payload: records.MoveAccountLeads): OutgoingRecord {
  return outgoing(records.moveAccountLeads, { key: payload.account_id, payload });
}

function movesIn(
  { ou_id, account_id: from }: records.MoveAccountLeads,
  leads: readonly string[],
  { to, decided_at }: Pick<records.MoveLeadToAccount, 'to' | 'decided_at'>,
): OutgoingRecord[] {
  return leads.map((lead_id) => moveRecord({ ou_id, lead_id, from, to, decided_at }));
}

function leadKeyOf(name: string) {
  return accountLeadKey(...identityOf(name));
}
