// The account of a lead: its names and activity, its scores, and what each rule gave, folded from decisions. The account of
// earlier decisions and that of the decisions after them can be joined. Pure.
import { leadFieldNames, withLeadFields, type Alias, type LeadFields } from '@lead-scoring/contracts';
import {
  contribute,
  contributeMatch,
  joinDealPoints,
  joinRulesetScores,
  pointChangesIn,
  rescoredContributions,
  resetsScore,
  scoredEventsOf,
  scoreTypeOf,
  withAliases,
  withDealDecision,
  withDecision,
  withPointChanges,
  type Contribution,
  type Contributions,
  type DealPoints,
  type GivenPoints,
  type RulesetScores,
  type ScoreDecision,
} from '@lead-scoring/scoring-domain';
import { foldLead, isStored } from './fold.js';
import { toldFields, type SharedLead } from './state.js';

/** What the decisions in an account say of the lead besides its scores. */
export interface LeadActivity {
  readonly fields: LeadFields;
  readonly aliases: readonly Alias[];
  readonly event_count: number;
  /** null: no event is in the account. */
  readonly first_activity_at: string | null;
  readonly last_activity_at: string | null;
}

/** A profile score after the decisions of an account, and the points that profile rules give. */
export interface ProfileAccount {
  readonly score: number;
  readonly given: readonly GivenPoints[];
}

/** A deal score after the decisions of an account, and the points that deal rules give for each deal. */
export interface DealAccount {
  readonly score: number;
  readonly points: DealPoints;
}

export interface LeadAccount extends Pick<
  SharedLead,
  'id' | 'ou_id' | 'given_name' | 'given' | 'overrides' | 'first_alias'
> {
  /** Offset of the first decision in the account. */
  readonly first_offset: number;
  /** Offset of the last decision in the account for which `isStored` holds. The scores are as of this decision. */
  readonly offset: number;
  /** The engagement score; 0 where no decision in the account is on it. */
  readonly score: number;
  /** Whether a decision in the account is on the engagement score. */
  readonly has_score: boolean;
  /** Of the engagement score, since its last reset or rescoring. */
  readonly contributions: Contributions;
  /** The engagement score by ruleset, since its last reset or rescoring. */
  readonly rulesets: RulesetScores;
  /** Whether a decision in the account has reset the score, or put one that was computed anew in its place: the contributions of earlier accounts count no more. */
  readonly has_reset: boolean;
  /** Absent where no decision in the account is on the profile. */
  readonly profile?: ProfileAccount;
  /** Absent where no decision in the account is on the deal score. */
  readonly deal?: DealAccount;
  readonly activity: LeadActivity;
  /** Version of scoring's configuration in the last decision. */
  readonly configuration_version: number;
}

const noActivity: LeadActivity = {
  fields: {},
  aliases: [],
  event_count: 0,
  first_activity_at: null,
  last_activity_at: null,
};

/** The account of a lead before its decisions. */
export function emptyAccount(
  { id, ou_id, given_name, given, overrides, first_alias }: Omit<SharedLead, 'offset' | 'first_offset'>,
  first_offset: number,
): LeadAccount {
  return {
    id,
    ou_id,
    given_name,
    given,
    ...(overrides && { overrides }),
    first_alias,
    first_offset,
    offset: first_offset,
    score: 0,
    has_score: false,
    contributions: new Map<string, never>(),
    rulesets: [],
    has_reset: false,
    activity: noActivity,
    configuration_version: 0,
  };
}

/** Folds the next decision on the lead into its account. */
export function foldAccount(
  account: LeadAccount | null,
  decision: ScoreDecision,
  offset: number,
): LeadAccount {
  const { lead_id: id, ou_id, configuration_version } = decision;
  const lead = foldLead(account, decision, offset, toldFields);
  const { given_name, given, overrides, first_alias, first_offset } = lead;
  const known = account ?? emptyAccount({ ...lead, id, ou_id }, offset);
  return {
    ...known,
    given_name,
    given,
    ...(overrides && { overrides }),
    first_alias,
    first_offset,
    offset: account && !isStored(decision, account, offset) ? account.offset : offset,
    ...scoresAfter(known, decision),
    activity: activityAfter(known.activity, decision),
    configuration_version,
  };
}

type Scores = Pick<
  LeadAccount,
  'score' | 'has_score' | 'contributions' | 'rulesets' | 'has_reset' | 'profile' | 'deal'
>;

function scoresAfter(known: LeadAccount, decision: ScoreDecision): Partial<Scores> {
  const { score, adjustments } = decision;
  const scoreType = scoreTypeOf(decision);
  if (!('scored_events' in decision) && scoreType === 'profile')
    return {
      profile: {
        score,
        given: withPointChanges(known.profile?.given ?? [], pointChangesIn(decision.adjustments)),
      },
    };
  if (!('scored_events' in decision) && scoreType === 'deal')
    return { deal: { score, points: withDealDecision(known.deal?.points ?? new Map(), decision) } };
  if (resetsScore(decision))
    return { score, has_score: true, contributions: new Map<string, never>(), rulesets: [], has_reset: true };
  if ('rescored' in decision && decision.rescored?.engagement) {
    const { engagement } = decision.rescored;
    const contributions = rescoredContributions(engagement);
    return { score, has_score: true, contributions, rulesets: engagement.rulesets, has_reset: true };
  }
  const scored_events = [...scoredEventsOf(decision)];
  return {
    score,
    has_score: true,
    contributions: withMatches(known.contributions, decision),
    rulesets: withDecision(known.rulesets, { scored_events, ...(adjustments && { adjustments }) }),
  };
}

function withMatches(known: Contributions, decision: ScoreDecision): Contributions {
  const events = scoredEventsOf(decision);
  if (events.length === 0) return known;
  const contributions = new Map<string, Contribution>(known);
  for (const { event_type, matches } of events)
    for (const match of matches) contributeMatch(contributions, event_type, match);
  return contributions;
}

function activityAfter(known: LeadActivity, decision: ScoreDecision): LeadActivity {
  if (!('scored_events' in decision)) return known;
  const { fields, aliases, event_count, first_activity_at, last_activity_at } = decision;
  return {
    fields: fields ? withLeadFields(known.fields, fields) : known.fields,
    aliases: withAliases(known.aliases, aliases),
    event_count: known.event_count + event_count,
    first_activity_at: earlier(known.first_activity_at, first_activity_at),
    last_activity_at: later(known.last_activity_at, last_activity_at),
  };
}

/** Joins the account of a lead's earlier decisions and that of the decisions after them. */
export function joinAccounts(before: LeadAccount | null, after: LeadAccount): LeadAccount {
  if (!before) return after;
  const contributions = new Map(after.has_reset ? [] : before.contributions);
  for (const contribution of after.contributions.values()) contribute(contributions, contribution);
  const profile = joinProfileAccounts(before.profile, after.profile);
  const deal = joinDealAccounts(before.deal, after.deal);
  const overrides = after.overrides ?? before.overrides;
  return {
    ...after,
    given_name: laterName(before.given_name, after.given_name),
    given: laterFields(before.given, after.given),
    ...(overrides && { overrides }),
    first_alias: before.first_alias ?? after.first_alias,
    first_offset: before.first_offset,
    score: after.has_score ? after.score : before.score,
    has_score: before.has_score || after.has_score,
    contributions,
    rulesets: joinRulesetScores(after.has_reset ? [] : before.rulesets, after.rulesets),
    has_reset: before.has_reset || after.has_reset,
    ...(profile && { profile }),
    ...(deal && { deal }),
    activity: joinActivities(before.activity, after.activity),
  };
}

function joinProfileAccounts(
  before: ProfileAccount | undefined,
  after: ProfileAccount | undefined,
): ProfileAccount | undefined {
  if (!before || !after) return after ?? before;
  return { score: after.score, given: withPointChanges(before.given, after.given) };
}

function joinDealAccounts(
  before: DealAccount | undefined,
  after: DealAccount | undefined,
): DealAccount | undefined {
  if (!before || !after) return after ?? before;
  return { score: after.score, points: joinDealPoints(before.points, after.points) };
}

function joinActivities(before: LeadActivity, after: LeadActivity): LeadActivity {
  return {
    fields: laterFields(before.fields, after.fields),
    aliases: withAliases(before.aliases, after.aliases),
    event_count: before.event_count + after.event_count,
    first_activity_at: earlier(before.first_activity_at, after.first_activity_at),
    last_activity_at: later(before.last_activity_at, after.last_activity_at),
  };
}

function earlier(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

function later(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return one > other ? one : other;
}

function laterFields(before: LeadFields, after: LeadFields): LeadFields {
  return withLeadFields(
    before,
    leadFieldNames.flatMap((field) => {
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
