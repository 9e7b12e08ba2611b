// The partitions of accounts joined with those of leads, for tests: what they send each other waits until it is delivered, as records
// on a topic do. A crash forgets the accounts, so that they are folded anew from the log; what waits is still there.
import { records, type AccountReference, type routeDeclarations } from '@lead-scoring/contracts';
import { explainAccount, noAccounts, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { conditionFieldsOf, reasonsOf } from '../accounts/answers.js';
import { contributionsOf } from '../accounts/decide-contributions.js';
import { decideAccounts } from '../accounts/decide.js';
import { toAccount, toAccountDocument } from '../accounts/documents.js';
import { foldAccount } from '../accounts/fold.js';
import { decideMoves, movesOfLate } from '../accounts/move-leads.js';
import { movesOf } from '../accounts/moves.js';
import { accountNameOf, type Account } from '../accounts/state.js';
import { testConditionRules } from '../condition-rules/tests-model.js';
import type { LeadCause } from '../scores/messages.js';
import { compileRules } from '../scores/rule-model.js';
import { mergeAccounts, ouId } from '../testing/builders.js';
import { ScoringInMemory } from './scoring-in-memory.js';
import { check, Ways } from './ways.js';

/** The ends of a way between partitions. */
export interface LeadAndAccount {
  /** The lead's id. */
  lead: string;
  /** The account's id. */
  account: string;
}

/** What decides on accounts and on what leads tell them: others in tests of the tests. */
export const accountDeciders = { contributionsOf, decideAccounts, decideMoves, movesOfLate };
export type AccountDeciders = typeof accountDeciders;

type Step = Pick<records.MoveAccountLeads, 'account_id' | 'after'>;

export class AccountsInMemory {
  readonly scoring: ScoringInMemory;
  readonly #log: records.AccountScored[] = [];
  readonly #accounts = new Map<string, Account>();
  /** The scores that count, by account and lead. */
  readonly #counted = new Map<string, Map<string, number>>();
  readonly #toAccounts = new Ways<records.ContributeToAccount>();
  readonly #toLeads = new Ways<records.MoveLeadToAccount>();
  /** Steps of moving leads of merged accounts that wait. */
  #steps: Step[] = [];

  constructor(private readonly deciders: AccountDeciders = accountDeciders) {
    this.scoring = new ScoringInMemory(deciders.contributionsOf);
  }

  /**
   * Decides a batch of what happened to leads; what they contribute waits.
   * @param known the configuration that their partition knows
   */
  take(causes: readonly LeadCause[], known?: ScoringConfiguration): void {
    this.send(this.scoring.decide(causes, known).contributions);
  }

  send(contributions: readonly records.ContributeToAccount[]): void {
    for (const payload of contributions) {
      check(records.contributeToAccount.schema.safeParse(payload));
      this.#toAccounts.send(`${payload.lead_id}/${payload.account_id}`, payload);
    }
  }

  /**
   * Accounts decide, in one batch, on the first contributions of each of the ways.
   * @param count of each way
   * @param times how often each contribution comes
   */
  hear(ways: readonly LeadAndAccount[], count = Infinity, times = 1): void {
    const commands = ways
      .flatMap(({ lead, account }) => this.#toAccounts.take(`${lead}/${account}`, count))
      .flatMap((one) => Array<records.ContributeToAccount>(times).fill(one));
    const rules = compileRules(this.scoring.configuration);
    const decided = this.deciders.decideAccounts(commands, {
      accountsOf: () => rules.accounts,
      versionOf: () => rules.version,
      accountBefore: (_, accountId) => this.#accounts.get(accountId) ?? null,
      contributionBefore: (accountId, leadId) => this.#counted.get(accountId)?.get(leadId) ?? null,
    });
    for (const payload of decided) {
      check(records.accountScored.schema.safeParse(payload));
      this.#fold(payload, this.#log.push(payload));
    }
    for (const move of this.deciders.movesOfLate(commands, () => rules.mergedAccounts)) this.#sendMove(move);
  }

  /** @throws Error when the merge is refused */
  merge(source: AccountReference, target: AccountReference, requested_at: string): void {
    const { configuration } = this.scoring;
    const events = this.scoring.command(mergeAccounts(source, target, { requested_at }));
    this.#steps.push(...movesOf(configuration, events).map(({ payload }) => payload as Step));
  }

  /**
   * One step of moving leads of a merged account: its next leads, in the order of their ids, are told.
   * @param limit the most leads of a step
   */
  walk(limit: number, decided_at: string): void {
    const [step, ...others] = this.#steps;
    if (!step) return;
    const { account_id: from, after } = step;
    const to = compileRules(this.scoring.configuration).mergedAccounts.get(from)?.target;
    if (!to) throw new Error('an account that was not merged is left');
    const counted = [...(this.#counted.get(from)?.keys() ?? [])].sort();
    const leads = counted.filter((lead) => after === null || lead > after).slice(0, limit);
    for (const lead_id of leads) this.#sendMove({ ou_id: ouId, lead_id, from, to, decided_at });
    const last = leads.at(-1);
    this.#steps = last === undefined || leads.length < limit ? others : [{ ...step, after: last }, ...others];
  }

  /** The steps that wait, each with the account and the lead after which it begins. */
  steps(): readonly Step[] {
    return this.#steps;
  }

  /** Leads decide, in one batch, on the first moves of each of the ways. */
  move(ways: readonly LeadAndAccount[], count = Infinity, times = 1): void {
    const commands = ways.flatMap(({ lead, account }) => this.#toLeads.take(`${account}/${lead}`, count));
    const { events, commands: contributions } = this.deciders.decideMoves(
      commands.flatMap((one) => Array<records.MoveLeadToAccount>(times).fill(one)),
      {
        versionOf: () => this.scoring.configuration.version,
        leadBefore: (_, leadId) => this.scoring.leads.get(leadId) ?? null,
        decided: new Map(),
      },
    );
    this.scoring.appendMoves(events);
    this.send(contributions);
  }

  /** How much waits, by way. */
  waiting(): { toAccounts: Map<string, number>; toLeads: Map<string, number> } {
    return { toAccounts: this.#toAccounts.counts(), toLeads: this.#toLeads.counts() };
  }

  /** Forgets what is in memory, and folds it from what the logs hold as JSON. */
  crash(): void {
    this.scoring.crash();
    this.#accounts.clear();
    this.#counted.clear();
    const decisions = JSON.parse(JSON.stringify(this.#log)) as records.AccountScored[];
    for (const [index, decision] of decisions.entries()) this.#fold(decision, index + 1);
  }

  /** Forgets what is in memory, and loads what is stored. */
  restart(): void {
    this.scoring.restart();
    for (const [id, account] of this.#accounts)
      this.#accounts.set(id, toAccount(toAccountDocument(account, 0), ouId));
  }

  ids(): string[] {
    return [...this.#accounts.keys()];
  }

  /** The scores that count in an account, by lead. */
  counted(account: string): ReadonlyMap<string, number> {
    return this.#counted.get(account) ?? new Map<string, number>();
  }

  /** As GET /accounts/{id} has it. */
  answer(account: string): ReturnType<typeof reasonsOf> {
    return reasonsOf(this.#known(account), this.scoring.configuration);
  }

  /** As POST /account-scoring/test has it for a known account. */
  tested(account: string): number {
    const { accounts = noAccounts, rulesets } = this.scoring.configuration;
    const fields = conditionFieldsOf(this.#known(account));
    return testConditionRules({ noun: 'account', fields }, accounts.rules.values(), rulesets, []).points;
  }

  /** As GET /lead/{id}/score-explain has it for the account score. */
  explain(leadId: string): routeDeclarations.ScoreExplanation {
    const account = this.#accounts.get(this.scoring.leads.get(leadId)?.account?.account_id ?? '');
    return explainAccount(
      { lead_id: leadId, lead_name: '' },
      account ? { ...account, name: accountNameOf(account) } : null,
      this.scoring.configuration,
      { at: new Date(0).toISOString(), range_hours: 1 },
    );
  }

  #sendMove(move: records.MoveLeadToAccount): void {
    check(records.moveLeadToAccount.schema.safeParse(move));
    this.#toLeads.send(`${move.from}/${move.lead_id}`, move);
  }

  #known(account: string): Account {
    const known = this.#accounts.get(account);
    if (!known) throw new Error(`there is no account ${account}`);
    return known;
  }

  #fold(decision: records.AccountScored, offset: number): void {
    const { account_id, contributions } = decision;
    const after = foldAccount(this.#accounts.get(account_id) ?? null, decision, offset);
    if (after) this.#accounts.set(account_id, after);
    else this.#accounts.delete(account_id);
    const counted = this.#counted.get(account_id) ?? new Map<string, number>();
    this.#counted.set(account_id, counted);
    for (const { lead_id, score } of contributions)
      if (score === null) counted.delete(lead_id);
      else counted.set(lead_id, score);
  }
}
