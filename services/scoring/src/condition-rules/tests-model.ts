// Tests fields against rules with conditions and against drafts: each rule with its points, and in words why it matches or does
// not. Pure.
import {
  compileFilters,
  finderOf,
  routeDeclarations,
  type AttributeFilter,
  type JsonObject,
  type JsonValue,
} from '@lead-scoring/contracts';
import { shortenLabel, type ConditionRule, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { conditionWords, offWords } from '../configuration/condition-words.js';
import { heldPoints, rangesOf } from './limits-model.js';
import { sumOfPoints } from './points-model.js';

export interface DraftRule {
  conditions: readonly AttributeFilter[];
  weight: number;
  label?: string | undefined;
}

export type TestedRules = Pick<routeDeclarations.ProfileTest, 'points' | 'rules' | 'rules_total' | 'held'>;
type TestedRule = TestedRules['rules'][number];

export interface TestSubject {
  /** What has the fields: `the profile has no title`. */
  readonly noun: 'profile' | 'account' | 'deal';
  readonly fields: JsonObject;
}

/** The rules of the OU in the order of their creation, then the drafts, as if they were active. */
export function testConditionRules(
  subject: TestSubject,
  rules: Iterable<ConditionRule>,
  rulesets: ScoringConfiguration['rulesets'],
  drafts: readonly DraftRule[],
): TestedRules {
  const known = [...rules];
  const tested = [
    ...known.map((rule): TestedRule => {
      const silent = offWords(rule, rulesets.get(rule.ruleset_id));
      return testedRule(subject, rule, { rule_id: rule.id, ruleset_id: rule.ruleset_id }, silent);
    }),
    ...drafts.map((draft) => testedRule(subject, draft, { rule_id: null, ruleset_id: null }, null)),
  ];
  const giving = known.filter((_, index) => tested[index]?.points !== 0);
  const held = [...heldPoints(giving, rangesOf(giving, rulesets))].map(([ruleset_id, points]) => ({
    ruleset_id,
    points,
    why: heldWords(rulesets.get(ruleset_id), points),
  }));
  return {
    points: sumOfPoints(tested) + sumOfPoints(held),
    rules: tested.slice(0, routeDeclarations.maximumTestedRules),
    rules_total: tested.length,
    ...(held.length > 0 && { held }),
  };
}

/** `The ruleset "Fit" gives at most 12.` */
function heldWords(
  ruleset: Pick<routeDeclarations.Ruleset, 'name' | 'min_score' | 'max_score'> | undefined,
  points: number,
): string {
  const bound =
    points < 0 ? `at most ${String(ruleset?.max_score)}` : `at least ${String(ruleset?.min_score)}`;
  return `The ruleset "${ruleset?.name ?? ''}" gives ${bound}.`;
}

const maximumReason = 2_000;

/** @param silent why the rule gives no points even when it matches; null where it does */
function testedRule(
  subject: TestSubject,
  { conditions, weight, label }: DraftRule,
  identity: Pick<TestedRule, 'rule_id' | 'ruleset_id'>,
  silent: string | null,
): TestedRule {
  const failing = conditions.filter((condition) => !compileFilters([condition])(subject.fields));
  const matched = failing.length === 0;
  const reason = matched
    ? `Matches: ${conditions.map((condition) => metWords(subject, condition)).join('; ')}.${silent === null ? '' : ` No points, because ${silent}.`}`
    : `Does not match: ${failing.map((condition) => missedWords(subject, condition)).join('; ')}.`;
  return {
    ...identity,
    ...(label !== undefined && { label }),
    weight,
    matched,
    points: matched && silent === null ? weight : 0,
    why: shortenLabel(reason, maximumReason),
  };
}

function metWords(subject: TestSubject, condition: AttributeFilter): string {
  return `${conditionWords(condition)}, and ${valueWords(subject, condition.field)}`;
}

function missedWords(subject: TestSubject, condition: AttributeFilter): string {
  return `the rule asks that ${conditionWords(condition)}, but ${valueWords(subject, condition.field)}`;
}

/** The value of a field: `title is "Analyst"`. */
function valueWords({ noun, fields }: TestSubject, field: string): string {
  const found = finderOf(field)(fields);
  if (found === undefined || found === null) return `the ${noun} has no ${field}`;
  return `${field} is ${shortenLabel(quoted(found), 200)}`;
}

function quoted(value: JsonValue): string {
  if (Array.isArray(value)) return value.map(quoted).join(', ');
  return typeof value === 'string' ? `"${value}"` : JSON.stringify(value);
}
