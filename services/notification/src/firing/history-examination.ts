// Collects the firings of a simulation: those in a range of event time, until a bound on time or number of events is reached.
import type { routeDeclarations } from '@lead-scoring/contracts';
import { isFired, type FiredDraft, type FiringDraft } from './messages.js';

/** Bounds of one simulation. */
export interface HistoryBounds {
  timeMs: number;
  events: number;
}

/** A range of event time: `from` inclusive, `to` exclusive. */
export interface Range {
  from: string;
  to: string;
}

/** Maximum number of firings, or of leads, in one answer. */
export const maximumListed = 100;

export type DraftPayload<Type extends FiredDraft['type']> = Extract<FiredDraft, { type: Type }>['payload'];

export interface ExaminationResult<Type extends FiredDraft['type']> extends Pick<
  routeDeclarations.SimulatedMilestones,
  'total' | 'leads' | 'leads_examined' | 'events_examined' | 'truncated'
> {
  /** The newest first. */
  firings: DraftPayload<Type>[];
}

export class HistoryExamination<Type extends FiredDraft['type']> {
  /** The time bound, on the clock of `performance.now()`. */
  readonly #until: number;
  readonly #leads = new Set<string>();
  readonly #firingsByLead = new Map<string, number>();
  #firings: DraftPayload<Type>[] = [];
  #total = 0;
  #examined = 0;
  #truncated = false;

  constructor(
    private readonly range: Range,
    private readonly bounds: HistoryBounds,
  ) {
    this.#until = performance.now() + bounds.timeMs;
  }

  /** Counts a lead and its events; false once a bound is reached. */
  goesOn(leadId: string, events: readonly { timestamp: string }[]): boolean {
    if (this.#examined >= this.bounds.events || performance.now() > this.#until) {
      this.#truncated = true;
      return false;
    }
    this.#leads.add(leadId);
    this.#examined += events.length;
    return true;
  }

  cutShort(): void {
    this.#truncated = true;
  }

  /** Adds the firings among these events that are in the range. */
  add(events: readonly FiringDraft[]): void {
    for (const event of events) {
      if (!isFired(event)) continue;
      const { lead_id, cause } = event.payload;
      if (cause.timestamp < this.range.from || cause.timestamp >= this.range.to) continue;
      this.#total += 1;
      this.#firingsByLead.set(lead_id, (this.#firingsByLead.get(lead_id) ?? 0) + 1);
      this.#firings.push(event.payload as DraftPayload<Type>);
    }
    if (this.#firings.length > 100 * maximumListed) this.#firings = this.#newest();
  }

  /** Drops the firings of a lead that was deleted. */
  forget(leadId: string): void {
    this.#total -= this.#firingsByLead.get(leadId) ?? 0;
    if (this.#firingsByLead.delete(leadId))
      this.#firings = this.#firings.filter(({ lead_id }) => lead_id !== leadId);
  }

  end(): ExaminationResult<Type> {
    return {
      firings: this.#newest(),
      total: this.#total,
      leads: this.#firingsByLead.size,
      leads_examined: this.#leads.size,
      events_examined: this.#examined,
      truncated: this.#truncated,
    };
  }

  #newest(): DraftPayload<Type>[] {
    return this.#firings
      .sort((a, b) =>
        a.cause.timestamp < b.cause.timestamp ? 1 : a.cause.timestamp > b.cause.timestamp ? -1 : 0,
      )
      .slice(0, maximumListed);
  }
}
