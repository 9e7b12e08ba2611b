// How many notifications were delivered to each channel, by hour or day, for GET /usage.
import { routeDeclarations, usageCellsIn, usageDaysOf } from '@lead-scoring/contracts';
import { binaryToUuid, uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { bindInternalQuery, problem, type BoundQuery, type QueryResult } from '@lead-scoring/service';
import { countedDeliveries } from './counted-deliveries.js';

const { countDeliveredNotifications, usageLimits } = routeDeclarations;
type Row = QueryResult<typeof countDeliveredNotifications>['rows'][number];

export function usageQueries(readModel: ReadModel): BoundQuery[] {
  return [
    bindInternalQuery(countDeliveredNotifications, async ({ body: { ou_ids, ...time } }) => {
      const { first, last } = usageDaysOf(time);
      const rows = new Map<string, Row>();
      await withClassifiedErrors(async () => {
        const found = readModel.collection(countedDeliveries).find({
          ou: { $in: ou_ids.map(uuidToBinary) },
          day: { $gte: new Date(first), $lte: new Date(last) },
        });
        for await (const { ou, channel, day, hours } of found)
          for (const [period, delivered] of usageCellsIn(time, day.getTime(), hours)) {
            const channel_id = binaryToUuid(channel);
            const key = `${channel_id} ${String(period)}`;
            const row = rows.get(key) ?? { period, ou_id: binaryToUuid(ou), channel_id, delivered: 0 };
            row.delivered += delivered;
            rows.set(key, row);
            if (rows.size > usageLimits.rows)
              throw problem(
                'range_too_large',
                `The time has more than ${usageLimits.rows.toLocaleString('en')} counts of notifications by channel. Ask for a shorter one, or by day.`,
              );
          }
      });
      return { rows: [...rows.values()] };
    }),
  ];
}
