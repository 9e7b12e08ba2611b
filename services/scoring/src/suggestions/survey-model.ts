// Looks for the traits that many leads have, in bounded memory. Pure.
//
// Of more than `candidates` different traits the half with the fewest leads so far is forgotten, so a trait of many leads stays, however
// many traits of few there are. Counts of a survey may therefore be too small; they only say which traits are looked at exactly.
import { records } from '@lead-scoring/contracts';
import { association, clearly, isSupported } from './association-model.js';
import { nameOf, type NamedTrait, type Trait, type TraitSink } from './trait-model.js';

type Survey = NonNullable<records.SuggestionFound['survey']>;
type CountedTrait = Survey['traits'][number];

/** The bounds of a survey's memory. */
export interface SurveyBounds {
  /** Different traits that are counted at a time. */
  readonly candidates: number;
  /** Traits of one lead that count, the first ones. */
  readonly perLead: number;
  /** The same of all leads together. */
  readonly altogether: number;
}

const defaultBounds: SurveyBounds = { candidates: 10_000, perLead: 200, altogether: 1_000_000 };

interface Known extends NamedTrait {
  /** Never used again for another trait. */
  readonly number: number;
  leads: number;
  won: number;
}

export class TraitSurvey implements TraitSink {
  readonly #known = new Map<string, Known>();
  /** The numbers of the traits of each lead. */
  readonly #leads = new Map<string, Set<number>>();
  #numbers = 0;
  #pairs = 0;

  constructor(
    private readonly hasOutcome: (leadId: string) => boolean,
    private readonly bounds: SurveyBounds = defaultBounds,
  ) {}

  meet(leadId: string): void {
    if (!this.#leads.has(leadId)) this.#leads.set(leadId, new Set());
  }

  see(leadId: string, { name, trait }: NamedTrait): void {
    const has = this.#leads.get(leadId);
    let known = this.#known.get(name);
    if (!has || (known && has.has(known.number))) return;
    if (has.size >= this.bounds.perLead || this.#pairs >= this.bounds.altogether) return;
    if (!known) {
      if (this.#known.size >= this.bounds.candidates) this.#forgetRarer();
      known = { name, trait, number: (this.#numbers += 1), leads: 0, won: 0 };
      this.#known.set(name, known);
    }
    has.add(known.number);
    this.#pairs += 1;
    this.#count(known, leadId, 1);
  }

  forget(leadId: string): void {
    const has = this.#leads.get(leadId);
    if (!has) return;
    for (const known of this.#known.values()) if (has.has(known.number)) this.#count(known, leadId, -1);
    this.#pairs -= has.size;
    this.#leads.delete(leadId);
  }

  /** How many different traits are in memory. */
  get size(): number {
    return this.#known.size;
  }

  /** @param covered names of traits that rules are about already */
  found(covered: ReadonlySet<string>): Survey {
    const leads = this.#leads.size;
    const won = [...this.#leads.keys()].filter(this.hasOutcome).length;
    const enough = [...this.#known.values()].filter(
      (known) => known.leads >= records.suggestionLimits.leadsInPartition && !covered.has(known.name),
    );
    return {
      leads,
      won,
      traits: foremost(enough.map(countedTrait), { leads, won }, records.suggestionLimits.traitsPerStep),
    };
  }

  #count(known: Known, leadId: string, by: number): void {
    known.leads += by;
    if (this.hasOutcome(leadId)) known.won += by;
  }

  #forgetRarer(): void {
    const inOrder = [...this.#known.values()].sort((one, other) => other.leads - one.leads);
    for (const { name } of inOrder.slice(Math.floor(this.bounds.candidates / 2))) this.#known.delete(name);
  }
}

function countedTrait({ trait, leads, won }: Known): CountedTrait {
  return { trait, leads, won };
}

/** Rules first, those that match most leads; then the traits that go with the outcome most clearly. */
function foremost(
  traits: readonly CountedTrait[],
  all: Pick<Survey, 'leads' | 'won'>,
  maximum: number,
): CountedTrait[] {
  const rules = traits.filter(({ trait }) => 'rule_id' in trait).sort(byLeads);
  const candidates = traits
    .filter(({ trait }) => !('rule_id' in trait))
    .map((trait) => ({ trait, strength: association(trait, all) }))
    .sort((one, other) => other.strength - one.strength || byName(one.trait, other.trait))
    .map(({ trait }) => trait);
  return [...rules.slice(0, records.suggestionLimits.rules), ...candidates].slice(0, maximum);
}

function byLeads(one: CountedTrait, other: CountedTrait): number {
  return other.leads - one.leads || byName(one, other);
}

function byName(one: CountedTrait, other: CountedTrait): number {
  return nameOf(one.trait) < nameOf(other.trait) ? -1 : 1;
}

/** The surveys of two steps. */
export function joinedSurvey(one: Survey, other: Survey): Survey {
  const [leads, won] = [one.leads + other.leads, one.won + other.won];
  const traits = new Map<string, CountedTrait>();
  for (const counted of [...one.traits, ...other.traits]) {
    const name = nameOf(counted.trait);
    const known = traits.get(name);
    traits.set(name, {
      trait: known?.trait ?? counted.trait,
      leads: (known?.leads ?? 0) + counted.leads,
      won: (known?.won ?? 0) + counted.won,
    });
  }
  return {
    leads,
    won,
    traits: foremost([...traits.values()], { leads, won }, records.suggestionLimits.traits),
  };
}

/**
 * The traits that are weighed, in a fixed order: rules, and the candidates that go with the outcome most clearly. Of candidates that the
 * same number of leads has, with the same number of outcomes, one is enough: they are two words for one thing.
 */
export function chosenTraits({ traits, leads, won }: Survey): Trait[] {
  const { rules, candidates } = records.suggestionLimits;
  const all = { leads, won };
  const chosen = traits
    .filter(({ trait }) => 'rule_id' in trait)
    .slice(0, rules)
    .map(({ trait }) => trait);
  const twins = new Set<string>();
  for (const counted of foremost(traits, all, traits.length)) {
    if ('rule_id' in counted.trait || twins.size >= candidates) continue;
    const twin = `${String(counted.leads)} ${String(counted.won)}`;
    if (twins.has(twin) || !isSupported(counted, all) || association(counted, all) < clearly) continue;
    twins.add(twin);
    chosen.push(counted.trait);
  }
  return chosen;
}
