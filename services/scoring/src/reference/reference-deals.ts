// The scoring of deals written a second time, for tests: plain and slow, from SPEC.md, API.md and the decision on deals and not from
// the code. It keeps everything that was said of a deal, and reads all of it anew for each answer. It imports nothing of the service.
import { noPoints, ReferenceConditions, scoreOf, withoutZeros, type Points } from './reference-conditions.js';

/** What a deal is, as conditions see it: a field without a value is absent. */
export interface DealFacts {
  id: string;
  stage?: string;
  amount?: number;
  currency?: string;
  closed_at?: string;
}

/** What an event says of a deal: null is no value, an absent field says nothing. */
export type SaidOfDeal = { id: string } & {
  [Field in Exclude<keyof DealFacts, 'id'>]?: DealFacts[Field] | null;
};

interface Link {
  lead: string;
  /** Counts the leads that had this name before. */
  life: number;
  /** A change with too many reasons: the deal counts as a whole for the lead until its score is 0. */
  isWhole: boolean;
}

interface ReferenceDeal {
  /** With the times of the events, in the order in which they arrived. */
  said: { at: string; of: SaidOfDeal }[];
  /** In the order in which they named the deal. */
  links: Link[];
  points: Points;
  /** The points by which its leads explain its score: those of the moment when the score last changed. */
  told: Points;
  /** The number of changes of points since then. */
  untold: number;
}

/** What a deal score is made of: of rules by rule and weight with the number of deals, and what no rule gave. */
export interface ExplainedDeals {
  score: number;
  drivers: { rule: string; weight: number; count: number }[];
  /** By ruleset. */
  held: Map<string, number>;
  /** The points of the deals that count as a whole. */
  whole: number;
}

/** A change with more reasons counts as a whole. */
const mostReasons = 50;
const fieldNames = ['stage', 'amount', 'currency', 'closed_at'] as const;

/** The deals and deal rules of one organisational unit. */
export class ReferenceDeals {
  readonly rules = new ReferenceConditions<DealFacts>();
  /** What was ignored, the oldest first. */
  ignored: { lead: string; event: string; at: string }[] = [];
  readonly #deals = new Map<string, ReferenceDeal>();
  /** The deals that each lead named. */
  readonly #named = new Map<string, Set<string>>();
  readonly #lives = new Map<string, number>();

  /** An event of a lead names a deal. Its deal hears of it later. */
  name(lead: string, deal: string): void {
    this.#named.set(lead, new Set(this.#named.get(lead)).add(deal));
  }

  /** The deals that may give a lead points. */
  namedBy(lead: string): string[] {
    return [...(this.#named.get(lead) ?? [])];
  }

  /** What an event said of a deal is none. */
  ignore(lead: string, event: string, at: string): void {
    this.ignored.push({ lead, event, at });
  }

  /** @returns the deals that hear of it later */
  delete(lead: string): string[] {
    const named = this.namedBy(lead);
    this.#named.delete(lead);
    this.#lives.set(lead, this.life(lead) + 1);
    this.ignored = this.ignored.filter((one) => one.lead !== lead);
    return named;
  }

  life(lead: string): number {
    return this.#lives.get(lead) ?? 0;
  }

  /** The deal hears what events of a lead said: one decision, with the rules in force now. */
  hear(
    lead: { name: string; life: number },
    deal: string,
    said: readonly ReferenceDeal['said'][number][],
  ): void {
    const known = this.#deals.get(deal) ?? newDeal();
    this.#deals.set(deal, known);
    const before = scoreOf(known.points);
    known.said.push(...said);
    const points = this.#due(deal);
    const changes = changesBetween(known.points, points);
    const after = scoreOf(points);
    known.points = points;
    const reasons = known.untold + changes;
    if (after !== before || after === 0) {
      known.told = after === 0 ? noPoints() : points;
      known.untold = 0;
    } else known.untold += changes;
    const isTold = after !== before;
    for (const link of known.links) {
      if (after === 0) link.isWhole = false;
      else if (isTold) link.isWhole ||= (before === 0 ? sizeOf(points) : reasons) > mostReasons;
    }
    if (known.links.some((link) => link.lead === lead.name)) return;
    const isWhole = after !== 0 && (known.untold > mostReasons || sizeOf(known.told) > mostReasons);
    known.links.push({ lead: lead.name, life: lead.life, isWhole });
  }

  /** The deal hears that a lead was deleted: it goes with its last lead. */
  forget(lead: string, deal: string): void {
    const known = this.#deals.get(deal);
    if (!known) return;
    known.links = known.links.filter((link) => link.lead !== lead);
    if (known.links.length === 0) this.#deals.delete(deal);
  }

  deals(): string[] {
    return [...this.#deals.keys()];
  }

  /** The leads of a deal. */
  leadsOf(deal: string): string[] {
    return (this.#deals.get(deal)?.links ?? []).map(({ lead }) => lead);
  }

  /** The points of a deal. */
  pointsOf(deal: string): Points {
    return this.#deals.get(deal)?.points ?? noPoints();
  }

  scoreOf(deal: string): number {
    return scoreOf(this.pointsOf(deal));
  }

  /** The points that the rules in force now would give. */
  dueOf(deal: string): number {
    return scoreOf(this.#due(deal));
  }

  /** What events said, the latest event winning field by field; of one time the greater text. */
  factsOf(deal: string): DealFacts {
    const facts: Record<string, unknown> = { id: deal };
    for (const field of fieldNames) {
      const told = (this.#deals.get(deal)?.said ?? [])
        .filter(({ of }) => of[field] !== undefined)
        .map(({ at, of }) => `${at} ${JSON.stringify(of[field])}`)
        .sort(byText)
        .at(-1);
      const value: unknown = told === undefined ? null : JSON.parse(told.slice(told.indexOf(' ') + 1));
      if (value !== null) facts[field] = value;
    }
    return facts as unknown as DealFacts;
  }

  /** The deal score of a lead once its deals have told it. */
  explain(lead: string): ExplainedDeals {
    const counts = new Map<string, ExplainedDeals['drivers'][number]>();
    const held = new Map<string, number>();
    let [score, whole] = [0, 0];
    for (const { links, points, told } of this.#deals.values()) {
      const link = links.find((one) => one.lead === lead && one.life === this.life(lead));
      if (!link) continue;
      score += scoreOf(points);
      if (link.isWhole) {
        whole += scoreOf(points);
        continue;
      }
      for (const [rule, { weight }] of told.given) {
        const name = `${rule} ${String(weight)}`;
        counts.set(name, { rule, weight, count: (counts.get(name)?.count ?? 0) + 1 });
      }
      for (const [ruleset, more] of told.held) held.set(ruleset, (held.get(ruleset) ?? 0) + more);
    }
    return { score, drivers: [...counts.values()], held: withoutZeros(held), whole };
  }

  /** The deals of a lead that give it points. */
  givingDeals(lead: string): string[] {
    return this.deals().filter((deal) => this.scoreOf(deal) !== 0 && this.leadsOf(deal).includes(lead));
  }

  /** Changes of points that leads were not told, because the score stayed. */
  untoldOf(deal: string): number {
    return this.#deals.get(deal)?.untold ?? 0;
  }

  #due(deal: string): Points {
    return this.rules.due(this.factsOf(deal));
  }
}

function newDeal(): ReferenceDeal {
  return { said: [], links: [], points: noPoints(), told: noPoints(), untold: 0 };
}

const sizeOf = ({ given, held }: Points): number => given.size + held.size;

/** A rule that moved to another ruleset gives its points there, and takes them where it was: two changes. */
function changesBetween(before: Points, after: Points): number {
  const rules = new Set([...before.given.keys(), ...after.given.keys()]);
  const rulesets = new Set([...before.held.keys(), ...after.held.keys()]);
  let changes = 0;
  for (const rule of rules) {
    const [one, other] = [before.given.get(rule), after.given.get(rule)];
    if (one && other && one.ruleset !== other.ruleset) changes += 2;
    else if (one?.weight !== other?.weight) changes += 1;
  }
  for (const ruleset of rulesets) if (before.held.get(ruleset) !== after.held.get(ruleset)) changes += 1;
  return changes;
}

function byText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
