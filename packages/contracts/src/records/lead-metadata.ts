// The metadata that callers set for a lead: it overrides what the lead's events say.
import { z } from 'zod';
import { id, time } from '../common.js';
import { recordedActor, requested } from '../vocabulary/actor.js';
import { metadataLimits, metadataObject } from '../vocabulary/metadata.js';
import { deleteLead, ingestEvents } from './ingest.js';
import { defineRecord, type PayloadOf } from './record.js';

/** Each has at least one of the keys that a lead may have. */
const maximumJoined = metadataLimits.keys;

const joined = z.array(z.strictObject({ lead_id: id, metadata: metadataObject })).max(maximumJoined);

const { forwarded_by, returned } = deleteLead.schema.shape;
const { linked_by, after } = ingestEvents.schema.shape.events.element.shape;

export const patchLeadMetadata = defineRecord({
  type: 'PatchLeadMetadata',
  topic: 'ingest.commands',
  key: 'lead_id',
  description: 'Change the metadata that is set for this lead, or for the lead that it is redirected to.',
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    patch_id: id.describe('A patch takes effect once, however often it comes.'),
    patch: metadataObject.describe('A JSON merge patch (RFC 7396).'),
    ...requested,
    forwarded_by,
    returned,
  }),
});
export type PatchLeadMetadata = PayloadOf<typeof patchLeadMetadata>;

export const carryLeadMetadata = defineRecord({
  type: 'CarryLeadMetadata',
  topic: 'ingest.commands',
  key: 'lead_id',
  description:
    'What was set for a lead goes to the lead that it joins, or comes back from one that was divided. Sent by the service to itself, after the events of the lead.',
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    carried: joined.describe(
      'What was set for each lead, the first to join first. Empty: what is set for the lead itself is told again.',
    ),
    carried_at: time,
    actor: recordedActor.optional(),
    linked_by,
    after,
    forwarded_by,
    returned,
  }),
});
export type CarryLeadMetadata = PayloadOf<typeof carryLeadMetadata>;

export const leadMetadataPatched = defineRecord({
  type: 'LeadMetadataPatched',
  topic: 'ingest.events',
  key: 'lead_id',
  description:
    "This metadata is set for the lead from now on, and no other: it overrides what the metadata of the lead's events says, whenever these come. " +
    'Without a patch it has come from another lead: one has joined this lead, or was merged into it and is no more.',
  schema: z.strictObject({
    ou_id: id,
    lead_id: id,
    patch_id: id.optional(),
    patch: metadataObject
      .optional()
      .describe(
        'The JSON merge patch (RFC 7396) that a caller has sent. Absent where metadata has come from another lead.',
      ),
    metadata: metadataObject.describe(
      'What is set for the lead, with what leads that have joined it have brought along.',
    ),
    joined: joined
      .optional()
      .describe(
        'What of it was set for leads that have joined this one, the first to join first. What was set for the lead itself wins. Absent where nothing was.',
      ),
    own: metadataObject.optional().describe('Beside `joined`: what was set for the lead itself.'),
    fire_triggers: z.boolean().describe('False where metadata has come from another lead.'),
    patched_at: time,
    actor: recordedActor.optional(),
  }),
});
export type LeadMetadataPatched = PayloadOf<typeof leadMetadataPatched>;

export const leadMetadataRecords = [patchLeadMetadata, carryLeadMetadata, leadMetadataPatched] as const;
