// How clearly a trait goes with the outcome, and whether enough leads have it. Pure.
import { records } from '@lead-scoring/contracts';

export interface Counted {
  readonly leads: number;
  /** Of these, the leads with the outcome. */
  readonly won: number;
}

/** The chi-square statistic that chance alone exceeds once in a thousand, with one degree of freedom. */
export const clearly = 10.83;

/** Pearson's chi-square statistic of the table of leads with and without a trait, by the outcome; 0 where all are of one kind. */
export function association(having: Counted, all: Counted): number {
  const lacking = all.leads - having.leads;
  const lost = all.leads - all.won;
  const expected = (having.leads * all.won) / all.leads;
  const spread = (expected * lost * lacking) / all.leads / all.leads;
  return spread > 0 ? (having.won - expected) ** 2 / spread : 0;
}

/** Whether so many leads have a trait, and so many lack it, that something can be said of it. */
export function isSupported({ leads }: Counted, all: Counted): boolean {
  const least = Math.max(records.suggestionLimits.leadsWithTrait, Math.ceil(all.leads / 100));
  return leads >= least && all.leads - leads >= least;
}
