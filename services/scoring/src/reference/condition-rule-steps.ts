// Steps of random histories that change rules over conditions and their rulesets, for scoring and for the plain scoring alike.
import type { AttributeFilter } from '@lead-scoring/contracts';
import fc from 'fast-check';
import {
  createProfileRule,
  createRule,
  createRuleset,
  deleteRule,
  idOf,
  updateRule,
  updateRuleset,
} from '../testing/builders.js';
import type { ReferenceConditions } from './reference-conditions.js';
import type { ReferenceScoring } from './reference-scoring.js';
import type { ScoringInMemory } from './scoring-in-memory.js';

/** Conditions, and when facts meet them. */
export interface MeantConditions<Facts> {
  written: AttributeFilter[];
  meets: (facts: Facts) => boolean;
}

/** Gives scoring and the plain scoring of events the same one rule: 10 points for a page view. */
export function rulePageViews(
  scoring: ScoringInMemory,
  reference: ReferenceScoring,
  requested_at: string,
): void {
  scoring.command(createRule('view', { requested_at }));
  reference.rulesets.set('default', { active: true });
  const view = { id: 'view', ruleset: 'default', event_type: 'Page View', weight: 10, active: true };
  reference.rules.set('view', view);
}

/** The number of different conditions that a step names. */
const condition = fc.nat(99);
const ruleset = fc.constantFrom('One', 'Other');
export const manyRules = 'Many';
const anyRuleset = fc.constantFrom('One', 'Other', manyRules);
/** Mostly such that they add up to limits, and cancel each other. */
const points = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(10, 10, 20, -10) },
  { weight: 1, arbitrary: fc.integer({ min: -20, max: 20 }).filter((weight) => weight !== 0) },
);
const limit = (values: readonly number[], range: fc.Arbitrary<number>) =>
  fc.oneof(fc.constantFrom(...values, null), fc.option(range));

export const createRuleStep = fc.record({
  does: fc.constant('rule' as const),
  ruleset,
  condition,
  weight: points,
  active: fc.constantFrom(true, true, false),
});

export const ruleSteps = [
  { weight: 2, arbitrary: createRuleStep },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('change rule' as const),
      rule: fc.nat(5),
      to: fc.oneof(
        fc.record({ weight: points }),
        fc.record({ condition }),
        fc.record({ ruleset }),
        fc.record({ active: fc.boolean() }),
        fc.constant('deleted' as const),
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('limit' as const),
      ruleset: anyRuleset,
      min_score: limit([-10, 0], fc.integer({ min: -20, max: 0 })),
      max_score: limit([10, 20], fc.integer({ min: 0, max: 20 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('switch' as const),
      ruleset: anyRuleset,
      active: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant('many rules' as const),
      condition,
      isRare: fc.constantFrom(true, false, false),
    }),
  },
] as const;

export type RuleStep =
  (typeof ruleSteps)[number]['arbitrary'] extends fc.Arbitrary<infer Value> ? Value : never;
type Named<Does> = Extract<RuleStep, { does: Does }>;

const kinds: ReadonlySet<string> = new Set<RuleStep['does']>([
  'rule',
  'change rule',
  'limit',
  'switch',
  'many rules',
]);

export function isRuleStep<Step extends { does: string }>(step: Step): step is Extract<Step, RuleStep> {
  return kinds.has(step.does);
}

export interface RulesToPlay<Facts> {
  readonly scoring: ScoringInMemory;
  readonly reference: ReferenceConditions<Facts>;
  readonly score_type: 'profile' | 'deal' | 'account';
  readonly conditions: readonly MeantConditions<Facts>[];
  /** The time of the next command. */
  readonly tick: () => string;
}

/** Plays the steps to both scorings. */
export class RulePlay<Facts> {
  /** Those that steps can change. */
  readonly #rules: string[] = [];

  constructor(private readonly to: RulesToPlay<Facts>) {
    const { scoring, reference, score_type, tick } = to;
    for (const name of ['One', 'Other', manyRules]) {
      scoring.command(createRuleset(name, { score_type, requested_at: tick() }));
      reference.rulesets.set(name, { active: true });
    }
  }

  step(step: RuleStep): void {
    switch (step.does) {
      case 'rule':
        this.#createRule(`rule ${String(this.#rules.length)}`, step);
        return;
      case 'change rule':
        this.#changeRule(step);
        return;
      case 'limit':
        this.#limit(step);
        return;
      case 'switch':
        this.#updateRuleset(step.ruleset, { active: step.active });
        return;
      case 'many rules':
        this.#createManyRules(step);
    }
  }

  #createRule(id: string, step: Omit<Named<'rule'>, 'does' | 'ruleset'> & { ruleset: string }): void {
    const { scoring, reference, tick } = this.to;
    const { written, meets } = this.#conditionOf(step.condition);
    const { weight, active } = step;
    const more = { ruleset_id: idOf(step.ruleset), weight, active, requested_at: tick() };
    scoring.command(createProfileRule(id, written, more));
    reference.rules.set(id, { id, ruleset: step.ruleset, weight, active, meets });
    if (step.ruleset !== manyRules) this.#rules.push(id);
  }

  #createManyRules({ condition: nth, isRare }: Named<'many rules'>): void {
    const isThere = [...this.to.reference.rules.values()].some((rule) => rule.ruleset === manyRules);
    if (!isRare || isThere) return;
    const one = { ruleset: manyRules, condition: nth, weight: 1, active: true };
    for (let rule = 0; rule < 51; rule += 1) this.#createRule(`many ${String(rule)}`, one);
  }

  #changeRule({ rule, to }: Named<'change rule'>): void {
    const { scoring, reference, tick } = this.to;
    const known = reference.rules.get(this.#rules[rule] ?? '');
    if (!known) return;
    const requested_at = tick();
    if (to === 'deleted') {
      scoring.command(deleteRule(known.id, { requested_at }));
      reference.rules.delete(known.id);
    } else if ('condition' in to) {
      const { written, meets } = this.#conditionOf(to.condition);
      scoring.command(updateRule(known.id, { conditions: written, requested_at }));
      known.meets = meets;
    } else {
      const changes = 'ruleset' in to ? { ruleset_id: idOf(to.ruleset) } : to;
      scoring.command(updateRule(known.id, { ...changes, requested_at }));
      Object.assign(known, to);
    }
  }

  #limit({ ruleset: name, min_score, max_score }: Named<'limit'>): void {
    // A ruleset that can give nothing is refused.
    if (min_score !== 0 || max_score !== 0) this.#updateRuleset(name, { min_score, max_score });
  }

  #updateRuleset(
    name: string,
    more: { active?: boolean; min_score?: number | null; max_score?: number | null },
  ): void {
    const { scoring, reference, tick } = this.to;
    scoring.command(updateRuleset(name, { ...more, requested_at: tick() }));
    reference.rulesets.set(name, { active: true, ...reference.rulesets.get(name), ...more });
  }

  #conditionOf(nth: number): MeantConditions<Facts> {
    const { conditions } = this.to;
    const found = conditions[nth % conditions.length];
    if (!found) throw new Error('there are no conditions');
    return found;
  }
}

/** How often histories came to what is interesting. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(name: string, happens = true): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + (happens ? 1 : 0));
  }

  rarerThan(count: number): [name: string, count: number][] {
    return [...this.#counts].filter(([, one]) => one < count);
  }
}
