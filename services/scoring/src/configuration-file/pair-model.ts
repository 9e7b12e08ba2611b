// Finds the rules of a document again among those that there are. Pure.
import { fileRuleOf, withoutDefaults, type KeptRule, type RuleKind } from './rule-kinds-model.js';

export interface RulePairs<FileRule, Kept> {
  /** Each rule of the document, in its order, with the rule that it is now; undefined: it is new. */
  wanted: { rule: FileRule; known: Kept | undefined }[];
  /** The rules that are not in the document. */
  missing: Kept[];
}

/**
 * Pairs the rules of one ruleset. Rules that share a sign are paired in their order. Only the order of the rules, which gives nobody
 * other points, may differ between what is kept and the document.
 */
export function pairRules<FileRule extends object, Kept extends KeptRule>(
  kind: RuleKind<FileRule, Kept>,
  known: readonly Kept[],
  wanted: readonly FileRule[],
): RulePairs<FileRule, Kept> {
  const found = new Map<FileRule, Kept>();
  let left = [...known];
  for (const signOf of kind.signs) {
    const bySign = new Map<string, Kept[]>();
    for (const rule of left) {
      const sign = signOf(fileRuleOf(kind, rule));
      if (sign === undefined) continue;
      const others = bySign.get(sign);
      if (others) others.push(rule);
      else bySign.set(sign, [rule]);
    }
    for (const rules of bySign.values()) rules.reverse();
    const paired = new Set<Kept>();
    for (const rule of wanted) {
      if (found.has(rule)) continue;
      const match = bySign.get(signOf(withoutDefaults(rule)) ?? '')?.pop();
      if (!match) continue;
      found.set(rule, match);
      paired.add(match);
    }
    left = left.filter((rule) => !paired.has(rule));
  }
  return { wanted: wanted.map((rule) => ({ rule, known: found.get(rule) })), missing: left };
}
