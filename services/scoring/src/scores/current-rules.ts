// The rules of each OU as they are in force, ready for evaluating.
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import type { PublishedConfigurations } from '../configuration/published.js';
import { compileRules, type CompiledRules } from './rule-model.js';

export class CurrentRules {
  /** Kept as long as the configuration is. */
  readonly #compiled = new WeakMap<ScoringConfiguration, CompiledRules>();

  constructor(private readonly configurations: PublishedConfigurations) {}

  /** A rule change counts for events that are decided from then on: versions are looked at for every batch. */
  async load(ouIds: ReadonlySet<string>): Promise<Map<string, CompiledRules>> {
    const rules = new Map<string, CompiledRules>();
    for (const [ouId, configuration] of await this.configurations.load(ouIds)) {
      const compiled = this.#compiled.get(configuration) ?? compileRules(configuration);
      this.#compiled.set(configuration, compiled);
      rules.set(ouId, compiled);
    }
    return rules;
  }
}
