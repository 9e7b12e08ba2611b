// Leads and accounts in memory, decided and folded as their partitions do: for the laws of account scoring.
import { records } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { contributionsOf } from '../accounts/decide-contributions.js';
import { decideAccounts } from '../accounts/decide.js';
import { foldAccount } from '../accounts/fold.js';
import { decideMoves, movesOfLate } from '../accounts/move-leads.js';
import type { Account } from '../accounts/state.js';
import { foldAdjusted, foldContributed } from '../leads/fold-adjusted.js';
import { foldLead } from '../leads/fold.js';
import type { Lead } from '../leads/state.js';
import { decideLeads } from '../scores/decide.js';
import type { LeadCause, ScoreEvent } from '../scores/messages.js';
import { compileRules } from '../scores/rule-model.js';
import { at } from './builders.js';

export type WorldEvent = ScoreEvent | { type: 'AccountScored'; payload: records.AccountScored };

export class AccountWorld {
  readonly log: WorldEvent[] = [];
  readonly leads = new Map<string, Lead>();
  readonly accounts = new Map<string, Account>();
  /** The score that counts, by account and lead. */
  readonly counted = new Map<string, number>();
  /** Contributions on their way. */
  waiting: records.ContributeToAccount[] = [];
  /** Moves of leads on their way. */
  moving: records.MoveLeadToAccount[] = [];

  constructor(public configuration: ScoringConfiguration) {}

  /** Decides the causes in batches of the given sizes; what they contribute waits. */
  ingest(causes: readonly LeadCause[], sizes: readonly number[] = []): void {
    const rest = [...causes];
    for (const size of [...sizes, causes.length]) this.decideBatch(rest.splice(0, size));
  }

  private decideBatch(batch: readonly LeadCause[]): void {
    const rules = compileRules(this.configuration);
    const leadBefore = (_: string, leadId: string) => this.leads.get(leadId) ?? null;
    const decided = decideLeads(batch, leadBefore, () => rules);
    this.contribute(decided, batch);
  }

  /** Appends decisions on leads with what they contribute. */
  contribute(decided: readonly ScoreEvent[], causes: readonly LeadCause[] = []): void {
    const rules = compileRules(this.configuration);
    const { events, commands } = contributionsOf(decided, causes, {
      contributes: () => rules.accounts !== null,
      versionOf: () => rules.version,
      mergedOf: () => rules.mergedAccounts,
      leadBefore: (_, leadId) => this.leads.get(leadId) ?? null,
    });
    for (const event of [...decided, ...events]) this.append(event);
    this.waiting.push(...commands);
  }

  /** Decides the contributions that wait, in batches of the given sizes. */
  settle(sizes: readonly number[] = []): records.ContributeToAccount[] {
    const commands = this.waiting;
    this.waiting = [];
    const rest = [...commands];
    for (const size of [...sizes, commands.length]) this.decideContributions(rest.splice(0, size));
    return commands;
  }

  decideContributions(commands: readonly records.ContributeToAccount[]): records.AccountScored[] {
    const rules = compileRules(this.configuration);
    const decided = decideAccounts(commands, {
      accountsOf: () => rules.accounts,
      versionOf: () => rules.version,
      accountBefore: (_, accountId) => this.accounts.get(accountId) ?? null,
      contributionBefore: (accountId, leadId) => this.counted.get(`${accountId}/${leadId}`) ?? null,
    });
    for (const payload of decided) this.append({ type: 'AccountScored', payload });
    this.moving.push(...movesOfLate(commands, () => rules.mergedAccounts));
    return decided;
  }

  /** Tells the leads that count in a merged account where they belong now, as the steps that follow a merge do. */
  moveLeadsOf(account_id: string): void {
    const to = compileRules(this.configuration).mergedAccounts.get(account_id)?.target;
    const { ou_id } = this.configuration;
    for (const name of this.counted.keys()) {
      const [of, lead_id = ''] = name.split('/');
      if (to && of === account_id) this.moving.push({ ou_id, lead_id, from: account_id, to, decided_at: at });
    }
  }

  /** Decides the moves that wait; what they contribute waits. */
  decideMoves(): void {
    const commands = this.moving;
    this.moving = [];
    const { events, commands: sent } = decideMoves(commands, {
      versionOf: () => this.configuration.version,
      leadBefore: (_, leadId) => this.leads.get(leadId) ?? null,
      decided: new Map(),
    });
    for (const event of events) this.append(event);
    this.waiting.push(...sent);
  }

  /** Decides whatever waits until nothing does. */
  settleMoves(sizes: readonly number[] = []): void {
    while (this.waiting.length > 0 || this.moving.length > 0) {
      this.settle(sizes);
      this.decideMoves();
    }
  }

  /** Appends an event and folds it. */
  append(event: WorldEvent): void {
    this.log.push(event);
    const offset = this.log.length;
    if (event.type === 'AccountScored') this.foldAccount(event.payload, offset);
    else this.foldLead(event, offset);
  }

  private foldAccount(payload: records.AccountScored, offset: number): void {
    const { account_id, contributions } = payload;
    const after = foldAccount(this.accounts.get(account_id) ?? null, payload, offset);
    if (after) this.accounts.set(account_id, after);
    else this.accounts.delete(account_id);
    for (const { lead_id, score } of contributions)
      if (score === null) this.counted.delete(`${account_id}/${lead_id}`);
      else this.counted.set(`${account_id}/${lead_id}`, score);
  }

  private foldLead({ type, payload }: ScoreEvent, offset: number): void {
    const lead = this.leads.get(payload.lead_id) ?? null;
    if (type === 'LeadRemoved') this.leads.delete(payload.lead_id);
    else if (type === 'LeadScored') this.leads.set(payload.lead_id, foldLead(lead, payload, offset));
    else if (lead && type === 'ScoreAdjusted')
      this.leads.set(payload.lead_id, foldAdjusted(lead, payload, offset));
    else if (lead && type === 'LeadContributed')
      this.leads.set(payload.lead_id, foldContributed(lead, payload, offset));
  }
}
