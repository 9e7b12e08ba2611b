// What a replay has found out of a group of leads, and how the findings of several groups are joined. Pure.
import { records, type JsonValue } from '@lead-scoring/contracts';
import { cellOf, levelHolding, levelsOfScore, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { bucketOf, joinHistograms } from '../leads/histogram-fold.js';
import { packCounts, unpackCounts } from './packed-counts.js';
import type { Lead } from '../leads/state.js';
import { reasonsOf, type PointTally } from './reasons-model.js';
import type { Replay, Sides } from './replay-model.js';
import { joinedTriggers } from './trigger-model.js';

type Found = records.WhatIfFound;
type Mover = Omit<records.FoundMover, 'why'>;
/** What was found, before the reasons of the movers are known. */
export type FoundWithoutReasons = Omit<Found, 'movers'> & { readonly movers: readonly Mover[] };
type FoundSide = records.FoundSide;
type ScoreType = records.WhatIfWork['score_type'];

export interface FoundContext {
  readonly configurations: Sides<ScoringConfiguration>;
  readonly score_type: ScoreType;
}

const sides = ['live', 'draft'] as const;

type ScoredLead = Pick<Lead, 'score' | 'profile'>;

/** A lead on both sides. */
export interface ComparedLead extends Sides<ScoredLead> {
  readonly lead_id: string;
  /** Where there is an outcome: whether the lead had it, and the lead that is judged on each side; null: it had done nothing yet. */
  readonly judged?: Sides<ScoredLead | null> & { readonly isWon: boolean };
}

/** What the ended replay of a group of leads has found. */
export function foundIn(replay: Replay, context: FoundContext): FoundWithoutReasons {
  return foundAmong(comparedIn(replay), {
    ...context,
    hasOutcome: replay.outcomeTimes !== undefined,
  });
}

function* comparedIn({ whole, before, outcomeTimes }: Replay): Generator<ComparedLead> {
  for (const [lead_id, live] of whole.live.leads) {
    const draft = whole.draft.leads.get(lead_id);
    if (!draft) throw new Error('a lead is known to one side of a replay only');
    const isWon = outcomeTimes?.has(lead_id) === true;
    const judged = isWon
      ? { live: before.live.leads.get(lead_id) ?? null, draft: before.draft.leads.get(lead_id) ?? null }
      : { live, draft };
    yield { lead_id, live, draft, ...(outcomeTimes && { judged: { ...judged, isWon } }) };
  }
}

/** What there is to find among leads of which both sides are known. */
export function foundAmong(
  leads: Iterable<ComparedLead>,
  { configurations, score_type, hasOutcome }: FoundContext & { readonly hasOutcome: boolean },
): FoundWithoutReasons {
  const found = { leads: 0, rising: 0, falling: 0, crossing: 0 };
  const movers: Mover[] = [];
  const tallies = {
    live: new SideTally(configurations.live, score_type),
    draft: new SideTally(configurations.draft, score_type),
  };
  for (const lead of leads) {
    const { lead_id, judged } = lead;
    const [live, draft] = [scoreOf(lead.live, score_type), scoreOf(lead.draft, score_type)];
    found.leads += 1;
    if (draft > live) found.rising += 1;
    if (draft < live) found.falling += 1;
    if (tallies.live.count(lead.live) !== tallies.draft.count(lead.draft)) found.crossing += 1;
    if (live !== draft) movers.push({ lead_id, live, draft });
    if (judged) for (const side of sides) tallies[side].judge(judged[side], judged.isWon);
  }
  return {
    ...found,
    live: tallies.live.found(hasOutcome),
    draft: tallies.draft.found(hasOutcome),
    movers: topMovers(movers),
  };
}

/** @param tallies the points of the movers */
export function withReasons(
  found: FoundWithoutReasons,
  tallies: Sides<PointTally>,
  configurations: Sides<ScoringConfiguration>,
): Found {
  const movers = found.movers.map((mover) => ({
    ...mover,
    why: reasonsOf(mover.lead_id, tallies, configurations),
  }));
  return { ...found, movers };
}

export function scoreOf(lead: ScoredLead, scoreType: ScoreType): number {
  return scoreType === 'engagement' ? lead.score : (lead.profile?.score ?? 0);
}

/** Counts the leads of one side. */
class SideTally {
  readonly #scores = new Map<number, number>();
  readonly #levels = new Map<string, number>();
  readonly #cells = new Map<string, number>();
  readonly #won = new Map<number, number>();
  readonly #others = new Map<number, number>();

  constructor(
    private readonly configuration: ScoringConfiguration,
    private readonly scoreType: ScoreType,
  ) {}

  /** @returns the id of the lead's level; null: it is in none */
  count(lead: ScoredLead): string | null {
    const { grid } = this.configuration;
    const score = scoreOf(lead, this.scoreType);
    add(this.#scores, bucketOf(score));
    const level = levelHolding(levelsOfScore(this.configuration, this.scoreType), score);
    if (level) add(this.#levels, level.id);
    if (grid) add(this.#cells, cellOf(grid, { engagement: lead.score, profile: lead.profile?.score }));
    return level?.id ?? null;
  }

  /** @param lead as it was before its outcome; null: it had done nothing yet */
  judge(lead: ScoredLead | null, isWon: boolean): void {
    add(isWon ? this.#won : this.#others, bucketOf(lead ? scoreOf(lead, this.scoreType) : 0));
  }

  found(hasOutcome: boolean): FoundSide {
    return {
      scores: packCounts(this.#scores),
      levels: levelsOfScore(this.configuration, this.scoreType).map(({ id, name }) => ({
        id,
        name,
        leads: this.#levels.get(id) ?? 0,
      })),
      cells: [...this.#cells].map(([cell, leads]) => ({ cell, leads })) as FoundSide['cells'],
      ...(hasOutcome && { outcome: { won: packCounts(this.#won), others: packCounts(this.#others) } }),
    };
  }
}

function add<Key>(counts: Map<Key, number>, key: Key, count = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

/** Those that rise most and those that fall most, the largest move first. */
function topMovers<Of extends Mover>(movers: readonly Of[]): Of[] {
  const inOrder = [...movers].sort(
    (one, other) => moveOf(other) - moveOf(one) || (one.lead_id < other.lead_id ? -1 : 1),
  );
  const top = (isWanted: (move: number) => boolean) =>
    inOrder.filter(({ live, draft }) => isWanted(draft - live)).slice(0, records.whatIfLimits.movers);
  return [...top((move) => move > 0), ...top((move) => move < 0)];
}

function moveOf({ live, draft }: Mover): number {
  return Math.abs(draft - live);
}

/** The findings of several groups of leads, as records hold them. @param known of the groups before; undefined: there are none */
export function joinedJson(known: JsonValue | undefined, found: JsonValue): JsonValue {
  if (known === undefined) return found;
  return joinedFound(known as unknown as Found, found as unknown as Found) as unknown as JsonValue;
}

/** The findings of two groups of leads. */
export function joinedFound(one: Found, other: Found): Found {
  return {
    leads: one.leads + other.leads,
    rising: one.rising + other.rising,
    falling: one.falling + other.falling,
    crossing: one.crossing + other.crossing,
    live: joinedSide(one.live, other.live),
    draft: joinedSide(one.draft, other.draft),
    movers: topMovers([...one.movers, ...other.movers]),
    ...((one.triggers ?? other.triggers) && {
      triggers: joinedTriggers(one.triggers ?? [], other.triggers ?? []),
    }),
  };
}

function joinedSide(one: FoundSide, other: FoundSide): FoundSide {
  const joined = (left: number[], right: number[]) =>
    packCounts(joinHistograms([unpackCounts(left), unpackCounts(right)]));
  const cells = new Map(one.cells.map(({ cell, leads }) => [cell, leads]));
  for (const { cell, leads } of other.cells) add(cells, cell, leads);
  const known = new Map(other.levels.map(({ id, leads }) => [id, leads]));
  const levels = one.levels.length > 0 ? one.levels : other.levels.map((level) => ({ ...level, leads: 0 }));
  const outcome = one.outcome ?? other.outcome;
  return {
    scores: joined(one.scores, other.scores),
    levels: levels.map((level) => ({ ...level, leads: level.leads + (known.get(level.id) ?? 0) })),
    cells: [...cells].map(([cell, leads]) => ({ cell, leads })),
    ...(outcome && {
      outcome: {
        won: joined(one.outcome?.won ?? [], other.outcome?.won ?? []),
        others: joined(one.outcome?.others ?? [], other.outcome?.others ?? []),
      },
    }),
  };
}
