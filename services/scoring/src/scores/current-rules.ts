// The rules of each OU as they are in force, ready for evaluating.
import type { PublishedConfigurations } from '../configuration/published.js';
import { compileRules, type CompiledRules } from './rule-model.js';

export class CurrentRules {
  readonly #compiled = new Map<string, CompiledRules>();

  constructor(private readonly configurations: PublishedConfigurations) {}

  /** A rule change counts for events that are decided from then on: versions are looked at for every batch. */
  async load(ouIds: ReadonlySet<string>): Promise<Map<string, CompiledRules>> {
    const rules = new Map<string, CompiledRules>();
    for (const [ouId, configuration] of await this.configurations.load(ouIds)) {
      let known = this.#compiled.get(ouId);
      if (known?.version !== configuration.version) {
        known = compileRules(configuration);
        this.#compiled.set(ouId, known);
      }
      rules.set(ouId, known);
    }
    return rules;
  }
}
