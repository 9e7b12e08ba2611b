// Decides on a document of the whole configuration: the events that make the configuration equal to it, or why it is refused. Pure.
import { nameBasedId, type records } from '@lead-scoring/contracts';
import {
  evolveConfiguration,
  isDeletedRule,
  rulesetLimitsOf,
  type ConfigurationEvent,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { senselessRuleLimits } from '../configuration/decide-limits.js';
import { alreadyDeleted, beyondLimits, neverCounts } from '../configuration/decision-model.js';
import type { ConfigurationDecision, Refusal } from '../configuration/messages.js';
import { rulesetsOf, type Rule, type Ruleset } from '../configuration/state.js';
import { setEngagementLevels } from '../levels/decide.js';
import { ChangeList, wordsOf } from './change-model.js';
import { fileRuleOf, rulesByRuleset } from './document-model.js';
import { pairRules, textOf } from './pair-model.js';

/** A document that changes nothing is always taken, whatever version it expects: so a repeat is answered like the first. */
export function applyConfiguration(
  command: records.ApplyConfiguration,
  configuration: ScoringConfiguration,
): ConfigurationDecision {
  const plan = new Plan(command, configuration);
  const refusal = plan.refusal();
  if (refusal) return refusal;
  const { events, changes } = plan;
  const { expected_version, dry_run } = command;
  if (events.length > 0 && expected_version !== undefined && expected_version !== configuration.version)
    return {
      outcome: 'rejected',
      code: 'configuration_changed',
      message: `The configuration has version ${String(configuration.version)} and no longer ${String(expected_version)}: somebody has changed it meanwhile. Read it again, and repeat your change on what there is now.`,
    };
  const after = events.reduce(evolveConfiguration, configuration);
  const tooMuch = beyondLimits(after);
  if (tooMuch) return tooMuch;
  const version = dry_run ? configuration.version : after.version;
  return {
    outcome: 'done',
    events: dry_run ? [] : events,
    result: { dry_run, version, ...changes.answer() },
  };
}

/** The events that a document comes to, with the same as a person reads it. */
class Plan {
  readonly events: ConfigurationEvent[] = [];
  readonly changes = new ChangeList();
  /** The deletions of rulesets, which follow those of their rules. */
  readonly #deletions: ConfigurationEvent[] = [];

  constructor(
    private readonly command: records.ApplyConfiguration,
    private readonly configuration: ScoringConfiguration,
  ) {}

  /** Plans all sections of the document; null: none is refused. */
  refusal(): Refusal | null {
    const { engagement_rulesets, engagement_levels } = this.command.configuration;
    const refused =
      (engagement_rulesets ? this.#planRulesets(engagement_rulesets) : null) ??
      (engagement_levels ? this.#planLevels(engagement_levels) : null);
    this.events.push(...this.#deletions);
    return refused;
  }

  #planRulesets(wanted: readonly records.FileRuleset[]): Refusal | null {
    const known = new Map(
      rulesetsOf(this.configuration, 'engagement').map((ruleset) => [ruleset.name.toLowerCase(), ruleset]),
    );
    const taken = new Set(
      [...this.configuration.rulesets.values()]
        .filter(({ score_type }) => score_type !== 'engagement')
        .map(({ name }) => name.toLowerCase()),
    );
    const byRuleset = rulesByRuleset(this.configuration);
    const named = new Set(wanted.map(({ name }) => name.toLowerCase()));
    for (const [name, ruleset] of known)
      if (!named.has(name)) this.#removeRuleset(ruleset, byRuleset.get(ruleset.id) ?? []);
    const seen = new Set<string>();
    for (const [index, ruleset] of wanted.entries()) {
      const name = ruleset.name.toLowerCase();
      if (seen.has(name) || taken.has(name)) return nameTaken(ruleset.name, index);
      seen.add(name);
      const present = known.get(name);
      const refused = present ? this.#changeRuleset(present, ruleset) : this.#addRuleset(ruleset);
      if (refused) return refused;
      const rulesetId = present?.id ?? this.#idOf(`ruleset:${name}`);
      const ruled = this.#planRules(ruleset, index, rulesetId, byRuleset.get(rulesetId) ?? []);
      if (ruled) return ruled;
    }
    return null;
  }

  #addRuleset({ name, active }: records.FileRuleset): Refusal | null {
    const ruleset_id = this.#idOf(`ruleset:${name.toLowerCase()}`);
    if (this.configuration.former_rulesets.has(ruleset_id)) return alreadyDeleted('ruleset');
    this.events.push({
      type: 'RulesetCreated',
      payload: {
        ...this.#stamp(),
        ruleset_id,
        name,
        score_type: 'engagement',
        active,
        is_default: false,
        version: 1,
      },
    });
    this.changes.add({ kind: 'ruleset', action: 'add', name });
    return null;
  }

  #changeRuleset(known: Ruleset, wanted: records.FileRuleset): null {
    const { name, active } = wanted;
    if (name === known.name && active === known.active) return null;
    this.events.push({
      type: 'RulesetUpdated',
      payload: {
        ...this.#stamp(),
        ruleset_id: known.id,
        name,
        active,
        // A document does not hold the limits of rulesets: they stay.
        ...rulesetLimitsOf(known),
        version: known.version + 1,
      },
    });
    const { name: nameBefore, active: activeBefore } = known;
    this.changes.change(
      { kind: 'ruleset', name },
      { name: nameBefore, active: activeBefore },
      { name, active },
    );
    return null;
  }

  #removeRuleset({ id: ruleset_id, name, version }: Ruleset, rules: readonly Rule[]): void {
    for (const rule of rules) this.#removeRule(rule, name);
    this.#deletions.push({
      type: 'RulesetDeleted',
      payload: { ...this.#stamp(), ruleset_id, version: version + 1 },
    });
    this.changes.add({ kind: 'ruleset', action: 'remove', name });
  }

  #planRules(
    { name, rules }: records.FileRuleset,
    index: number,
    rulesetId: string,
    known: readonly Rule[],
  ): Refusal | null {
    const pairs = pairRules(known, rules);
    for (const rule of pairs.missing) this.#removeRule(rule, name);
    for (const [position, { rule, known: present }] of pairs.wanted.entries()) {
      const senseless = neverCounts(rule) ?? senselessRuleLimits(rule);
      if (senseless)
        return inSection(
          senseless,
          'body',
          `body.engagement_rulesets[${String(index)}].rules[${String(position)}]`,
        );
      const refused = present
        ? this.#changeRule(present, rule, name)
        : this.#addRule(rule, { rulesetId, ruleset: name, position });
      if (refused) return refused;
    }
    return null;
  }

  #addRule(
    rule: records.FileRule,
    { rulesetId, ruleset, position }: { rulesetId: string; ruleset: string; position: number },
  ): Refusal | null {
    const rule_id = this.#idOf(`rule:${rulesetId}:${String(position)}`);
    if (isDeletedRule(this.configuration, rule_id)) return alreadyDeleted('rule');
    this.events.push({
      type: 'RuleCreated',
      payload: { ...this.#stamp(), rule_id, ruleset_id: rulesetId, ...contentOf(rule), version: 1 },
    });
    this.changes.add({ kind: 'rule', action: 'add', ruleset, name: wordsOf(rule) });
    return null;
  }

  #changeRule(known: Rule, wanted: records.FileRule, ruleset: string): null {
    const before = fileRuleOf(known);
    if (textOf(before) === textOf(wanted)) return null;
    this.events.push({
      type: 'RuleUpdated',
      payload: {
        ...this.#stamp(),
        rule_id: known.id,
        ruleset_id: known.ruleset_id,
        ...contentOf(wanted),
        version: known.version + 1,
      },
    });
    this.changes.change({ kind: 'rule', ruleset, name: wordsOf(wanted) }, before, wanted);
    return null;
  }

  #removeRule(rule: Rule, ruleset: string): void {
    this.events.push({
      type: 'RuleDeleted',
      payload: { ...this.#stamp(), rule_id: rule.id, version: rule.version + 1 },
    });
    this.changes.add({ kind: 'rule', action: 'remove', ruleset, name: wordsOf(fileRuleOf(rule)) });
  }

  #planLevels(levels: NonNullable<records.ConfigurationFile['engagement_levels']>): Refusal | null {
    const { ou_id, requested_at } = this.command;
    const decision = setEngagementLevels({ ou_id, levels, requested_at }, this.configuration);
    if (decision.outcome === 'rejected') return inSection(decision, 'body.levels', 'body.engagement_levels');
    this.events.push(...decision.events);
    if (decision.events.length > 0)
      this.changes.levels('engagement_levels', this.configuration.levels, levels);
    return null;
  }

  #stamp(): { ou_id: string; at: string } {
    return { ou_id: this.command.ou_id, at: this.command.requested_at };
  }

  #idOf(name: string): string {
    return nameBasedId(this.command.change_id, name);
  }
}

function contentOf(rule: records.FileRule) {
  return { ...rule, attribute_filters: rule.attribute_filters ?? [], active: rule.active ?? true };
}

function nameTaken(name: string, index: number): Refusal {
  return {
    outcome: 'rejected',
    code: 'duplicate_name',
    message: `There is another ruleset named "${name}", in the document or of another score type. Choose another name.`,
    errors: [
      {
        path: `body.engagement_rulesets[${String(index)}].name`,
        message: 'must not be the name of another ruleset',
      },
    ],
  };
}

/** The refusal of a part of the document, with the paths that the part has in the document. */
function inSection(refusal: Refusal, from: string, section: string): Refusal {
  return {
    ...refusal,
    errors: (refusal.errors ?? []).map(({ path, message }) => ({
      path: path.replace(from, section),
      message,
    })),
  };
}
