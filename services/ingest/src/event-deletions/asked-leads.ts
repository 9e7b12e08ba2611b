// The leads that a deletion has asked scoring to decide anew. A lead has events in many seconds, and is decided for all of them at once: to
// ask for it again would cost time and change nothing. After a restart, a deletion asks for leads again.
import type { Job } from '@lead-scoring/capability';

/** The most leads that are remembered, of all deletions; about 20 MB. */
const maximumLeads = 200_000;

type Step = Pick<Job<unknown>, 'job_id' | 'step' | 'cursor'>;

interface Asked {
  readonly leads: Set<string>;
  /** The step that was made last: what it asks for counts when the job has gone on from it. */
  made: { readonly step: number; readonly cursor: string; readonly leads: readonly string[] } | null;
}

export class AskedLeads {
  readonly #jobs = new Map<string, Asked>();
  #remembered = 0;

  /** The leads that were asked for before this step. */
  before({ job_id, step, cursor }: Step): ReadonlySet<string> {
    const asked = this.#jobs.get(job_id);
    if (!asked) return new Set();
    const { made } = asked;
    if (made && made.step < step && made.cursor === cursor) {
      const size = asked.leads.size;
      if (this.#remembered + made.leads.length <= maximumLeads)
        for (const lead of made.leads) asked.leads.add(lead);
      this.#remembered += asked.leads.size - size;
      asked.made = null;
    } else if (made && made.step !== step) this.#forget(job_id);
    return this.#jobs.get(job_id)?.leads ?? new Set();
  }

  /** @param cursor where the job is after the step */
  after({ job_id, step }: Step, cursor: string, leads: readonly string[]): void {
    const asked = this.#jobs.get(job_id) ?? { leads: new Set<string>(), made: null };
    asked.made = { step, cursor, leads };
    this.#jobs.set(job_id, asked);
    if (cursor.startsWith('end')) this.#forget(job_id);
  }

  #forget(jobId: string): void {
    this.#remembered -= this.#jobs.get(jobId)?.leads.size ?? 0;
    this.#jobs.delete(jobId);
  }
}
