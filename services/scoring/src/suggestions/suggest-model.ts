// From leads with known traits to a draft of rules: weights by logistic regression, each with its support. Pure.
import { name, records } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { association, clearly, isSupported, type Counted } from './association-model.js';
import { fitLogistic, type TraitRow } from './ridge-model.js';
import type { Trait } from './trait-model.js';

type Suggested = NonNullable<records.SuggestionFound['suggested']>;
type Support = Suggested['support'][number];

/** The form of a rule's label. */
const ruleLabel = name(100);

/** So many points double the odds of the outcome. */
const pointsPerDoubling = 10;

export interface SuggestionContext {
  /** The live rules. */
  readonly configuration: ScoringConfiguration;
  /** Takes new profile rules; undefined where new rules are about events. */
  readonly ruleset_id?: string | undefined;
}

/** A trait with its leads, and the weight that a rule about it should have. */
interface WeighedTrait {
  readonly trait: Trait;
  /** In the rows. */
  readonly number: number;
  readonly having: Counted;
  readonly coefficient: number;
}

/** @param rows of leads by the numbers of the traits */
export function suggestedBy(
  traits: readonly Trait[],
  rows: readonly TraitRow[],
  context: SuggestionContext,
): Suggested {
  const all = countedIn(rows);
  const changes: records.DraftChange[] = [];
  const support: Support[] = [];
  for (const weighed of weighedTraits(traits, rows, all)) {
    const change = changeOf(weighed, context);
    if (!change) continue;
    changes.push(change);
    support.push(supportOf(weighed, all));
  }
  return { ...all, changes, support };
}

function countedIn(rows: readonly TraitRow[]): Counted {
  return rows.reduce((sum, { leads, won }) => ({ leads: sum.leads + leads, won: sum.won + won }), {
    leads: 0,
    won: 0,
  });
}

function weighedTraits(traits: readonly Trait[], rows: readonly TraitRow[], all: Counted): WeighedTrait[] {
  const { leadsOfKind, additions } = records.suggestionLimits;
  if (all.won < leadsOfKind || all.leads - all.won < leadsOfKind) return [];
  const counted = traits
    .map((trait, number) => ({
      trait,
      number,
      having: countedIn(rows.filter(({ has }) => has.includes(number))),
    }))
    .filter(
      ({ trait, having }) =>
        isSupported(having, all) && (isOfRule(trait) || association(having, all) >= clearly),
    );
  const first = withCoefficients(counted, rows);
  const best = first
    .filter(({ trait }) => !isOfRule(trait))
    .sort((one, other) => weightIn(other, all) - weightIn(one, all) || one.number - other.number)
    .slice(0, additions);
  const kept = first.filter((weighed) => isOfRule(weighed.trait) || best.includes(weighed));
  // The coefficients of fewer traits are others.
  return withCoefficients(kept, rows);
}

function withCoefficients(
  traits: readonly Omit<WeighedTrait, 'coefficient'>[],
  rows: readonly TraitRow[],
): WeighedTrait[] {
  const places = new Map(traits.map(({ number }, place) => [number, place]));
  const reduced = rows.map((row) => ({
    ...row,
    has: row.has.flatMap((number) => places.get(number) ?? []),
  }));
  const { coefficients } = fitLogistic(reduced, traits.length);
  return traits.map((trait, place) => ({ ...trait, coefficient: coefficients[place] ?? 0 }));
}

function isOfRule(trait: Trait): boolean {
  return 'rule_id' in trait;
}

/** By how much a trait tells leads apart: a large effect that concerns few counts less. */
function weightIn({ coefficient, having }: WeighedTrait, all: Counted): number {
  const share = having.leads / all.leads;
  return Math.abs(coefficient) * Math.sqrt(share * (1 - share));
}

function supportOf({ having, coefficient }: WeighedTrait, all: Counted): Support {
  return {
    with: having,
    without: { leads: all.leads - having.leads, won: all.won - having.won },
    odds_ratio: Math.round(Math.exp(coefficient) * 1_000) / 1_000,
  };
}

/** The change that gives a trait its weight; null: there is none to make. */
function changeOf(
  { trait, coefficient }: WeighedTrait,
  context: SuggestionContext,
): records.DraftChange | null {
  // Never -0, which equals 0 and is written as another number.
  const weight = Math.round((coefficient * pointsPerDoubling) / Math.LN2) + 0;
  if ('rule_id' in trait) return changeOfRule(trait.rule_id, weight, context);
  if (weight === 0) return null;
  return { op: 'add', rule: newRule(trait, weight, context) };
}

function changeOfRule(
  rule_id: string,
  weight: number,
  { configuration }: SuggestionContext,
): records.DraftChange | null {
  if (weight === 0) return { op: 'change', rule_id, rule: { active: false } };
  const rule = configuration.rules.get(rule_id);
  const countsOnce = rule?.max_count === 1 || rule?.once_per === 'lead';
  const limits = {
    // Beside once_per lead a count is refused.
    ...(rule && !countsOnce && { max_count: 1 }),
    ...(rule?.cap_points !== undefined && { cap_points: null }),
    ...(rule?.cap_days !== undefined && { cap_days: null }),
  };
  const known = rule ?? configuration.profile?.rules.get(rule_id);
  const isSame = known?.weight === weight && (!rule || (countsOnce && rule.cap_points === undefined));
  return isSame ? null : { op: 'change', rule_id, rule: { weight, ...limits } };
}

type NewRule = Extract<records.DraftChange, { op: 'add' }>['rule'];

function newRule(
  trait: Exclude<Trait, { rule_id: string }>,
  weight: number,
  { ruleset_id }: SuggestionContext,
): NewRule {
  const conditions = trait.property ? [{ ...trait.property, operator: 'equals' as const }] : [];
  const label = labelOf(trait);
  if ('event_type' in trait)
    return {
      event_type: trait.event_type,
      weight,
      max_count: 1,
      ...(conditions.length > 0 && { attribute_filters: conditions }),
      ...label,
    };
  if (ruleset_id === undefined) throw new Error('a suggestion about profiles has no ruleset for new rules');
  return { ruleset_id, conditions, weight, ...label };
}

/** A label that may be one: values of events may hold what no label holds. */
function labelOf(trait: Exclude<Trait, { rule_id: string }>): { label?: string } {
  const type = 'event_type' in trait ? trait.event_type : undefined;
  const property = trait.property && `${trait.property.field} is ${String(trait.property.value)}`;
  const text = [type, property]
    .filter((part) => part !== undefined)
    .join(', ')
    .slice(0, 100);
  const parsed = ruleLabel.safeParse(text);
  return parsed.success ? { label: parsed.data } : {};
}
