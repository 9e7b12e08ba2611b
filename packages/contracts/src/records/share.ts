// Commands and events of the share service: links that show the explanation of a lead's score to anyone who has them.
import { z } from 'zod';
import { id, time } from '../common.js';
import { recordedActor, happened, requested } from '../vocabulary/actor.js';
import { anyScoreTypes } from '../vocabulary/score-types.js';
import { lastFour, secretHash } from './gateway.js';
import { defineRecord, type PayloadOf } from './record.js';

const shareFields = {
  share_id: id.describe("Made from the token's hash."),
  ou_id: id,
  lead_id: id,
  token_hash: secretHash,
  last_four: lastFour,
  created_by: id.describe('The credential, or the trigger whose notifications carry the link.'),
  score_type: z
    .enum(anyScoreTypes)
    .optional()
    .describe('The score that the link explains; absent: engagement.'),
};

export const createShare = defineRecord({
  type: 'CreateShare',
  topic: 'share.commands',
  key: 'share_id',
  description:
    "Share the explanation of a lead's score. Also sent by the notification service, in the transaction that fired a trigger.",
  mayWait: true,
  schema: z.strictObject({
    ...shareFields,
    lead_seen_in: z
      .strictObject({ topic: z.enum(['ingest.events', 'scoring.events']), offset: z.int().min(0) })
      .optional()
      .describe(
        "A record of the lead, in the lead's partition: the link is of the lead that this record tells of. Absent: of the lead that is there when the command is decided.",
      ),
    ...requested,
  }),
});
export type CreateShare = PayloadOf<typeof createShare>;

export const revokeShare = defineRecord({
  type: 'RevokeShare',
  topic: 'share.commands',
  key: 'share_id',
  description: 'End a share link.',
  schema: z.strictObject({ share_id: id, ou_id: id, requested_by: id, ...requested }),
});
export type RevokeShare = PayloadOf<typeof revokeShare>;

export const shareCreated = defineRecord({
  type: 'ShareCreated',
  topic: 'share.events',
  key: 'share_id',
  description: "The explanation of a lead's score is shared. The token itself is on no topic.",
  schema: z.strictObject({
    ...shareFields,
    created_at: time,
    actor: recordedActor.optional(),
    expires_at: time,
    scoring_offset: z
      .int()
      .min(0)
      .optional()
      .describe(
        'The lead was there before this offset of scoring.events, in its partition: a lead of the same id whose first decision comes later is another, and is not shown.',
      ),
  }),
});
export type ShareCreated = PayloadOf<typeof shareCreated>;

export const shareRevoked = defineRecord({
  type: 'ShareRevoked',
  topic: 'share.events',
  key: 'share_id',
  description: 'A share link was ended before its time.',
  schema: z.strictObject({ share_id: id, ou_id: id, lead_id: id, revoked_by: id, ...happened }),
});
export type ShareRevoked = PayloadOf<typeof shareRevoked>;

export const shareRecords = [createShare, revokeShare, shareCreated, shareRevoked] as const;
