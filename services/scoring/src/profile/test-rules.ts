// Tests a profile against profile rules and drafts. Pure.
import type { JsonObject, routeDeclarations } from '@lead-scoring/contracts';
import { noProfile, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { testConditionRules, type DraftRule } from '../condition-rules/tests-model.js';

type ProfileTest = routeDeclarations.ProfileTest;

/** The rules of the OU in the order of their creation, then the drafts, as if they were active. */
export function testProfile(
  profile: JsonObject,
  { profile: { rules } = noProfile, rulesets }: Pick<ScoringConfiguration, 'profile' | 'rulesets'>,
  drafts: readonly DraftRule[],
): ProfileTest {
  return {
    ...testConditionRules({ noun: 'profile', fields: profile }, rules.values(), rulesets, drafts),
    profile: profile as ProfileTest['profile'],
  };
}
