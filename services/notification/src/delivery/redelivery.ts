// The steps of a redelivery: a channel's notifications of a time are delivered once more, so many at a step.
import type { records } from '@lead-scoring/contracts';
import type { CommandRecord } from './log-records.js';
import type { DeliveryStore } from './store.js';

/** The notifications of one step. */
export interface RedeliveryStep {
  readonly ids: readonly string[];
  /** Where the next step goes on; undefined: this is the last. */
  readonly after?: string;
  /** Notifications of all steps. */
  readonly count?: number;
}

type Requested = Pick<DeliveryStore, 'requestedWithin' | 'countRequestedWithin'>;

/** Notifications in one step. */
const notificationsPerStep = 500;

/** By command, the step that it asks for. */
export async function findRedeliverySteps(
  commands: readonly CommandRecord[],
  store: Requested,
): Promise<Map<CommandRecord, RedeliveryStep>> {
  const steps = new Map<CommandRecord, RedeliveryStep>();
  for (const command of commands)
    if (command.type === 'RedeliverNotifications') steps.set(command, await findStep(command.payload, store));
  return steps;
}

async function findStep(payload: records.RedeliverNotifications, store: Requested): Promise<RedeliveryStep> {
  const { channel_id, notification_ids, since, undelivered_only, after, requested_at } = payload;
  if (since === undefined) return { ids: notification_ids ?? [] };
  const range = {
    channel_id,
    since,
    until: requested_at,
    undeliveredOnly: undelivered_only ?? false,
  };
  const found = await store.requestedWithin({
    ...range,
    after: after === undefined ? null : placeOf(after),
    limit: notificationsPerStep,
  });
  const last = found.length === notificationsPerStep ? found.at(-1) : undefined;
  return {
    ids: found.map(({ notification_id }) => notification_id),
    ...(last && { after: `${last.requested_at} ${last.notification_id}` }),
    ...(after === undefined && { count: await store.countRequestedWithin(range) }),
  };
}

function placeOf(after: string): { at: string; notification_id: string } {
  const [at = '', notification_id = ''] = after.split(' ');
  return { at, notification_id };
}
