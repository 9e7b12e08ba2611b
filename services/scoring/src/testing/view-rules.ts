// One rule for every OU of a test: a page view gives ten points.
import { emptyConfiguration, evolveConfiguration } from '@lead-scoring/scoring-domain';
import { decideConfiguration } from '../configuration/decide.js';
import { compileRules, type CompiledRules } from '../scores/rule-model.js';
import { createRule, ouId } from './builders.js';

const decision = decideConfiguration(createRule('view'), emptyConfiguration(ouId));
const compiled = compileRules(
  (decision.outcome === 'done' ? decision.events : []).reduce(evolveConfiguration, emptyConfiguration(ouId)),
);

export function viewRules(): CompiledRules {
  return compiled;
}
