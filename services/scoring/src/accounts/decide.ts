// Decides the scores of accounts on the contributions of their leads: pure. The contributions of a batch to one account are one
// decision; the score follows from the roll-up of the leads' scores and the rules that the account meets.
import { accountLimits, records, type ProfileChange, type RollUp } from '@lead-scoring/contracts';
import {
  heldInRange,
  withHeldChanges,
  withProfileChanges,
  type ProfileValues,
} from '@lead-scoring/scoring-domain';
import {
  conditionAdjustments,
  conditionChanges,
  sumOfPoints,
  withPointChanges,
} from '../condition-rules/points-model.js';
import type { CompiledAccounts } from './compiled-model.js';
import { isNewerValue } from './contribution-model.js';
import { foldAccount } from './fold.js';
import { leadsIn, noScores, rolledUp, withScores, type LeadScores } from './rollup-model.js';
import { accountFields, accountNameOf, type Account } from './state.js';

export interface AccountSources {
  /** Null for an OU without account scoring, whose accounts have no points. */
  accountsOf: (ouId: string) => CompiledAccounts | null;
  versionOf: (ouId: string) => number;
  /** The account before the batch; null for one that does not exist. */
  accountBefore: (ouId: string, accountId: string) => Account | null;
  /** The score of a lead that counts in the account before the batch; null for a lead of no or another account. */
  contributionBefore: (accountId: string, leadId: string) => number | null;
}

type Contribution = records.AccountScored['contributions'][number];

/** Nothing gives points: an OU without account scoring, and an account without leads. */
const noPoints: CompiledAccounts = {
  rules: [],
  ruleOf: () => undefined,
  ranges: new Map<never, never>(),
  rollUp: { method: 'none' },
};

/** The decisions on a batch of contributions, in the order in which their accounts first come. */
export function decideAccounts(
  commands: readonly records.ContributeToAccount[],
  sources: AccountSources,
): records.AccountScored[] {
  const byAccount = new Map<string, records.ContributeToAccount[]>();
  for (const command of commands) {
    const name = `${command.ou_id}/${command.account_id}`;
    const others = byAccount.get(name);
    if (others) others.push(command);
    else byAccount.set(name, [command]);
  }
  return [...byAccount.values()].flatMap((ofAccount) => decideAccount(ofAccount, sources));
}

/** The decisions on contributions to one account; more than one only if very many come in one batch. */
function decideAccount(
  commands: readonly records.ContributeToAccount[],
  sources: AccountSources,
): records.AccountScored[] {
  const [first] = commands;
  if (!first) return [];
  const { ou_id, account_id } = first;
  const decisions: records.AccountScored[] = [];
  const contributed = new Map<string, number | null>();
  const scoreOf = (leadId: string) => {
    const known = contributed.get(leadId);
    return known === undefined ? sources.contributionBefore(account_id, leadId) : known;
  };
  let account = sources.accountBefore(ou_id, account_id);
  for (let from = 0; from < commands.length; from += records.maximumContributions) {
    const part = commands.slice(from, from + records.maximumContributions);
    const contributions = contributionsIn(part, scoreOf);
    for (const { lead_id, score } of contributions) contributed.set(lead_id, score);
    const decision = decidePart(account, part, contributions, sources);
    if (!decision) continue;
    decisions.push(decision);
    account = foldAccount(account, decision, (account?.offset ?? 0) + 1);
  }
  return decisions;
}

/** One for each lead whose contribution changes: from before the commands to after the last of them. */
function contributionsIn(
  commands: readonly records.ContributeToAccount[],
  scoreOf: (leadId: string) => number | null,
): Contribution[] {
  const byLead = new Map<string, Contribution>();
  for (const { lead_id, score } of commands) {
    const previous_score = byLead.get(lead_id)?.previous_score ?? scoreOf(lead_id);
    byLead.set(lead_id, { lead_id, previous_score, score });
  }
  return [...byLead.values()].filter(({ previous_score, score }) => previous_score !== score);
}

/** null: nothing changes. */
function decidePart(
  account: Account | null,
  commands: readonly records.ContributeToAccount[],
  contributions: Contribution[],
  { accountsOf, versionOf }: AccountSources,
): records.AccountScored | null {
  const last = commands.at(-1);
  if (!last || (!account && contributions.length === 0)) return null;
  const { ou_id, account_id, account_kind, account_key, decided_at } = last;
  const scores = withScores(account?.scores ?? noScores, contributions);
  const leads = leadsIn(scores);
  const values = leads === 0 ? [] : newValues(account?.values ?? [], commands);
  const compiled = (leads === 0 ? null : accountsOf(ou_id)) ?? noPoints;
  const { score, adjustments } = decidePoints(account, { ...last, scores, leads, values }, compiled);
  const active = laterActivity(account, commands);
  const isSame = contributions.length === 0 && values.length === 0 && adjustments.length === 0 && !active;
  if (account && isSame && isSameRollUp(account.roll_up, compiled.rollUp)) return null;
  return {
    ou_id,
    account_id,
    account_kind,
    account_key,
    ...(account === null && { new_account: true }),
    ...(leads > 0 && givenName({ account_key, values: withProfileChanges(account?.values ?? [], values) })),
    previous_score: account?.score ?? 0,
    score,
    leads,
    configuration_version: versionOf(ou_id),
    contributions,
    ...(values.length > 0 && { values }),
    roll_up: compiled.rollUp,
    adjustments,
    ...active,
    decided_at,
    fire_triggers: commands.some(({ fire_triggers }) => fire_triggers),
  };
}

/** Another roll-up may come to the same points: the account says which it is. */
function isSameRollUp(one: RollUp, other: RollUp): boolean {
  return one.method === other.method && one.leads === other.leads;
}

/** The latest activity of the leads where it is later than what is known; null where it is not. */
function laterActivity(
  account: Pick<Account, 'last_activity_at'> | null,
  commands: readonly records.ContributeToAccount[],
): Pick<records.AccountScored, 'last_activity_at'> | null {
  let latest = account?.last_activity_at ?? '';
  for (const { last_activity_at = '' } of commands) if (last_activity_at > latest) latest = last_activity_at;
  return latest > (account?.last_activity_at ?? '') ? { last_activity_at: latest } : null;
}

/** The account's name where it is not its key. */
function givenName(account: Pick<Account, 'account_key' | 'values'>): { account_name?: string } {
  const name = accountNameOf(account);
  return name === account.account_key ? {} : { account_name: name.slice(0, 512).toWellFormed() };
}

/** The score after a change of an account's leads and values, and what it comes from. */
function decidePoints(
  account: Account | null,
  after: Pick<Account, 'account_kind' | 'account_key'> & {
    scores: LeadScores;
    leads: number;
    values: readonly ProfileChange[];
  },
  compiled: CompiledAccounts,
): Pick<records.AccountScored, 'score' | 'adjustments'> {
  const { given = [], held = [] } = account ?? {};
  const leads_score = heldInRange(rolledUp(after.scores, compiled.rollUp));
  const fields = accountFields(
    { ...after, values: withProfileChanges(account?.values ?? [], after.values) },
    { leads: after.leads, leads_score },
  );
  const changes = conditionChanges({ given, held }, compiled, fields);
  const ofRules =
    sumOfPoints(withPointChanges(given, changes.ofRules)) +
    sumOfPoints(withHeldChanges(held, changes.ofLimits));
  const score = heldInRange(ofRules + leads_score);
  // What keeps the score in its range is taken from the points of the leads.
  const ofLeads = score - ofRules - (account?.leads_points ?? 0);
  return {
    score,
    adjustments: [
      ...(ofLeads === 0 ? [] : [{ reason: 'leads' as const, points: ofLeads }]),
      ...conditionAdjustments(changes, 'account_rule'),
    ],
  };
}

/** The values that commands bring and that are newer than those of the account, at most one for each field. */
function newValues(known: ProfileValues, commands: readonly records.ContributeToAccount[]): ProfileChange[] {
  const changes = new Map<string, ProfileChange>();
  const before = new Map(known.map((value) => [value.field, value]));
  let room = accountLimits.fields - before.size;
  for (const { values = [] } of commands)
    for (const change of values) {
      const { field } = change;
      const present = changes.get(field) ?? before.get(field);
      if (!isNewerValue(change, present)) continue;
      if (!present) {
        if (room === 0) continue;
        room -= 1;
      }
      changes.set(field, change);
    }
  return [...changes.values()];
}
