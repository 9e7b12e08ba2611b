// What has happened to the leads of a group since an offset of scoring's decisions: the decisions say what was taken into account, and in
// which order.
import { endOffsets, type EventLog } from '@lead-scoring/event-log';
import { offsetToNumber } from '@lead-scoring/read-model';
import { resetsScore } from '@lead-scoring/scoring-domain';
import { readCauses, readDecisions, type HistoryPart } from '../what-if/history.js';
import { commandOf, type PlacedCause, type PlacedDecision } from '../what-if/resets-model.js';
import type { Happening } from '../what-if/track-model.js';

export interface Tail {
  readonly decisions: readonly PlacedDecision[];
  readonly happenings: readonly Happening[];
}

/** A tail, taken lead by lead. */
export class LeadTails {
  readonly #leads = new Map<string, { decisions: PlacedDecision[]; happenings: Happening[] }>();

  constructor({ decisions, happenings }: Tail) {
    for (const decision of decisions) this.#of(decision.payload.lead_id).decisions.push(decision);
    for (const happening of happenings) this.#of(happening.payload.lead_id).happenings.push(happening);
  }

  #of(leadId: string) {
    const known = this.#leads.get(leadId) ?? { decisions: [], happenings: [] };
    this.#leads.set(leadId, known);
    return known;
  }

  /** What has happened to some leads; it is not in the rest any more. Each lead's own order stays. */
  take(leadIds: Iterable<string>): Tail {
    const taken: { decisions: PlacedDecision[]; happenings: Happening[] } = { decisions: [], happenings: [] };
    for (const leadId of leadIds) {
      const tail = this.#leads.get(leadId);
      if (!tail) continue;
      taken.decisions.push(...tail.decisions);
      taken.happenings.push(...tail.happenings);
      this.#leads.delete(leadId);
    }
    return taken;
  }

  /** What has happened to all leads that were not taken. */
  rest(): Tail {
    return this.take([...this.#leads.keys()]);
  }
}

/** Where scoring.events ends in a partition. */
export async function scoringEnd(log: EventLog, partition: number): Promise<number> {
  const [end] = await endOffsets(log, 'scoring.events', [partition]);
  return offsetToNumber(end?.offset ?? 0n);
}

/**
 * @param part the leads
 * @param range offsets of scoring.events, the second exclusive
 */
export async function readTail(
  log: EventLog,
  part: Omit<HistoryPart, 'from' | 'ends'>,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Tail> {
  const decisions: PlacedDecision[] = [];
  const scoring = { ingest: 0, scoring: from };
  const ends = { ingest_end: 0, scoring_end: to };
  for await (const found of readDecisions(log, { ...part, from: scoring, ends })) decisions.push(...found);
  const causes = await readCausesOf(log, part, decisions);
  return { decisions, happenings: happeningsOf(decisions, causes) };
}

/** The records of ingest on which the decisions were made, by their offsets. */
async function readCausesOf(
  log: EventLog,
  part: Omit<HistoryPart, 'from' | 'ends'>,
  decisions: readonly PlacedDecision[],
): Promise<ReadonlyMap<number, PlacedCause>> {
  const usual = new Set<number>();
  const late = new Set<number>();
  for (const { type, payload } of decisions) {
    if (type === 'ScoreAdjusted' || !payload.source) continue;
    (payload.source.sent_again ? late : usual).add(payload.source.offset);
  }
  const causes = new Map<number, PlacedCause>();
  const read = async (first: number, last: number, wanted: ReadonlySet<number>) => {
    const from = { ingest: first, scoring: 0 };
    const ends = { ingest_end: last + 1, scoring_end: 0 };
    for await (const found of readCauses(log, { ...part, from, ends }))
      for (const cause of found) if (wanted.has(cause.source.offset)) causes.set(cause.source.offset, cause);
  };
  if (usual.size > 0) await read(Math.min(...usual), Math.max(...usual), usual);
  // Dead letters that were sent again lie far behind.
  for (const offset of late) await read(offset, offset, late);
  return causes;
}

/** What the decisions were made on, in their order. Several decisions may be on one record. */
function happeningsOf(
  decisions: readonly PlacedDecision[],
  causes: ReadonlyMap<number, PlacedCause>,
): Happening[] {
  const seen = new Set<number>();
  return decisions.flatMap(({ type, payload }): Happening[] => {
    if (type === 'ScoreAdjusted')
      return resetsScore(payload) ? [{ type: 'ScoreReset', payload: commandOf(payload) }] : [];
    const offset = payload.source?.offset;
    if (offset === undefined || seen.has(offset)) return [];
    seen.add(offset);
    const cause = causes.get(offset);
    if (!cause) throw new Error('ingest.events has nothing of a decision that scoring has just made');
    return [cause];
  });
}
