// The answers about stored leads, with the current levels and the current names of rulesets.
import type { routeDeclarations } from '@lead-scoring/contracts';
import { cellOf, levelOf, pointsByRuleset, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { leadOfKey } from '../keys.js';
import type { LeadDocument } from './documents.js';
import type { LeadPage } from './stored-leads.js';

/** The scores of the accounts in which leads count, by the ids of the accounts. */
export type AccountScores = ReadonlyMap<string, number>;

export function pageAnswer(
  { documents, total, next_cursor }: LeadPage,
  { page, limit }: { page: number; limit: number },
  configuration: ScoringConfiguration,
  accountScores: AccountScores,
) {
  return {
    data: documents.map((document) => leadAnswer(document, configuration, accountScores)),
    total,
    page,
    limit,
    ...(next_cursor !== undefined && { next_cursor }),
  };
}

/** The profile level of a lead, and its cell in the grid, where the OU has configured them. */
function inGrid(
  { score, profile }: Pick<LeadDocument, 'score' | 'profile'>,
  { profile: scoring, profile_levels = [], grid }: ScoringConfiguration,
): Pick<routeDeclarations.Lead, 'profile_level' | 'grid'> {
  return {
    ...(scoring && { profile_level: levelOf(profile_levels, profile?.score ?? 0) }),
    ...(grid && { grid: cellOf(grid, { engagement: score, profile: profile?.score }) }),
  };
}

export function leadAnswer(
  document: LeadDocument,
  configuration: ScoringConfiguration,
  accountScores: AccountScores,
): routeDeclarations.Lead {
  const { name, fields, aliases, score, rulesets, event_count, last_activity_at, first_activity_at } =
    document;
  const ofAccount = document.account && accountScores.get(document.account.account_id);
  return {
    id: leadOfKey(document._id),
    name,
    ...(fields.company && { company: fields.company.value }),
    ...(fields.title && { title: fields.title.value }),
    ...(fields.owner && { owner: fields.owner.value }),
    ...(fields.phase && { phase: fields.phase.value }),
    ...(document.account && { account_id: document.account.account_id }),
    aliases,
    score,
    scores: {
      engagement: score,
      ...(configuration.profile && { profile: document.profile?.score ?? 0 }),
      ...(configuration.deals && { deal: document.deal_score ?? 0 }),
      ...(ofAccount !== undefined && { account: ofAccount }),
    },
    level: levelOf(configuration.levels, score),
    ...inGrid(document, configuration),
    rulesets: [...rulesets, ...profileShares(document)].map((share) => ({
      ruleset_id: share.ruleset_id,
      name: rulesetName(configuration, share.ruleset_id),
      score: share.score,
    })),
    event_count,
    last_activity_at,
    created_at: first_activity_at,
  };
}

/** A deleted ruleset has the name that it had. */
function rulesetName({ rulesets, former_rulesets }: ScoringConfiguration, id: string): string {
  return (rulesets.get(id) ?? former_rulesets.get(id))?.name ?? '';
}

/** The points of a lead's profile by ruleset. */
function profileShares({ profile }: LeadDocument): { ruleset_id: string; score: number }[] {
  if (!profile) return [];
  return pointsByRuleset(profile.given, profile.held).map(({ ruleset_id, points }) => ({
    ruleset_id,
    score: points,
  }));
}
