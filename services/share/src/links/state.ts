// A share link as its events make it.

export interface Share {
  readonly id: string;
  readonly ou_id: string;
  readonly lead_id: string;
  readonly token_hash: string;
  readonly last_four: string;
  readonly created_by: string;
  readonly created_at: string;
  readonly expires_at: string;
  /** The lead was there before this offset of scoring.events; null: made when leads could not be deleted. */
  readonly scoring_offset: number | null;
  /** null: not ended before its time. */
  readonly revoked_at: string | null;
}

/** Whether a lead is the one that was shared, and not one that was made under its id after its deletion. */
export function isOf(
  { scoring_offset }: Pick<Share, 'scoring_offset'>,
  { first_offset }: { first_offset: number },
): boolean {
  return scoring_offset === null || first_offset < scoring_offset;
}

/** From `expires_at` on a link is expired; one that was ended stays so. */
export function statusOf(
  { expires_at, revoked_at }: Pick<Share, 'expires_at' | 'revoked_at'>,
  now: Date,
): 'valid' | 'expired' | 'revoked' {
  if (revoked_at !== null) return 'revoked';
  return Date.parse(expires_at) <= now.getTime() ? 'expired' : 'valid';
}
