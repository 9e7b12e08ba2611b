// The resets of leads at their places between records of ingest: scoring's decisions say in which order they came. Pure.
import type { records } from '@lead-scoring/contracts';
import { resetsScore } from '@lead-scoring/scoring-domain';
import type { LeadCause, LeadEvent } from '../scores/messages.js';
import type { DecisionSource } from '../scores/source-model.js';
import type { Happening } from './track-model.js';

/** A record of ingest with its place. */
export type PlacedCause = LeadCause & { readonly source: DecisionSource };

/** A decision of scoring with its place. */
export type PlacedDecision = LeadEvent & { readonly offset: number };

/** A reset, and the offset of the last record of ingest that was decided on the lead before it. */
interface PlacedReset {
  readonly after: number;
  readonly command: records.ResetScores;
}

/** The resets that are still to come in a history. */
export class Resets {
  readonly #byLead = new Map<string, PlacedReset[]>();
  /** The offset of the last decided record of ingest, by lead. */
  readonly #last = new Map<string, number>();

  /** Takes a decision on a lead, in the order of the log. */
  take({ type, payload }: LeadEvent): void {
    const { lead_id } = payload;
    const last = this.#last.get(lead_id) ?? -1;
    if (type !== 'ScoreAdjusted') this.#last.set(lead_id, Math.max(last, payload.source?.offset ?? -1));
    else if (resetsScore(payload)) {
      const placed = { after: last, command: commandOf(payload) };
      this.#byLead.set(lead_id, [...(this.#byLead.get(lead_id) ?? []), placed]);
    }
  }

  /** The records with the resets that were decided before each. */
  among(causes: readonly PlacedCause[]): Happening[] {
    return causes.flatMap((cause) => [...this.#before(cause), cause]);
  }

  rest(): Happening[] {
    return asHappenings([...this.#byLead.values()].flat());
  }

  #before({ payload, source }: PlacedCause): Happening[] {
    const waiting = this.#byLead.get(payload.lead_id);
    if (!waiting) return [];
    const end = waiting.findIndex(({ after }) => after >= source.offset);
    return asHappenings(waiting.splice(0, end === -1 ? waiting.length : end));
  }
}

function asHappenings(resets: readonly PlacedReset[]): Happening[] {
  return resets.map(({ command }) => ({ type: 'ScoreReset', payload: command }));
}

/** The reset that a decision was made on. */
export function commandOf({
  ou_id,
  lead_id,
  reset_id,
  decided_at,
}: records.ScoreAdjusted): records.ResetScores {
  return { ou_id, lead_id, reset_id: reset_id ?? lead_id, requested_at: decided_at };
}
