// Notifications of deleted leads on a real database: any division into batches and any kill of the process give the same documents,
// and none of a forgotten notification.
import { expect, test } from '@jest/globals';
import type { records } from '@lead-scoring/contracts';
import { anyStep, foldedInSteps, oneByOne, type FoldStep } from '@lead-scoring/testing/fold-laws';
import fc from 'fast-check';
import {
  attemptOf,
  deliveredAttempt,
  idOf,
  ouId,
  requestOf,
  startTime,
} from '../testing/delivery-builders.js';
import { decideAttempt, decideForgetting, decideRedelivery, decideRequest } from './decide.js';
import { deliveryCollections } from './documents.js';
import type { DeliveryEvent } from './messages.js';
import { evolveHealth, evolveNotification } from './evolve.js';
import { publishedPolicy } from './schedule-model.js';
import { healthyChannel, type ChannelHealth, type Notification } from './state.js';
import { DeliveryStore } from './store.js';

const leads = ['ada', 'bob'] as const;
const channels = ['one', 'two'] as const;
const topics = ['scoring.events', 'ingest.events'] as const;
const place = {
  lead: fc.constantFrom(...leads),
  channel: fc.constantFrom(...channels),
  topic: fc.constantFrom(...topics),
};
const happening = fc.oneof(
  { weight: 4, arbitrary: fc.record({ what: fc.constant('requested' as const), ...place }) },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constantFrom('delivered' as const, 'failed' as const, 'redelivered' as const),
      nth: fc.nat(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('forgotten' as const), ...place }) },
);
type Happening = typeof happening extends fc.Arbitrary<infer One> ? One : never;

/** What is recorded when this happens, in this order, and what is left of it in the end. */
function logOf(happened: readonly Happening[]): {
  events: DeliveryEvent[];
  left: Map<string, Notification>;
} {
  const left = new Map<string, Notification>();
  const requests: records.RequestNotification[] = [];
  const healths = new Map<string, ChannelHealth>();
  const decide = (one: Happening, index: number): DeliveryEvent[] => {
    if (one.what === 'requested') {
      const { lead, channel, topic } = one;
      const position = `${topic}:0:${String(index)}`;
      const request = requestOf(String(index), { lead, channel, position });
      requests.push(request);
      return decideRequest(request, null);
    }
    if (one.what === 'forgotten')
      return [
        decideForgetting({
          ou_id: ouId,
          channel_id: idOf(one.channel),
          lead_id: idOf(one.lead),
          before: { topic: one.topic, partition: 0, offset: index },
          requested_at: startTime,
        }),
      ];
    // Also an attempt of a forgotten notification: it was under way.
    const request = requests[one.nth % requests.length];
    if (!request) return [];
    const known = left.get(request.notification_id) ?? null;
    if (one.what === 'redelivered') {
      const { ou_id, channel_id, notification_id } = request;
      return decideRedelivery(
        {
          ou_id,
          channel_id,
          notification_ids: [notification_id],
          redelivery_id: idOf(`redelivery ${String(index)}`),
          requested_at: startTime,
        },
        known ? [known] : [],
      );
    }
    const attempt = (known?.attempts ?? 0) + 1;
    return decideAttempt(
      one.what === 'delivered' ? deliveredAttempt(request, attempt) : attemptOf(request, { attempt }),
      known,
      healths.get(request.channel_id) ?? healthyChannel(ouId, request.channel_id),
      publishedPolicy,
    );
  };
  const events = happened.flatMap((one, index) => {
    const decided = decide(one, index);
    for (const event of decided) {
      const { channel_id } = event.payload;
      healths.set(channel_id, evolveHealth(healths.get(channel_id) ?? null, event));
      const ids =
        event.type === 'NotificationsForgotten'
          ? [...left.keys()]
          : event.type === 'NotificationsRedelivered'
            ? event.payload.notification_ids
            : 'notification_id' in event.payload
              ? [event.payload.notification_id]
              : [];
      for (const id of ids) {
        const after = evolveNotification(left.get(id) ?? null, event);
        if (after) left.set(id, after);
        else left.delete(id);
      }
    }
    return decided;
  });
  return { events, left };
}

test('any division into batches, killed at any write, gives the documents of one record per batch', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(happening, { minLength: 20, maxLength: 60 }),
      fc.array(anyStep(6, 8), { minLength: 10, maxLength: 20 }),
      async (happened, steps) => {
        const { events, left } = logOf(happened);
        const log = events.map((event, index) => ({ event, offset: index * 2 }));
        const folded = (cut: FoldStep[]) =>
          foldedInSteps({
            collections: deliveryCollections,
            log,
            steps: cut,
            open: (readModel) => {
              const store = new DeliveryStore(readModel, 0, { cachedNotifications: 3 });
              return {
                fold: async (some: typeof log) => {
                  await store.fold(some);
                },
                write: () => store.written(),
              };
            },
          });
        const documents = await folded(oneByOne(log));
        const notifications = [...left.values()];
        expect(documents.deliveries).toHaveLength(notifications.length);
        expect(documents.pending_deliveries).toHaveLength(
          notifications.filter(({ status }) => status === 'pending').length,
        );
        expect(documents.delivery_attempts).toHaveLength(
          notifications.reduce((sum, { attempts }) => sum + attempts, 0),
        );
        expect(await folded(steps)).toEqual(documents);
      },
    ),
    { numRuns: 12 },
  );
}, 240_000);
