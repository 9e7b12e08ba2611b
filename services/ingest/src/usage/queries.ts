// How many events each credential has sent, by hour or day, for GET /usage.
import { routeDeclarations, usageCellsIn, usageDaysOf } from '@lead-scoring/contracts';
import { binaryToUuid, uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { bindInternalQuery, problem, type BoundQuery, type QueryResult } from '@lead-scoring/service';
import { countedEvents } from './counted-events.js';

const { countIngestedEvents, usageLimits } = routeDeclarations;
type Row = QueryResult<typeof countIngestedEvents>['rows'][number];

export function usageQueries(readModel: ReadModel): BoundQuery[] {
  return [
    bindInternalQuery(countIngestedEvents, async ({ body: { ou_ids, ...time } }) => {
      const { first, last } = usageDaysOf(time);
      const rows = new Map<string, Row>();
      await withClassifiedErrors(async () => {
        const found = readModel.collection(countedEvents).find({
          ou: { $in: ou_ids.map(uuidToBinary) },
          day: { $gte: new Date(first), $lte: new Date(last) },
        });
        for await (const { ou, sent_by, day, hours } of found)
          for (const [period, { events, repeats }] of usageCellsIn(time, day.getTime(), hours)) {
            const ou_id = binaryToUuid(ou);
            const key = `${ou_id} ${sent_by} ${String(period)}`;
            const row = rows.get(key) ?? { period, ou_id, sent_by, events: 0, repeats: 0 };
            row.events += events;
            row.repeats += repeats;
            rows.set(key, row);
            if (rows.size > usageLimits.rows)
              throw problem(
                'range_too_large',
                `The time has more than ${usageLimits.rows.toLocaleString('en')} counts of events by credential. Ask for a shorter one, or by day.`,
              );
          }
      });
      return { rows: [...rows.values()] };
    }),
  ];
}
