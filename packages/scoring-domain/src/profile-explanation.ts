// Why a lead has its profile score: the recorded changes of points, each in words. Pure.
import { jobIdOf, type routeDeclarations } from '@lead-scoring/contracts';
import {
  changeInWords,
  driverOf,
  largestFirst,
  nameOfRule,
  signed,
  type ConditionDriver,
  type SubjectWords,
} from './condition-drivers.js';
import {
  addToSum,
  commonExplanation,
  shownEntries,
  sumsInWords,
  type ConditionDecision,
  type OtherSum,
} from './condition-explanation.js';
import type { ScoringConfiguration } from './configuration.js';
import type { ExplainedLead } from './explanation.js';
import { levelOf } from './levels.js';
import { startOfRange } from './moments.js';
import { noProfile, profileEventType } from './profile-configuration.js';
import { ruleWordsAsOf } from './rule-words.js';

type ScoreExplanation = routeDeclarations.ScoreExplanation;
type ProfileEntry = NonNullable<ScoreExplanation['profile_entries']>[number];

/**
 * Explains a profile score as of a moment. Decisions whose `decided_at` is later do not count. Drivers are the rules that give
 * points at the moment, whenever they began to; entries cover the last `range_hours` before it.
 * @param lead with the profile score after all decisions
 * @param decisions all decisions on the lead's profile, in the order in which they were made
 * @param current the configuration now: has the words of the rules
 * @param then the configuration in force at the moment
 */
export function explainProfile(
  lead: ExplainedLead,
  decisions: readonly ConditionDecision[],
  current: ScoringConfiguration,
  then: ScoringConfiguration,
  { at, range_hours }: { at: string; range_hours: number },
): ScoreExplanation {
  const from = startOfRange({ at, range_hours });
  const { drivers, held, entries, listed, later } = tallyOf(decisions, current, { at, from });
  const score = lead.score - later;
  const found = {
    score,
    listed,
    drivers: largestFirst(drivers.values()),
    adjustments: sumsInWords(held.values(), current, 'lead'),
    entries,
  };
  const { rules } = then.profile ?? noProfile;
  return {
    ...commonExplanation(
      lead,
      found,
      { rules, rulesets: then.rulesets, event_type: profileEventType },
      { at, range_hours },
    ),
    score_type: 'profile',
    level: levelOf(then.profile_levels ?? [], score),
    profile_entries: entries.toReversed().slice(0, shownEntries),
  };
}

const profileWords: SubjectWords = { subject: 'the profile', weight: 'the weight' };

/** The points that decisions gave up to a moment, by what gave them. */
interface ProfileTally {
  readonly drivers: ReadonlyMap<string, ConditionDriver>;
  /** The points that the limits of rulesets hold, by ruleset. */
  readonly held: ReadonlyMap<string, OtherSum>;
  /** The oldest first. */
  readonly entries: ProfileEntry[];
  /** Points up to the moment. */
  readonly listed: number;
  /** Points after it. */
  readonly later: number;
}

/** @param from entries begin then */
function tallyOf(
  decisions: readonly ConditionDecision[],
  current: ScoringConfiguration,
  { at, from }: { at: string; from: string },
): ProfileTally {
  const rules = (current.profile ?? noProfile).rules;
  const drivers = new Map<string, ConditionDriver>();
  const held = new Map<string, OtherSum>();
  const entries: ProfileEntry[] = [];
  let [listed, later] = [0, 0];
  for (const { decided_at, configuration_version, adjustments, rescored } of decisions) {
    const moved = movedIn(adjustments);
    for (const adjustment of adjustments) {
      const { reason, rule_id, ruleset_id, rule_version, points } = adjustment;
      if (decided_at > at) {
        later += points;
        continue;
      }
      listed += points;
      if (ruleset_id === undefined) continue;
      if (reason === 'held_by_ruleset')
        addToSum(held, ruleset_id, { reason, ruleset_id, points, last_at: decided_at });
      if (rule_id === undefined || rule_version === undefined) continue;
      const rule = ruleWordsAsOf(current, rule_id, rule_version) ?? rules.get(rule_id);
      const before = drivers.get(rule_id)?.total ?? 0;
      const total = before + points;
      if (total === 0) drivers.delete(rule_id);
      else
        drivers.set(
          rule_id,
          driverOf({ rule_id, rule_version, points: total, event_type: profileEventType }, rule),
        );
      if (decided_at < from) continue;
      entries.push({
        rule_id,
        rule_version,
        ruleset_id,
        points,
        decided_at,
        configuration_version,
        ...(rescored && { rescored_by: jobIdOf('scoring', rescored.job_id) }),
        words: moved.has(rule_id)
          ? `${signed(points)}: ${nameOfRule(rule)} moved to another ruleset.`
          : changeInWords(profileWords, adjustment, before, rule),
      });
    }
  }
  return { drivers, held, entries, listed, later };
}

/** The rules that a decision takes points of in one ruleset, and gives them in another. */
function movedIn(adjustments: ConditionDecision['adjustments']): ReadonlySet<string> {
  const [seen, moved] = [new Set<string>(), new Set<string>()];
  for (const { rule_id } of adjustments)
    if (rule_id !== undefined) (seen.has(rule_id) ? moved : seen).add(rule_id);
  return moved;
}
