// The account of a lead: its names, its score and what each rule gave, folded from decisions. The account of earlier
// decisions and that of the decisions after them can be joined. Pure.
import { withLeadFields, type LeadFields } from '@lead-scoring/contracts';
import {
  contribute,
  contributeMatch,
  resetsScore,
  scoredEventsOf,
  type Contribution,
  type Contributions,
  type ScoreDecision,
} from '@lead-scoring/scoring-domain';
import { foldLead, isStored } from './fold.js';
import { toldFields, type SharedLead } from './state.js';

export interface LeadAccount extends Pick<
  SharedLead,
  'id' | 'ou_id' | 'given_name' | 'given' | 'first_alias'
> {
  /** Offset of the first decision in the account. */
  readonly first_offset: number;
  /** Offset of the last decision in the account for which `isStored` holds. The score is as of this decision. */
  readonly offset: number;
  readonly score: number;
  /** Since the last reset of the score. */
  readonly contributions: Contributions;
  /** Whether a decision in the account has reset the score: the contributions of earlier accounts count no more. */
  readonly has_reset: boolean;
  /** Version of scoring's configuration in the last decision. */
  readonly configuration_version: number;
}

/** Folds the next decision on the lead into its account. */
export function foldAccount(
  account: LeadAccount | null,
  decision: ScoreDecision,
  offset: number,
): LeadAccount {
  const { given_name, given, first_alias, first_offset } = foldLead(account, decision, offset, toldFields);
  const { lead_id: id, ou_id, score, configuration_version } = decision;
  const isReset = resetsScore(decision);
  return {
    id,
    ou_id,
    given_name,
    given,
    first_alias,
    first_offset,
    offset: account && !isStored(decision, account, offset) ? account.offset : offset,
    score,
    contributions: isReset ? new Map<string, never>() : withMatches(account?.contributions, decision),
    has_reset: isReset || account?.has_reset === true,
    configuration_version,
  };
}

/** Joins the account of a lead's earlier decisions and that of the decisions after them. */
export function joinAccounts(before: LeadAccount | null, after: LeadAccount): LeadAccount {
  if (!before) return after;
  const contributions = new Map(after.has_reset ? [] : before.contributions);
  for (const contribution of after.contributions.values()) contribute(contributions, contribution);
  return {
    ...after,
    given_name: laterName(before.given_name, after.given_name),
    given: laterFields(before.given, after.given),
    first_alias: before.first_alias ?? after.first_alias,
    first_offset: before.first_offset,
    contributions,
    has_reset: before.has_reset || after.has_reset,
  };
}

function withMatches(known: Contributions | undefined, decision: ScoreDecision): Contributions {
  const events = scoredEventsOf(decision);
  if (known && events.length === 0) return known;
  const contributions = new Map<string, Contribution>(known);
  for (const { event_type, matches } of events)
    for (const match of matches) contributeMatch(contributions, event_type, match);
  return contributions;
}

function laterFields(before: LeadFields, after: LeadFields): LeadFields {
  return withLeadFields(
    before,
    toldFields.flatMap((field) => {
      const given = after[field];
      return given ? [{ field, ...given }] : [];
    }),
  );
}

function laterName(
  before: SharedLead['given_name'],
  after: SharedLead['given_name'],
): SharedLead['given_name'] {
  if (!before || !after) return after ?? before;
  return withLeadFields({ name: before }, [{ field: 'name', ...after }]).name ?? null;
}
