// Collects the firings of a simulation: those in a range of event time, until a bound on time or number of events is reached.
import type { routeDeclarations } from '@lead-scoring/contracts';
import type { FiredDraft, FiringDraft } from '@lead-scoring/scoring-domain/triggers';
import { isFired } from './subject-model.js';

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

/** Maximum number of firings, or of leads or accounts, in one answer. */
export const maximumListed = 100;

export type DraftPayload<Type extends FiredDraft['type']> = Extract<FiredDraft, { type: Type }>['payload'];

/** A firing of a simulation, as far as the examination reads it. */
export interface ExaminedFiring {
  readonly cause: { readonly timestamp: string };
}

/** The firings among these events. */
export function firingsIn<Type extends FiredDraft['type']>(
  events: readonly FiringDraft[],
): DraftPayload<Type>[] {
  return events.filter((event) => isFired(event)).map(({ payload }) => payload as DraftPayload<Type>);
}

export interface ExaminationResult<Firing extends ExaminedFiring> extends Pick<
  routeDeclarations.SimulatedMilestones,
  'total' | 'leads' | 'leads_examined' | 'events_examined' | 'truncated'
> {
  /** The newest first. */
  firings: Firing[];
}

/** Its leads are accounts where the trigger is by account score. */
export class HistoryExamination<Firing extends ExaminedFiring> {
  /** The time bound, on the clock of `performance.now()`. */
  readonly #until: number;
  readonly #leads = new Set<string>();
  readonly #firingsByLead = new Map<string, number>();
  #firings: Firing[] = [];
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

  /** Adds the firings of a lead that are in the range. */
  add(leadId: string, firings: readonly Firing[]): void {
    for (const firing of firings) {
      const { timestamp } = firing.cause;
      if (timestamp < this.range.from || timestamp >= this.range.to) continue;
      this.#total += 1;
      this.#firingsByLead.set(leadId, (this.#firingsByLead.get(leadId) ?? 0) + 1);
      this.#firings.push(firing);
    }
    if (this.#firings.length > 100 * maximumListed) this.#firings = this.#newest();
  }

  /**
   * Drops the firings of a lead that was deleted.
   * @param isOf whether a firing is for the lead
   */
  forget(leadId: string, isOf: (firing: Firing) => boolean): void {
    this.#total -= this.#firingsByLead.get(leadId) ?? 0;
    if (this.#firingsByLead.delete(leadId)) this.#firings = this.#firings.filter((firing) => !isOf(firing));
  }

  end(): ExaminationResult<Firing> {
    return {
      firings: this.#newest(),
      total: this.#total,
      leads: this.#firingsByLead.size,
      leads_examined: this.#leads.size,
      events_examined: this.#examined,
      truncated: this.#truncated,
    };
  }

  #newest(): Firing[] {
    return this.#firings
      .sort((a, b) =>
        a.cause.timestamp < b.cause.timestamp ? 1 : a.cause.timestamp > b.cause.timestamp ? -1 : 0,
      )
      .slice(0, maximumListed);
  }
}
