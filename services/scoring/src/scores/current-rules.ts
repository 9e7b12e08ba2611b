// The compiled rules of each OU's configuration in force.
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import type { PublishedConfigurations } from '../configuration/published.js';
import { compileRules, type CompiledRules } from './rule-model.js';

export class CurrentRules {
  /** The compiled rules of a configuration, as long as it is in memory. */
  readonly #compiled = new WeakMap<ScoringConfiguration, CompiledRules>();

  constructor(private readonly configurations: PublishedConfigurations) {}

  /** Called for every batch, so that a rule change counts for all events that are decided after it. */
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
