// The firings of a trigger, as its lists show them.
import { z } from 'zod';
import { cursorParameter, id, inOrder, leadId, pageParameters, time, timeParameter } from '../common.js';
import { accountCause, accountFiringFields, firingFields, type TriggerKind } from '../vocabulary/webhook.js';
import { deliveryStatus } from './deliveries.js';

const firedParameters = {
  trigger_id: id.optional(),
  lead_id: leadId.optional(),
  from: timeParameter.optional(),
  to: timeParameter.optional().describe('Exclusive.'),
  ...pageParameters,
  cursor: cursorParameter,
};
export const firedQuery = inOrder(firedParameters);

/** Milestones alone watch scores of accounts. */
export const firedMilestonesQuery = inOrder({
  ...firedParameters,
  account_id: id
    .optional()
    .describe('Firings of triggers by account score, for this account. Not with lead_id.'),
}).refine(({ lead_id, account_id }) => lead_id === undefined || account_id === undefined, {
  path: ['account_id'],
  error: 'must be absent where lead_id is given: a firing is for a lead or for an account',
});

const deliveriesOfFiring = z
  .array(z.strictObject({ id, channel_id: id, status: deliveryStatus }))
  .max(20)
  .describe('One for each channel that is told.');

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
      deliveries: deliveriesOfFiring,
      ...values,
    })
    .meta({ id: name });

/** A firing of a trigger by account score: it has no lead, no level and no drivers. */
export const accountMilestoneEvent = z
  .strictObject({
    id,
    trigger: z.strictObject({ id, name: z.string().max(100), kind: z.literal('milestone') }),
    ...accountFiringFields,
    cause: accountCause,
    fired_at: time,
    deliveries: deliveriesOfFiring,
  })
  .meta({ id: 'AccountMilestoneEvent' });
