// The words that tests of rules use for a rule's conditions, and for a rule that is switched off. Pure.
import { filterLabel, type AttributeFilter } from '@lead-scoring/contracts';
import { shortenLabel } from '@lead-scoring/scoring-domain';

/** Maximum length, so that one long condition leaves room for the others. */
const maximumCondition = 300;

/** One condition as in `filter_label`. */
export function conditionWords(condition: AttributeFilter): string {
  return shortenLabel(filterLabel([condition]) ?? '', maximumCondition);
}

/** Why a rule that matches gives no points; null where it does. */
export function offWords(
  rule: { active: boolean },
  ruleset: { active: boolean; name: string } | undefined,
): string | null {
  if (!rule.active) return 'the rule is switched off';
  return ruleset?.active === true ? null : `its ruleset "${ruleset?.name ?? ''}" is switched off`;
}
