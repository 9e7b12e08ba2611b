// The words that explanations use for a rule: those of now, those of its earlier versions, and those of deleted rules. The words
// that are kept of the past are bounded in size, so that a configuration fits into one document. Pure.
import type { routeDeclarations } from '@lead-scoring/contracts';
import { conditionRuleOf, type ConditionRule } from './condition-rules.js';
import { hasSameLimits, ruleLimitsOf, type RuleLimits } from './limits.js';

type Rule = routeDeclarations.Rule;

/** The words and the limits of a rule in an explanation. */
export type RuleWords = Pick<Rule, 'event_type' | 'label' | 'filter_label' | keyof RuleLimits>;

/** The wording that a rule had up to version `up_to`, inclusive. */
export interface FormerRule extends RuleWords {
  up_to: number;
}

/** Earlier wordings by the rule's id, the oldest wording first; the rule whose wording changed last comes last. */
export type FormerRules = ReadonlyMap<string, readonly FormerRule[]>;

interface KnownRules {
  readonly rules: ReadonlyMap<string, Rule>;
  readonly profile?: { readonly rules: ReadonlyMap<string, ConditionRule> };
  readonly deals?: { readonly rules: ReadonlyMap<string, ConditionRule> };
  readonly former: FormerRules;
}

export const formerLimits = {
  /** Earlier wordings of one rule. Versions older than these get the oldest wording. */
  wordings: 20,
  /** Size of all earlier wordings as JSON. When there are more, the words of the rule that changed longest ago are dropped. */
  bytes: 4_000_000,
};

/** Maximum length of the filter label in an earlier wording, in UTF-16 code units. */
const maximumFormerLabel = 1_000;

/** The wording of a rule in one of its versions; undefined when the rule is not known. */
export function ruleWordsAsOf(
  { rules, former }: KnownRules,
  ruleId: string,
  version: number,
): RuleWords | undefined {
  return former.get(ruleId)?.find(({ up_to }) => version <= up_to) ?? rules.get(ruleId);
}

/** Whether the rule was deleted: its words are known, and the rule is not. */
export function isDeletedRule(known: KnownRules, ruleId: string): boolean {
  return known.former.has(ruleId) && !known.rules.has(ruleId) && !conditionRuleOf(known, ruleId);
}

/** Keeps the present wording of rules that are changed or deleted. */
export function withFormerWords(
  former: FormerRules,
  rules: readonly (RuleWords & Pick<Rule, 'id' | 'version'>)[],
): FormerRules {
  if (rules.length === 0) return former;
  const words = new Map(former);
  for (const rule of rules) {
    const wordings = [...(words.get(rule.id) ?? []), { up_to: rule.version, ...wordsOf(rule) }];
    // Deleted first, so that the rule comes last.
    words.delete(rule.id);
    words.set(rule.id, wordings.slice(-formerLimits.wordings));
  }
  let bytes = 0;
  for (const wordings of words.values()) bytes += bytesOf(wordings);
  for (const [id, wordings] of words) {
    if (bytes <= formerLimits.bytes) break;
    words.delete(id);
    bytes -= bytesOf(wordings);
  }
  return words;
}

export function hasSameWords(one: RuleWords, other: RuleWords): boolean {
  return (
    one.event_type === other.event_type &&
    one.label === other.label &&
    one.filter_label === other.filter_label &&
    hasSameLimits(one, other)
  );
}

function wordsOf(words: RuleWords): RuleWords {
  const { event_type, label, filter_label } = words;
  return {
    event_type,
    ...ruleLimitsOf(words),
    ...(label !== undefined && { label }),
    ...(filter_label !== undefined && {
      filter_label: filter_label.slice(0, maximumFormerLabel).toWellFormed(),
    }),
  };
}

/** Sizes of wordings, which never change: each is measured once. */
const sizes = new WeakMap<FormerRule, number>();
const encoder = new TextEncoder();
/** An upper bound for the id and the punctuation of a rule's entry, in bytes. */
const entryBytes = 50;

function bytesOf(wordings: readonly FormerRule[]): number {
  let bytes = entryBytes;
  for (const wording of wordings) {
    let size = sizes.get(wording);
    if (size === undefined) sizes.set(wording, (size = encoder.encode(JSON.stringify(wording)).length));
    bytes += size;
  }
  return bytes;
}
