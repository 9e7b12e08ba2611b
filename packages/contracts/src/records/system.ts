// Records that every service understands: replies to commands, rebuilds, and positions of the inputs.
import { z } from 'zod';
import { time } from '../common.js';
import type { JsonValue } from '../vocabulary/json.js';
import { defineRecord, serviceNames, type PayloadOf, type TopicName } from './record.js';

/** The reply to a command: its result, or why it was rejected. */
export const commandReplied = defineRecord({
  type: 'CommandReplied',
  topic: 'replies',
  key: 'gateway_instance',
  description: 'The answer to a command.',
  schema: z.discriminatedUnion('outcome', [
    z.strictObject({ outcome: z.literal('done'), result: z.custom<JsonValue>().optional() }),
    z.strictObject({
      outcome: z.literal('rejected'),
      code: z.string().max(64),
      message: z.string().max(4_000),
      errors: z
        .array(z.strictObject({ path: z.string().max(1_000), message: z.string().max(1_000) }))
        .max(100)
        .optional(),
    }),
  ]),
});
export type CommandReplied = PayloadOf<typeof commandReplied>;

/** One declaration per service: an operator's command to fold the read models of a partition anew. */
export const rebuildReadModels = serviceNames.map((service) =>
  defineRecord({
    type: 'RebuildReadModel',
    topic: `${service}.commands` as TopicName,
    key: 'ou_id',
    description:
      "Fill a new edition of the service's read models from the beginning of the log, beside the live one. Sent to each partition.",
    schema: z.strictObject({ rebuild_id: z.uuid() }),
  }),
);

/**
 * One declaration per service. The header `positions` of an event says how far the inputs are read; this record carries
 * the header when a transaction has no event. event-log writes and skips it, so services never see it.
 */
export const inputsRead = serviceNames.map((service) =>
  defineRecord({
    type: 'InputsRead',
    topic: `${service}.events` as TopicName,
    key: 'partition',
    description:
      "How far the service has read its inputs, where that had no event. For the service's own use: it means nothing to consumers.",
    mayWait: true,
    schema: z.strictObject({}),
  }),
);

/**
 * One declaration per service: an operator sets the positions of a partition whose stored position lies beyond the end
 * of a topic.
 */
export const positionsAccepted = serviceNames.map((service) =>
  defineRecord({
    type: 'PositionsAccepted',
    topic: `${service}.events` as TopicName,
    key: 'partition',
    description:
      "An operator has said where the service reads on, after a topic was cut short or made anew. For the service's own use.",
    mayWait: true,
    schema: z.strictObject({
      accepted_at: time,
      inputs: z
        .array(z.strictObject({ topic: z.string().max(100), position: z.int().min(0) }))
        .max(20)
        .describe('Where each input is read on.'),
      output_is_whole: z
        .boolean()
        .describe(
          'True: what this topic holds now is all that was decided, and what is stored is folded anew from it.',
        ),
    }),
  }),
);
export type PositionsAccepted = PayloadOf<(typeof positionsAccepted)[number]>;

/**
 * One declaration per service: what `lead-scoring erase` leaves where a record of a deleted lead was, and where Kafka had the marker of
 * a transaction, so that every other record keeps its offset. event-log skips it, so services never see it.
 */
export const recordErased = serviceNames.map((service) =>
  defineRecord({
    type: 'RecordErased',
    topic: `${service}.events` as TopicName,
    key: 'partition',
    description:
      'What was here is erased: a record about a lead or an organizational unit that was deleted, or nothing that consumers ever saw. It means nothing to consumers.',
    mayWait: true,
    schema: z.strictObject({}),
  }),
);
