// The firings of a trigger, as its lists show them.
import { z } from 'zod';
import { cursorParameter, id, inOrder, leadId, pageParameters, time, timeParameter } from '../common.js';
import { firingFields, type TriggerKind } from '../vocabulary/webhook.js';
import { deliveryStatus } from './deliveries.js';

export const firedQuery = inOrder({
  trigger_id: id.optional(),
  lead_id: leadId.optional(),
  from: timeParameter.optional(),
  to: timeParameter.optional().describe('Exclusive.'),
  ...pageParameters,
  cursor: cursorParameter,
});

export const firedEvent = <
  const Kind extends TriggerKind,
  Cause extends z.ZodType,
  Values extends z.ZodRawShape,
>(
  name: string,
  kind: Kind,
  cause: Cause,
  values: Values,
) =>
  z
    .strictObject({
      id,
      trigger: z.strictObject({ id, name: z.string().max(100), kind: z.literal(kind) }),
      ...firingFields,
      cause,
      fired_at: time,
      deliveries: z
        .array(z.strictObject({ id, channel_id: id, status: deliveryStatus }))
        .max(20)
        .describe('One for each channel that is told.'),
      ...values,
    })
    .meta({ id: name });
