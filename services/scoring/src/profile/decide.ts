// Decides the profile points of a lead: pure. The points are those of the rules that match its profile now, and a decision
// records the differences to the points that it has.
import type { Alias, ShownFields } from '@lead-scoring/contracts';
import { profileOf } from '@lead-scoring/scoring-domain';
import { conditionAdjustments, conditionChanges } from '../condition-rules/points-model.js';
import type { CompiledProfile } from './profile-model.js';
import { emptyProfile, type LeadProfile, type ProfileAdjustment } from './state.js';

/** The parts of a lead that its profile is made of. */
export interface ProfiledLead extends ShownFields {
  readonly aliases: readonly Alias[];
  readonly profile?: LeadProfile | undefined;
}

/** The changes of points: of rules that no longer match or have another weight, of rules that begin to match, of limits. */
export function profileAdjustments(lead: ProfiledLead, compiled: CompiledProfile): ProfileAdjustment[] {
  const points = lead.profile ?? emptyProfile;
  if (points.given.length === 0 && compiled.rules.length === 0) return [];
  const profile = profileOf({ ...lead, values: points.values, overrides: points.overrides });
  return conditionAdjustments(conditionChanges(points, compiled, profile), 'profile_rule');
}
