// Configurations for tests, as their commands make them.
import {
  emptyConfiguration,
  evolveConfiguration,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { decideConfiguration } from '../configuration/decide.js';
import type { ConfigurationCommand } from '../configuration/messages.js';
import { ouId } from './builders.js';

/** @throws Error when a command is rejected */
export function configured(...commands: readonly ConfigurationCommand[]): ScoringConfiguration {
  return configuredFrom(emptyConfiguration(ouId), ...commands);
}

/** @throws Error when a command is rejected */
export function configuredFrom(
  before: ScoringConfiguration,
  ...commands: readonly ConfigurationCommand[]
): ScoringConfiguration {
  return commands.reduce((configuration, command) => {
    const decision = decideConfiguration(command, configuration);
    if (decision.outcome === 'rejected') throw new Error(decision.message);
    return decision.events.reduce(evolveConfiguration, configuration);
  }, before);
}
