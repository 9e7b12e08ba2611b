// Queries on deliveries and their attempts, for routes and for other parts of the service.
import { routes, type records, type routeDeclarations } from '@lead-scoring/contracts';
import {
  binaryToUuid,
  findPage,
  unpackJson,
  uuidToBinary,
  withClassifiedErrors,
  type Filter,
  type ReadModel,
} from '@lead-scoring/read-model';
import { bindQuery, ProblemError, type BoundQuery } from '@lead-scoring/service';
import { attemptAnswer, deliveryAnswer } from './answers.js';
import {
  attemptsOf,
  channelHealth,
  deliveries,
  deliveryAttempts,
  toHealth,
  toNotification,
  type DeliveryDocument,
} from './documents.js';
import type { ChannelHealth } from './state.js';

const shownAttempts = 100;

export function deliveryQueries(readModel: ReadModel): BoundQuery[] {
  const stored = readModel.collection(deliveries);
  const attempts = readModel.collection(deliveryAttempts);
  return [
    bindQuery(routes.listDeliveries, ({ query, context: { ouId } }) => {
      const { channel_id, trigger_id, lead_id, account_id, status, ...request } = query;
      const subjectId = lead_id ?? account_id;
      const filter: Filter<DeliveryDocument> = {
        ou: uuidToBinary(ouId),
        ...(channel_id !== undefined && { channel: uuidToBinary(channel_id) }),
        ...(trigger_id !== undefined && { trigger: uuidToBinary(trigger_id) }),
        ...(subjectId !== undefined && { lead: uuidToBinary(subjectId) }),
        ...(status !== undefined && { status }),
      };
      return findPage(stored, {
        filter,
        sort: { field: 'requested', direction: 'descending' },
        request,
        toItem: (document) => deliveryAnswer(toNotification(document)),
      });
    }),
    bindQuery(routes.getDelivery, ({ params: { id }, context: { ouId } }) =>
      withClassifiedErrors(async (): Promise<routeDeclarations.DeliveryWithAttempts> => {
        const found = await stored.findOne({ _id: uuidToBinary(id), ou: uuidToBinary(ouId) });
        if (!found)
          throw new ProblemError(
            404,
            'delivery_not_found',
            'There is no delivery with this id in the organizational unit.',
          );
        const notification = toNotification(found);
        const made = await attempts
          .find({ _id: attemptsOf(notification.notification_id) })
          .sort({ _id: -1 })
          .limit(shownAttempts)
          .toArray();
        return {
          ...deliveryAnswer(notification),
          payload: notification.payload,
          attempt_log: made.map(({ content }) =>
            attemptAnswer(unpackJson(content) as unknown as records.NotificationAttempted),
          ),
        };
      }),
    ),
  ];
}

/** The health of channels by id; a channel without an attempt is missing. */
export async function readChannelHealth(
  readModel: ReadModel,
  channelIds: readonly string[],
): Promise<Map<string, ChannelHealth>> {
  if (channelIds.length === 0) return new Map();
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(channelHealth)
      .find({ _id: { $in: channelIds.map(uuidToBinary) } })
      .toArray(),
  );
  return new Map(found.map((document) => [binaryToUuid(document._id), toHealth(document)]));
}

/** The deliveries of firings, by firing id. */
export async function deliveriesOfFirings(
  readModel: ReadModel,
  firingIds: readonly string[],
): Promise<Map<string, { id: string; channel_id: string; status: routeDeclarations.DeliveryStatus }[]>> {
  const byFiring = new Map<
    string,
    { id: string; channel_id: string; status: routeDeclarations.DeliveryStatus }[]
  >();
  if (firingIds.length === 0) return byFiring;
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(deliveries)
      .find(
        { firing: { $in: firingIds.map(uuidToBinary) } },
        { projection: { firing: 1, channel: 1, status: 1 } },
      )
      .toArray(),
  );
  for (const { _id, firing, channel, status } of found) {
    if (!firing) continue;
    const id = binaryToUuid(firing);
    const known = byFiring.get(id) ?? [];
    known.push({ id: binaryToUuid(_id), channel_id: binaryToUuid(channel), status });
    byFiring.set(id, known);
  }
  return byFiring;
}
