// Finds the rules of a document again among those that there are. Pure.
import { eventTypeKey, type records } from '@lead-scoring/contracts';
import type { Rule } from '../configuration/state.js';
import { fileRuleOf } from './document-model.js';

type FileRule = records.FileRule;

export interface RulePairs {
  /** Each rule of the document, in its order, with the rule that it is now; undefined: it is new. */
  wanted: { rule: FileRule; known: Rule | undefined }[];
  /** The rules that are not in the document. */
  missing: Rule[];
}

/** What makes two rules the same, the surest first: the whole content, the label, the event type with the filters. */
const signs: ((rule: FileRule) => string | undefined)[] = [
  textOf,
  ({ label }) => label,
  ({ event_type, attribute_filters }) => JSON.stringify([eventTypeKey(event_type), attribute_filters ?? []]),
];

/**
 * Pairs the rules of one ruleset. Rules that share a sign are paired in their order. Only the order of the rules, which gives nobody
 * other points, may differ between what is kept and the document.
 */
export function pairRules(known: readonly Rule[], wanted: readonly FileRule[]): RulePairs {
  const found = new Map<FileRule, Rule>();
  let left = [...known];
  for (const signOf of signs) {
    const bySign = new Map<string, Rule[]>();
    for (const rule of left) {
      const sign = signOf(fileRuleOf(rule));
      if (sign !== undefined) bySign.set(sign, [...(bySign.get(sign) ?? []), rule]);
    }
    const paired = new Set<Rule>();
    for (const rule of wanted) {
      if (found.has(rule)) continue;
      const match = bySign.get(signOf(withoutDefaults(rule)) ?? '')?.shift();
      if (!match) continue;
      found.set(rule, match);
      paired.add(match);
    }
    left = left.filter((rule) => !paired.has(rule));
  }
  return { wanted: wanted.map((rule) => ({ rule, known: found.get(rule) })), missing: left };
}

/** The rule as text: equal for rules of equal content. */
export function textOf(rule: FileRule): string {
  return JSON.stringify(
    Object.entries(withoutDefaults(rule)).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

function withoutDefaults({ active, attribute_filters, ...rule }: FileRule): FileRule {
  return {
    ...rule,
    ...(active === false && { active }),
    ...(attribute_filters && attribute_filters.length > 0 && { attribute_filters }),
  };
}
