// GET /usage: the gateway's counts of calls, and what ingest and notification have counted. A service that is away makes the whole 503.
import {
  routeDeclarations,
  usageCellsIn,
  usageDaysOf,
  usageTimeOf,
  type RouteDeclaration,
  type UsageTime,
} from '@lead-scoring/contracts';
import { binaryToUuid, uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import type { z } from 'zod';
import type { Caller } from '../credentials/authenticate.js';
import { orgUnits } from '../identity/documents.js';
import { problem, tryAgain } from '../problem.js';
import type { Forwarder } from '../reads/forward.js';
import type { LocalHandlers } from '../reads/local.js';
import { postOf, type Ask, type Owner } from '../reads/owners.js';
import { callCounts } from './call-documents.js';
import { visibleCredentials } from './visible-credentials.js';
import { usageOf, type CountedCalls } from './usage-model.js';

const { countDeliveredNotifications, countIngestedEvents, defaultUsageMs, usageLimits } = routeDeclarations;

export interface UsageDependencies {
  readModel: ReadModel;
  forwarder: Pick<Forwarder, 'askFor'>;
}

export function usageHandler({ readModel, forwarder }: UsageDependencies): LocalHandlers['getUsage'] {
  return async ({ caller, query: { granularity, from, to }, req }) => {
    const end = to === undefined ? Date.now() : Date.parse(to);
    const start = from === undefined ? end - defaultUsageMs[granularity] : Date.parse(from);
    const time = usageTimeOf(granularity, start, end);
    const ask = forwarder.askFor(req, undefined);
    const [units, credentials] = await Promise.all([
      unitsOf(readModel, caller),
      visibleCredentials(readModel, caller),
    ]);
    const [calls, events, notifications] = await Promise.all([
      countedCalls(readModel, caller, time),
      askInParts(ask, countIngestedEvents, 'ingest', { units, time }),
      askInParts(ask, countDeliveredNotifications, 'notification', { units, time }),
    ]);
    const isVisible = (credential: string) => caller.ouIds === null || credentials.has(credential);
    const counts = {
      calls: calls.filter(({ credential }) => isVisible(credential)),
      events: events.filter(({ sent_by }) => isVisible(sent_by)),
      notifications,
    };
    return usageOf(time, counts, credentials);
  };
}

/** The OUs of the organisation that the caller may use; the ended ones too, for a caller that may use all. */
async function unitsOf(readModel: ReadModel, { organisationId, ouIds }: Caller): Promise<string[]> {
  if (ouIds !== null) return [...ouIds];
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(orgUnits)
      .find({ organisation_id: { $eq: uuidToBinary(organisationId) } }, { projection: { _id: 1 } })
      .toArray(),
  );
  return found.map(({ _id }) => binaryToUuid(_id));
}

async function countedCalls(
  readModel: ReadModel,
  { organisationId }: Caller,
  time: UsageTime,
): Promise<CountedCalls[]> {
  const { first, last } = usageDaysOf(time);
  const rows = new Map<string, CountedCalls>();
  await withClassifiedErrors(async () => {
    const found = readModel.collection(callCounts).find({
      organisation_id: { $eq: uuidToBinary(organisationId) },
      day: { $gte: new Date(first), $lte: new Date(last) },
    });
    for await (const { credential, day, hours } of found)
      for (const [period, groups] of usageCellsIn(time, day.getTime(), hours))
        for (const [group, calls] of Object.entries(groups)) {
          const key = `${String(period)} ${credential} ${group}`;
          const row = rows.get(key) ?? { period, credential, group, calls: 0 };
          row.calls += calls;
          rows.set(key, row);
          if (rows.size > usageLimits.rows) throw tooManyRows();
        }
  });
  return [...rows.values()];
}

function tooManyRows() {
  return problem(
    'range_too_large',
    `The time has more than ${usageLimits.rows.toLocaleString('en')} counts of one kind. Ask for a shorter one, or by day.`,
  );
}

type CountRoute = RouteDeclaration & {
  path: string;
  responses: { 200: { schema: z.ZodType<{ rows: unknown[] }> } };
};
type RowOf<Route extends CountRoute> = z.output<Route['responses'][200]['schema']>['rows'][number];

/** The counts of an owner, of so many OUs at a time. @throws ProblemError what the owner answers instead, 503 or 504 when it does not */
async function askInParts<Route extends CountRoute>(
  ask: Ask,
  route: Route,
  owner: Owner,
  { units, time }: { units: readonly string[]; time: UsageTime },
): Promise<RowOf<Route>[]> {
  const rows: RowOf<Route>[] = [];
  for (let from = 0; from < units.length; from += usageLimits.units) {
    const ou_ids = units.slice(from, from + usageLimits.units);
    const answer = await ask(owner, route.path, postOf({ ou_ids, ...time }));
    if (answer.statusCode !== 200) {
      await answer.body.dump();
      if (answer.statusCode === 422) throw tooManyRows();
      throw tryAgain('service_unavailable', `${owner} cannot answer now. Try again in a moment.`, 2);
    }
    rows.push(...route.responses[200].schema.parse(await answer.body.json()).rows);
    if (rows.length > usageLimits.rows) throw tooManyRows();
  }
  return rows;
}
