// What of a lead a rescoring computes anew: all that decides what later events give it. Pure.
import type { records } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { emptyProfile } from '../profile/state.js';
import type { Lead } from '../leads/state.js';
import type { ScoreParts } from './points-model.js';

/** Which scores are computed anew. */
export type Rescored = Pick<records.RescoringWork, 'score_type' | 'ruleset_id'>;

export type RescoredState = Pick<
  Lead,
  'score' | 'rulesets' | 'limit_uses' | 'last_scored_at' | 'decay' | 'profile'
>;

/** A lead as a job has computed it, up to some offset of the log. */
export interface PreparedLead {
  readonly lead_id: string;
  readonly state: RescoredState;
  /** Of an engagement score: what makes it up; where one ruleset is rescored with the recorded points of the others. */
  readonly parts: ScoreParts;
  /** Whether the recorded lead is known to be the same. */
  readonly isSame: boolean;
  /** Whether the recorded score is known to be made up of the same parts. */
  readonly hasSameParts: boolean;
}

export function stateOf(
  { score, rulesets, limit_uses, last_scored_at, decay, profile }: Lead,
  { score_type }: Rescored,
): RescoredState {
  if (score_type === 'profile') return { score: 0, rulesets: [], profile: profile ?? emptyProfile };
  return {
    score,
    rulesets,
    ...(limit_uses && { limit_uses }),
    ...(last_scored_at !== undefined && { last_scored_at }),
    ...(decay && { decay }),
  };
}

/** A lead of which nothing else is known: later events can be decided on it. */
export function leadOf(state: RescoredState, { ou_id, lead_id }: { ou_id: string; lead_id: string }): Lead {
  return {
    id: lead_id,
    ou_id,
    aliases: [],
    fields: {},
    event_count: 0,
    first_activity_at: '',
    last_activity_at: '',
    first_offset: 0,
    offset: 0,
    ...state,
  };
}

/** The points of a ruleset. */
export function pointsIn({ rulesets, profile }: RescoredState, { score_type, ruleset_id }: Rescored): number {
  if (score_type === 'engagement') return rulesets.find((one) => one.ruleset_id === ruleset_id)?.score ?? 0;
  const { given, held = [] } = profile ?? emptyProfile;
  return [...given, ...held].reduce(
    (sum, one) => (one.ruleset_id === ruleset_id ? sum + one.points : sum),
    0,
  );
}

/** Whether a rule is one of those whose points are computed anew. */
export function isRescoredRule(
  { rules }: Pick<ScoringConfiguration, 'rules'>,
  { ruleset_id }: Rescored,
): (ruleId: string) => boolean {
  return (ruleId) => ruleset_id === undefined || rules.get(ruleId)?.ruleset_id === ruleset_id;
}

/**
 * The state as a text that is the same for the same scores, now and after any later event.
 * @param isRescored which rules are computed anew
 */
export function textOfState(
  { score, rulesets, limit_uses = [], last_scored_at, decay, profile = emptyProfile }: RescoredState,
  { score_type, ruleset_id }: Rescored,
  isRescored: (ruleId: string) => boolean,
): string {
  const isWanted = (one: { ruleset_id: string }) => ruleset_id === undefined || one.ruleset_id === ruleset_id;
  if (score_type === 'profile') {
    const points = [...profile.given, ...(profile.held ?? [])].filter(isWanted);
    const texts = points.map((one) => JSON.stringify({ ...one, rule_version: undefined }));
    return JSON.stringify([profile.values, profile.overrides ?? [], texts.sort()]);
  }
  const uses = limit_uses
    .filter(({ rule_id }) => isRescored(rule_id))
    .map((use) => JSON.stringify(use))
    .sort();
  const scores = rulesets.filter((one) => one.score !== 0 && isWanted(one)).map((one) => JSON.stringify(one));
  const whole =
    ruleset_id === undefined ? { score, last_scored_at, since: decay?.since, ticks: decay?.ticks } : {};
  return JSON.stringify([scores.sort(), uses, whole]);
}
