// What decay rules took from a lead, for the explanation of its score. Pure.
import type { records, routeDeclarations } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '../configuration.js';
import { decayNameOf } from './decay-configuration.js';

type Explanation = routeDeclarations.ScoreExplanation;
type Entry = NonNullable<Explanation['decay_entries']>[number];

const shownEntries = 1_000;

export class DecayTally {
  /** Points since the last reset or rescoring. */
  #applied = 0;
  readonly #entries: Entry[] = [];

  /** Adds a tick that counts, in the order of the decisions. @param timestamp the moment at which it counts */
  add(
    { rule_id = '', rule_version = 1, ruleset_id, tick = 1, points }: records.ScoreAdjustment,
    { decided_at, configuration_version }: { decided_at: string; configuration_version: number },
    timestamp: string,
  ): void {
    this.#applied += points;
    this.#entries.push({
      rule_id,
      rule_version,
      ...(ruleset_id !== undefined && { ruleset_id }),
      tick,
      timestamp,
      scored_at: decided_at,
      points,
      configuration_version,
    });
  }

  /** The score restarts from zero: what was taken before counts no more. */
  reset(): void {
    this.#applied = 0;
    for (const entry of this.#entries) entry.before_reset = true;
  }

  /** The score was computed anew by a job: what was taken before counts no more. */
  replaced(jobId: string): void {
    this.#applied = 0;
    for (const entry of this.#entries) entry.replaced_by ??= jobId;
  }

  /** The fields of the explanation. @param configuration the present and former names of the rules */
  explained({ decays }: ScoringConfiguration): Pick<Explanation, 'decay_applied' | 'decay_entries'> {
    if (this.#entries.length === 0) return { decay_applied: 0 };
    const entries = this.#entries.slice(-shownEntries).reverse();
    return {
      decay_applied: this.#applied,
      decay_entries: entries.map((entry) => {
        const name = decayNameOf(decays, entry.rule_id);
        return { ...entry, ...(name !== undefined && { name }) };
      }),
    };
  }
}
