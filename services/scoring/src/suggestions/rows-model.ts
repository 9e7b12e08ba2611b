// Leads by the chosen traits that they have, and the same in records. Pure.
import type { records } from '@lead-scoring/contracts';
import type { TraitRow } from './ridge-model.js';
import { nameOf, type NamedTrait, type Trait, type TraitSink } from './trait-model.js';

type Rows = NonNullable<records.SuggestionFound['rows']>;

/** Hexadecimal digits of one kind of lead, four traits each. */
const digits = 16;

/** Finds out which of the chosen traits each lead has. */
export class TraitRows implements TraitSink {
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #leads = new Map<string, Set<number>>();

  /** @param chosen at most 64 */
  constructor(
    chosen: readonly Trait[],
    private readonly hasOutcome: (leadId: string) => boolean,
  ) {
    this.#numbers = new Map(chosen.map((trait, index) => [nameOf(trait), index]));
  }

  meet(leadId: string): void {
    if (!this.#leads.has(leadId)) this.#leads.set(leadId, new Set());
  }

  see(leadId: string, { name }: NamedTrait): void {
    const number = this.#numbers.get(name);
    if (number !== undefined) this.#leads.get(leadId)?.add(number);
  }

  forget(leadId: string): void {
    this.#leads.delete(leadId);
  }

  found(): Rows {
    const rows = [...this.#leads].map(([leadId, has]): TraitRow => ({
      has: [...has],
      leads: 1,
      won: this.hasOutcome(leadId) ? 1 : 0,
    }));
    return packRows(rows);
  }
}

/** Rows of leads with the same traits become one. In a fixed order, whatever the order of the leads. */
export function packRows(rows: readonly TraitRow[]): Rows {
  const joined = new Map<string, { leads: number; won: number }>();
  for (const { has, leads, won } of rows) {
    const name = packTraits(has);
    const known = joined.get(name);
    joined.set(name, { leads: (known?.leads ?? 0) + leads, won: (known?.won ?? 0) + won });
  }
  const inOrder = [...joined].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    has: inOrder.map(([name]) => name).join(''),
    leads: inOrder.map(([, { leads }]) => leads),
    won: inOrder.map(([, { won }]) => won),
  };
}

export function unpackRows({ has, leads, won }: Rows): TraitRow[] {
  return leads.map((count, index) => ({
    has: unpackTraits(has.slice(index * digits, (index + 1) * digits)),
    leads: count,
    won: won[index] ?? 0,
  }));
}

function packTraits(has: readonly number[]): string {
  const packed = new Array<number>(digits).fill(0);
  for (const trait of has) {
    const digit = Math.floor(trait / 4);
    packed[digit] = (packed[digit] ?? 0) | (1 << (trait % 4));
  }
  return packed.map((digit) => digit.toString(16)).join('');
}

function unpackTraits(packed: string): number[] {
  return Array.from(packed, (digit, place) => {
    const bits = Number.parseInt(digit, 16);
    return [0, 1, 2, 3].filter((bit) => (bits & (1 << bit)) !== 0).map((bit) => place * 4 + bit);
  }).flat();
}
