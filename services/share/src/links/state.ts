// The state of a share link.
import type { AnyScoreType } from '@lead-scoring/contracts';

export interface Share {
  readonly id: string;
  readonly ou_id: string;
  readonly lead_id: string;
  /** The score that the link explains. */
  readonly score_type: AnyScoreType;
  readonly token_hash: string;
  readonly last_four: string;
  readonly created_by: string;
  readonly created_at: string;
  readonly expires_at: string;
  /** The lead's first decision lies before this offset of scoring.events; null: made before leads could be deleted. */
  readonly scoring_offset: number | null;
  /** null: not revoked. */
  readonly revoked_at: string | null;
}

/** Whether the lead is the shared one, and not a later one with the same id. */
export function isSharedLead(
  { scoring_offset }: Pick<Share, 'scoring_offset'>,
  { first_offset }: { first_offset: number },
): boolean {
  return scoring_offset === null || first_offset < scoring_offset;
}

/** A link is expired from `expires_at` on; a revoked link stays revoked. */
export function statusOf(
  { expires_at, revoked_at }: Pick<Share, 'expires_at' | 'revoked_at'>,
  now: Date,
): 'valid' | 'expired' | 'revoked' {
  if (revoked_at !== null) return 'revoked';
  return Date.parse(expires_at) <= now.getTime() ? 'expired' : 'valid';
}
