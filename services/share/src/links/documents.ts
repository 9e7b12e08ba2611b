// The documents of share links. `_id` is the share's id, which is derived from the token's hash, so that a look-up by token is one
// by id.
import type { AnyScoreType } from '@lead-scoring/contracts';
import {
  binaryToUuid,
  defineCollection,
  uuidToBinary,
  type Binary,
  type GuardedDocument,
} from '@lead-scoring/read-model';
import type { Share } from './state.js';

export interface ShareDocument extends GuardedDocument {
  _id: Binary;
  ou: Binary;
  lead: Binary;
  /** Absent: engagement. */
  score_type?: AnyScoreType;
  token_hash: string;
  last_four: string;
  created_by: string;
  created_at: Date;
  expires_at: Date;
  scoring_offset: number | null;
  revoked_at: Date | null;
}

export const shares = defineCollection<ShareDocument>({
  name: 'shares',
  indexes: [{ key: { ou: 1, lead: 1, created_at: -1, _id: -1 } }],
});

export function toShareDocument(share: Share, at: { partition: number; offset: number }): ShareDocument {
  return {
    _id: uuidToBinary(share.id),
    ou: uuidToBinary(share.ou_id),
    lead: uuidToBinary(share.lead_id),
    ...(share.score_type !== 'engagement' && { score_type: share.score_type }),
    token_hash: share.token_hash,
    last_four: share.last_four,
    created_by: share.created_by,
    created_at: new Date(share.created_at),
    expires_at: new Date(share.expires_at),
    scoring_offset: share.scoring_offset,
    revoked_at: share.revoked_at === null ? null : new Date(share.revoked_at),
    ...at,
  };
}

export function toShare(document: ShareDocument): Share {
  const { score_type = 'engagement' } = document;
  const { token_hash, last_four, created_by, created_at, expires_at, scoring_offset, revoked_at } = document;
  return {
    id: binaryToUuid(document._id),
    ou_id: binaryToUuid(document.ou),
    lead_id: binaryToUuid(document.lead),
    score_type,
    token_hash,
    last_four,
    created_by,
    created_at: created_at.toISOString(),
    expires_at: expires_at.toISOString(),
    scoring_offset,
    revoked_at: revoked_at?.toISOString() ?? null,
  };
}
