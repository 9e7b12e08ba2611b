// Tests a profile against profile rules and drafts: each rule with its points, and in words why it matches or does not. Pure.
import {
  compileFilters,
  finderOf,
  routeDeclarations,
  type AttributeFilter,
  type JsonObject,
  type JsonValue,
} from '@lead-scoring/contracts';
import { noProfile, shortenLabel, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { conditionWords, offWords } from '../configuration/condition-words.js';

type ProfileTest = routeDeclarations.ProfileTest;
type TestedRule = ProfileTest['rules'][number];

export interface DraftRule {
  conditions: readonly AttributeFilter[];
  weight: number;
  label?: string | undefined;
}

/** The rules of the OU in the order of their creation, then the drafts, as if they were active. */
export function testProfile(
  profile: JsonObject,
  configuration: Pick<ScoringConfiguration, 'profile' | 'rulesets'>,
  drafts: readonly DraftRule[],
): ProfileTest {
  const { rules } = configuration.profile ?? noProfile;
  const tested = [
    ...[...rules.values()].map((rule): TestedRule => {
      const ruleset = configuration.rulesets.get(rule.ruleset_id);
      const silent = offWords(rule, ruleset);
      return testedRule(profile, rule, { rule_id: rule.id, ruleset_id: rule.ruleset_id }, silent);
    }),
    ...drafts.map((draft) => testedRule(profile, draft, { rule_id: null, ruleset_id: null }, null)),
  ];
  return {
    points: tested.reduce((sum, { points }) => sum + points, 0),
    profile: profile as ProfileTest['profile'],
    rules: tested.slice(0, routeDeclarations.maximumTestedRules),
    rules_total: tested.length,
  };
}

const maximumReason = 2_000;

/** @param silent why the rule gives no points even when it matches; null where it does */
function testedRule(
  profile: JsonObject,
  { conditions, weight, label }: DraftRule,
  identity: Pick<TestedRule, 'rule_id' | 'ruleset_id'>,
  silent: string | null,
): TestedRule {
  const failing = conditions.filter((condition) => !compileFilters([condition])(profile));
  const matched = failing.length === 0;
  const reason = matched
    ? `Matches: ${conditions.map((condition) => metWords(profile, condition)).join('; ')}.${silent === null ? '' : ` No points, because ${silent}.`}`
    : `Does not match: ${failing.map((condition) => missedWords(profile, condition)).join('; ')}.`;
  return {
    ...identity,
    ...(label !== undefined && { label }),
    weight,
    matched,
    points: matched && silent === null ? weight : 0,
    why: shortenLabel(reason, maximumReason),
  };
}

function metWords(profile: JsonObject, condition: AttributeFilter): string {
  return `${conditionWords(condition)}, and ${valueWords(profile, condition.field)}`;
}

function missedWords(profile: JsonObject, condition: AttributeFilter): string {
  return `the rule asks that ${conditionWords(condition)}, but ${valueWords(profile, condition.field)}`;
}

/** The value of a field of the profile: `title is "Analyst"`. */
function valueWords(profile: JsonObject, field: string): string {
  const found = finderOf(field)(profile);
  if (found === undefined || found === null) return `the profile has no ${field}`;
  return `${field} is ${shortenLabel(quoted(found), 200)}`;
}

function quoted(value: JsonValue): string {
  if (Array.isArray(value)) return value.map(quoted).join(', ');
  return typeof value === 'string' ? `"${value}"` : JSON.stringify(value);
}
