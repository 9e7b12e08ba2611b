// The leads, or accounts, that a version of a rule has moved: their marks while they are few, a sketch of them from then on. Pure. The fold takes
// the same lead in any number of times, and in any order: what is stored does not depend on it.
import type { records } from '@lead-scoring/contracts';
import { countedPoints, pointChangesIn, type GivenPoints } from '@lead-scoring/scoring-domain';
import { changes, estimate, markOf, put, sketchesTogether, sketchOf, type Sketch } from './sketch-model.js';

/** As long as there are no more, leads are counted exactly; their marks take as many bytes as a sketch. */
export const maximumMarks = 512;

export type Moves =
  /** Ascending; at most `maximumMarks`. */
  { readonly marks: Float64Array } | { readonly sketch: Sketch };

export const noMoves: Moves = { marks: new Float64Array() };

export function movesTogether(one: Moves, other: Moves): Moves {
  if ('marks' in other) return withMarks(one, other.marks);
  if ('marks' in one) return withMarks(other, one.marks);
  return { sketch: sketchesTogether(one.sketch, other.sketch) };
}

/** The moves with more leads, in any order and any number of times; the same object where all of them are in it. */
export function withMarks(moves: Moves, marks: Iterable<number>): Moves {
  return withLeads({ moves, offset: 0 }, { marks: [...marks], offsets: [] }).moves;
}

export interface MoveCount {
  readonly leads: number;
  readonly isEstimate: boolean;
}

export function countOf(moves: Moves): MoveCount {
  return 'marks' in moves
    ? { leads: moves.marks.length, isEstimate: false }
    : { leads: estimate(moves.sketch), isEstimate: true };
}

/** The first place whose mark is not smaller. */
function placeOf(marks: Float64Array, mark: number): number {
  let [from, to] = [0, marks.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((marks[middle] ?? Infinity) < mark) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Ascending. */
function together(known: Float64Array, added: ReadonlySet<number>): Float64Array {
  const all = new Float64Array(known.length + added.size);
  all.set(known);
  all.set([...added], known.length);
  return all.sort();
}

/** The moves of one version in one partition. A lead is in one partition only. */
export interface PartitionMoves {
  readonly version: number;
  readonly partition: number;
  readonly moves: Moves;
}

/**
 * The leads that a rule has moved since each of these versions, by it and by later ones.
 * @param found in descending order of their versions
 * @param versions in descending order
 */
export function movedSince(found: readonly PartitionMoves[], versions: readonly number[]): MoveCount[] {
  const partitions = new Map<number, Moves>();
  let at = 0;
  return versions.map((version) => {
    for (let next = found[at]; next && next.version >= version; next = found[(at += 1)]) {
      const later = partitions.get(next.partition);
      partitions.set(next.partition, later ? movesTogether(later, next.moves) : next.moves);
    }
    return sumOf(partitions.values());
  });
}

function sumOf(all: Iterable<Moves>): MoveCount {
  let [leads, isEstimate] = [0, false];
  for (const moves of all) {
    const count = countOf(moves);
    leads += count.leads;
    isEstimate ||= count.isEstimate;
  }
  return { leads, isEstimate };
}

/** The marks of leads that were moved, in the order of the decisions, and the offset of each decision. A lead may come again. */
export interface MovedLeads {
  readonly marks: number[];
  readonly offsets: number[];
}

/** A version of a rule, and the leads that decisions of a batch have moved by it. */
export interface MovedByRule extends MovedLeads {
  readonly ou_id: string;
  readonly rule_id: string;
  readonly version: number;
}

/** The versions of rules that decisions of a batch name, each once. */
export class MovedByRules {
  /** By rule: its versions. Rules of two OUs may have one id. */
  readonly #rules = new Map<string, MovedByRule[]>();

  addScored({ ou_id, lead_id, scored_events }: records.LeadScored, offset: number): void {
    if (scored_events.length === 0) return;
    const mark = markOf(lead_id);
    for (const { matches } of scored_events)
      for (const match of matches)
        if (countedPoints(match) !== 0)
          this.#add(this.#of(ou_id, match.rule_id, match.rule_version), mark, offset);
  }

  /** A decision on a profile or deal score; one on the engagement score names no rule. */
  addAdjusted({ ou_id, lead_id, adjustments }: records.ScoreAdjusted, offset: number): void {
    this.#addChanged(ou_id, lead_id, pointChangesIn(adjustments), offset);
  }

  /** An account rule moves the account, and not its leads. */
  addAccount({ ou_id, account_id, adjustments }: records.AccountScored, offset: number): void {
    this.#addChanged(ou_id, account_id, pointChangesIn(adjustments), offset);
  }

  #addChanged(ouId: string, movedId: string, changed: readonly GivenPoints[], offset: number): void {
    for (const { rule_id, rule_version, points } of changed)
      if (points !== 0) this.#add(this.#of(ouId, rule_id, rule_version), markOf(movedId), offset);
  }

  #of(ou_id: string, rule_id: string, version: number): MovedByRule {
    const versions = this.#rules.get(rule_id);
    const known = versions?.find((one) => one.version === version && one.ou_id === ou_id);
    if (known) return known;
    const moved = { ou_id, rule_id, version, marks: [], offsets: [] };
    if (versions) versions.push(moved);
    else this.#rules.set(rule_id, [moved]);
    return moved;
  }

  #add({ marks, offsets }: MovedByRule, mark: number, offset: number): void {
    // The events of a lead come in a row.
    if (marks.at(-1) === mark) return;
    marks.push(mark);
    offsets.push(offset);
  }

  *[Symbol.iterator](): Generator<MovedByRule> {
    for (const versions of this.#rules.values()) yield* versions;
  }
}

/** Moves, and the offset of the last decision that changed them. */
export interface FoldedMoves {
  readonly moves: Moves;
  readonly offset: number;
}

/** The moves with the leads of a batch; the same object where there is no new lead. */
export function withLeads(before: FoldedMoves | null, leads: MovedLeads): FoldedMoves {
  const known = before ?? { moves: noMoves, offset: -1 };
  const after =
    'sketch' in known.moves
      ? withSketched({ sketch: known.moves.sketch, offset: known.offset }, leads)
      : withCounted({ marks: known.moves.marks, offset: known.offset }, leads);
  return after ?? known;
}

/** Null where there is no new lead. */
function withCounted(
  { marks: known, offset: before }: { marks: Float64Array; offset: number },
  { marks, offsets }: MovedLeads,
): FoldedMoves | null {
  const added = new Set<number>();
  let offset = before;
  for (const [index, mark] of marks.entries()) {
    if (known[placeOf(known, mark)] === mark || added.has(mark)) continue;
    // One lead too many for marks: those behind it are put into a sketch.
    if (known.length + added.size === maximumMarks) {
      const sketch = sketchOf([...known, ...added, mark]);
      offset = offsets[index] ?? offset;
      const behind = { marks: marks.slice(index + 1), offsets: offsets.slice(index + 1) };
      return withSketched({ sketch, offset }, behind) ?? { moves: { sketch }, offset };
    }
    added.add(mark);
    offset = offsets[index] ?? offset;
  }
  return added.size === 0 ? null : { moves: { marks: together(known, added) }, offset };
}

/** Null where the leads change nothing. */
function withSketched(
  { sketch: known, offset: before }: { sketch: Sketch; offset: number },
  { marks, offsets }: MovedLeads,
): FoldedMoves | null {
  let [sketch, offset] = [known, before];
  for (const [index, mark] of marks.entries()) {
    if (!changes(sketch, mark)) continue;
    // Copied once for the batch, and changed in place from then on.
    if (sketch === known) sketch = known.slice();
    put(sketch, mark);
    offset = offsets[index] ?? offset;
  }
  return sketch === known ? null : { moves: { sketch }, offset };
}
