// The leads that a version of a rule has moved: their marks while they are few, a sketch of them from then on. Pure. The fold takes
// the same lead in any number of times, and in any order: what is stored does not depend on it.
import type { records } from '@lead-scoring/contracts';
import { countedPoints } from '@lead-scoring/scoring-domain';
import {
  changes,
  estimate,
  markOf,
  put,
  sketchesTogether,
  sketchOf,
  sketchWith,
  type Sketch,
} from './sketch-model.js';

/** As long as there are no more, leads are counted exactly; their marks take as many bytes as a sketch. */
export const maximumMarks = 512;

export type Moves =
  /** Ascending; at most `maximumMarks`. */
  { readonly marks: Float64Array } | { readonly sketch: Sketch };

export const noMoves: Moves = { marks: new Float64Array() };

/** The moves with one more lead; the same object for a lead that is in them. */
export function withMark(moves: Moves, mark: number): Moves {
  if ('sketch' in moves) {
    const sketch = sketchWith(moves.sketch, mark);
    return sketch === moves.sketch ? moves : { sketch };
  }
  const at = placeOf(moves.marks, mark);
  return moves.marks[at] === mark ? moves : bounded(inserted(moves.marks, at, mark));
}

export function movesTogether(one: Moves, other: Moves): Moves {
  if ('marks' in other) return withMarks(one, other.marks);
  if ('marks' in one) return withMarks(other, one.marks);
  return { sketch: sketchesTogether(one.sketch, other.sketch) };
}

function withMarks(moves: Moves, marks: Float64Array): Moves {
  return marks.reduce<Moves>((before, mark) => withMark(before, mark), moves);
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

function inserted(marks: Float64Array, at: number, mark: number): Float64Array {
  const more = new Float64Array(marks.length + 1);
  more.set(marks.subarray(0, at));
  more[at] = mark;
  more.set(marks.subarray(at), at + 1);
  return more;
}

function bounded(marks: Float64Array): Moves {
  return marks.length > maximumMarks ? { sketch: sketchOf(marks) } : { marks };
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

  addAdjusted({ ou_id, lead_id, adjustments }: records.ScoreAdjusted, offset: number): void {
    for (const { reason, rule_id, rule_version, points } of adjustments)
      if (reason === 'profile_rule' && rule_id !== undefined && rule_version !== undefined && points !== 0)
        this.#add(this.#of(ou_id, rule_id, rule_version), markOf(lead_id), offset);
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
export function withLeads(before: FoldedMoves | null, { marks, offsets }: MovedLeads): FoldedMoves {
  let { moves, offset } = before ?? { moves: noMoves, offset: -1 };
  const known = moves;
  for (const [index, mark] of marks.entries()) {
    if ('sketch' in moves) {
      if (!changes(moves.sketch, mark)) continue;
      // Copied once for the batch, and changed in place from then on.
      if (moves === known) moves = { sketch: moves.sketch.slice() };
      put(moves.sketch, mark);
    } else {
      const after = withMark(moves, mark);
      if (after === moves) continue;
      moves = after;
    }
    offset = offsets[index] ?? offset;
  }
  return before && moves === known ? before : { moves, offset };
}
