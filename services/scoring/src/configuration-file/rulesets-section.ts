// The rulesets of a document, with their rules. Pure.
import type { records } from '@lead-scoring/contracts';
import { rulesetLimitsOf } from '@lead-scoring/scoring-domain';
import {
  hasSameRulesetLimits,
  rulesetLimitsAfter,
  senselessRulesetLimits,
} from '../configuration/decide-limits.js';
import { nameTaken } from '../configuration/decision-model.js';
import type { Refusal } from '../configuration/messages.js';
import { rulesetsOf, type Ruleset } from '../configuration/state.js';
import { canonicalText } from './canonical-text-model.js';
import { wordsOfRule } from './change-model.js';
import { pairRules } from './pair-model.js';
import { inPlace, quoted, type Place, type Plan } from './plan.js';
import {
  accountRules,
  byRuleset,
  dealRules,
  engagementRules,
  fileRuleOf,
  profileRules,
  withoutDefaults,
  type KeptRule,
  type RuleKind,
} from './rule-kinds-model.js';

type FileRuleset<FileRule> = records.FileRuleset<FileRule>;

/** One ruleset has a name, whatever its score type: the names of all sections are checked together. */
export function planRulesets(plan: Plan): Refusal | null {
  const { engagement_rulesets, profile_rulesets, account_rulesets, deal_rulesets } = plan.file;
  return (
    refusalOfNames(plan) ??
    (engagement_rulesets ? new RulesetSection(plan, engagementRules).refusal(engagement_rulesets) : null) ??
    (profile_rulesets ? new RulesetSection(plan, profileRules).refusal(profile_rulesets) : null) ??
    (account_rulesets ? new RulesetSection(plan, accountRules).refusal(account_rulesets) : null) ??
    (deal_rulesets ? new RulesetSection(plan, dealRules).refusal(deal_rulesets) : null)
  );
}

function refusalOfNames({ file, before }: Plan): Refusal | null {
  const sections = [engagementRules, profileRules, accountRules, dealRules];
  const replaced = sections.filter(({ section }) => file[section]).map(({ scoreType }) => scoreType);
  const taken = new Set(
    [...before.rulesets.values()]
      .filter(({ score_type }) => !replaced.includes(score_type))
      .map(({ name }) => name.toLowerCase()),
  );
  for (const { section } of sections)
    for (const [index, { name }] of (file[section] ?? []).entries()) {
      const refusal = taken.has(name.toLowerCase()) ? nameTaken('ruleset', name, [{ name }]) : null;
      if (refusal) return inPlace(refusal, placeOf(section, index, name));
      taken.add(name.toLowerCase());
    }
  return null;
}

function placeOf(section: records.ConfigurationSection, index: number, name: string): Place {
  return { path: `body.${section}[${String(index)}]`, words: `${section}, ruleset ${quoted(name)}` };
}

/** The plan of one section. */
class RulesetSection<FileRule extends object, Kept extends KeptRule> {
  constructor(
    private readonly plan: Plan,
    private readonly kind: RuleKind<FileRule, Kept>,
  ) {}

  /** Plans the section; null: it is not refused. */
  refusal(wanted: readonly FileRuleset<FileRule>[]): Refusal | null {
    const { before } = this.plan;
    const known = new Map(
      rulesetsOf(before, this.kind.scoreType).map((ruleset) => [ruleset.name.toLowerCase(), ruleset]),
    );
    const rules = byRuleset(this.kind.rulesOf(before));
    const named = new Set(wanted.map(({ name }) => name.toLowerCase()));
    for (const [name, ruleset] of known)
      if (!named.has(name)) this.#removeRuleset(ruleset, rules.get(ruleset.id) ?? []);
    for (const [index, ruleset] of wanted.entries()) {
      const place = placeOf(this.kind.section, index, ruleset.name);
      const present = known.get(ruleset.name.toLowerCase());
      const rulesetId = present?.id ?? this.plan.idOf(`ruleset:${ruleset.name.toLowerCase()}`);
      const refused =
        this.#planRuleset(ruleset, { rulesetId, present, place }) ??
        this.#planRules(ruleset, rulesetId, rules.get(rulesetId) ?? [], place);
      if (refused) return refused;
    }
    return null;
  }

  /** Limits that the ruleset has already are not refused. */
  #planRuleset(
    ruleset: FileRuleset<FileRule>,
    { rulesetId, present, place }: { rulesetId: string; present: Ruleset | undefined; place: Place },
  ): Refusal | null {
    const limits = rulesetLimitsAfter({}, ruleset);
    const senseless =
      present && hasSameRulesetLimits(present, limits) ? null : senselessRulesetLimits(limits);
    if (senseless) return inPlace(senseless, place);
    if (present) this.#changeRuleset(present, ruleset);
    else this.#addRuleset(ruleset, rulesetId);
    return null;
  }

  #addRuleset(ruleset: FileRuleset<FileRule>, ruleset_id: string): void {
    const { name, active } = ruleset;
    this.plan.events.push({
      type: 'RulesetCreated',
      payload: {
        ...this.plan.stamp,
        ruleset_id,
        name,
        score_type: this.kind.scoreType,
        active,
        is_default: false,
        ...rulesetLimitsAfter({}, ruleset),
        version: 1,
      },
    });
    this.plan.changes.add({ section: this.kind.section, kind: 'ruleset', action: 'add', name });
  }

  #changeRuleset(known: Ruleset, wanted: FileRuleset<FileRule>): void {
    const { name, active } = wanted;
    const limits = rulesetLimitsAfter({}, wanted);
    if (name === known.name && active === known.active && hasSameRulesetLimits(known, limits)) return;
    this.plan.events.push({
      type: 'RulesetUpdated',
      payload: {
        ...this.plan.stamp,
        ruleset_id: known.id,
        name,
        active,
        ...limits,
        version: known.version + 1,
      },
    });
    this.plan.changes.change(
      { section: this.kind.section, kind: 'ruleset', name },
      { name: known.name, active: known.active, ...rulesetLimitsOf(known) },
      { name, active, ...limits },
    );
  }

  #removeRuleset({ id: ruleset_id, name, version }: Ruleset, rules: readonly Kept[]): void {
    for (const rule of rules) this.#removeRule(rule, name);
    this.plan.events.push({
      type: 'RulesetDeleted',
      payload: { ...this.plan.stamp, ruleset_id, version: version + 1 },
    });
    this.plan.changes.add({ section: this.kind.section, kind: 'ruleset', action: 'remove', name });
  }

  #planRules(
    { name, rules }: FileRuleset<FileRule>,
    rulesetId: string,
    known: readonly Kept[],
    place: Place,
  ): Refusal | null {
    const pairs = pairRules(this.kind, known, rules);
    for (const rule of pairs.missing) this.#removeRule(rule, name);
    for (const [position, { rule, known: present }] of pairs.wanted.entries()) {
      if (present && this.#isSame(present, rule)) continue;
      const refused = this.kind.refusalOf(rule);
      if (refused)
        return inPlace(refused, {
          path: `${place.path}.rules[${String(position)}]`,
          words: `${place.words}, rule ${String(position + 1)} ${quoted(wordsOfRule(this.kind, rule))}`,
        });
      if (present) this.#changeRule(present, rule, name);
      else this.#addRule(rule, { rulesetId, ruleset: name, position });
    }
    return null;
  }

  #addRule(
    rule: FileRule,
    { rulesetId, ruleset, position }: { rulesetId: string; ruleset: string; position: number },
  ) {
    const rule_id = this.plan.idOf(`rule:${rulesetId}:${String(position)}`);
    const ids = { ...this.plan.stamp, rule_id, ruleset_id: rulesetId };
    this.plan.events.push(this.kind.created(rule, ids));
    this.plan.changes.add({ ...this.#ruleIn(ruleset, rule), action: 'add' });
  }

  #changeRule(known: Kept, wanted: FileRule, ruleset: string): void {
    this.plan.events.push(this.kind.changed(known, wanted, this.plan.stamp));
    this.plan.changes.change(
      this.#ruleIn(ruleset, wanted),
      fileRuleOf(this.kind, known),
      withoutDefaults(wanted),
    );
  }

  #isSame(known: Kept, wanted: FileRule): boolean {
    return canonicalText(fileRuleOf(this.kind, known)) === canonicalText(withoutDefaults(wanted));
  }

  #removeRule(rule: Kept, ruleset: string): void {
    this.plan.events.push({
      type: 'RuleDeleted',
      payload: { ...this.plan.stamp, rule_id: rule.id, version: rule.version + 1 },
    });
    this.plan.changes.add({ ...this.#ruleIn(ruleset, fileRuleOf(this.kind, rule)), action: 'remove' });
  }

  #ruleIn(ruleset: string, rule: FileRule) {
    const { section } = this.kind;
    return { section, kind: 'rule', ruleset, name: wordsOfRule(this.kind, rule) } as const;
  }
}
