// Database operators in place of values are refused, and none reaches the database: a monitor reads every command that services
// send to it.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { RouteName } from '@lead-scoring/contracts';
import { sendOperator, startDatabaseMonitor, type DatabaseMonitor } from './database-monitor.js';
import { isFullSize } from './full-size.js';
import { furnish, pathOf, routeExamples, routeNamed, routeNames, send, type Unit } from './route-examples.js';
import { endpointsFromEnvironment } from './servers.js';
import { startTestSystem, type TestSystem } from './test-system.js';

const mark = `injected-${randomBytes(6).toString('hex')}`;
const operators: readonly unknown[] = [
  { $ne: mark },
  { [`$${mark}`]: 1 },
  [{ $gt: mark }],
  ...(isFullSize ? [{ $where: mark }, { $regex: mark }, { $expr: mark }, { $in: [mark] }] : []),
];
let turn = 0;
/** At full size every value is replaced by every operator; else by one of them, in turn. */
const operatorsOfValue = () => (isFullSize ? operators : [operators[turn++ % operators.length]]);

let monitor: DatabaseMonitor;
let system: TestSystem;
let unit: Unit;

beforeAll(async () => {
  const endpoints = endpointsFromEnvironment();
  monitor = await startDatabaseMonitor(endpoints.mongodbUri, mark);
  system = await startTestSystem({ endpoints: { ...endpoints, mongodbUri: monitor.mongodbUri } });
  unit = await furnish(system, 'target', system.ouId);
}, 120_000);

afterAll(async () => {
  await system.stop();
  await monitor.stop();
}, 60_000);

interface Poisoned {
  /** The path of the value that is replaced. */
  at: string[];
  operator: unknown;
  body: unknown;
}

/** The body with one value replaced by an operator, for each value in turn. */
function* poisoned(body: unknown, at: string[] = []): Generator<Poisoned> {
  if (at.length > 0) for (const operator of operatorsOfValue()) yield { at, operator, body: operator };
  if (typeof body !== 'object' || body === null) return;
  for (const [key, value] of Object.entries(body))
    for (const inner of poisoned(value, [...at, key]))
      yield {
        ...inner,
        body: Array.isArray(body)
          ? body.map((one: unknown, index) => (String(index) === key ? inner.body : one))
          : { ...body, [key]: inner.body },
      };
}

/** Metadata may have any value, because it is stored as text; so may what becomes metadata, as rows of a table do. */
const free = ['metadata', 'properties', 'traits', 'context', 'rows'];
const isFree = (name: RouteName, at: readonly string[]) =>
  name === 'patchLeadMetadata' || at.some((key) => free.includes(key));

test('the monitor sees an operator that does reach the database', async () => {
  const control = await startDatabaseMonitor(endpointsFromEnvironment().mongodbUri, mark);
  await sendOperator(control, mark);
  expect(control.smuggled()).toEqual(['find: $ne']);
  await control.stop();
});

test.each(routeNames)(
  '%s refuses operators in its body and its query',
  async (name) => {
    const { method, body: declared, query: declaredQuery } = routeNamed(name);
    const example = routeExamples[name](unit);
    const wrong: string[] = [];
    const attempt = async (
      title: string,
      path: string,
      body: unknown,
      right: (status: number) => boolean,
    ) => {
      const { status } = await system.request(path, { method, ...(body !== undefined && { body }) });
      if (!right(status)) wrong.push(`${title}: ${String(status)}`);
    };
    const refused = (status: number) => status >= 400 && status < 500;
    const answered = (status: number) => status < 500 || status === 502;
    if (declared)
      for (const { at, operator, body } of poisoned(example.body))
        await attempt(`${at.join('.')} ${JSON.stringify(operator)}`, pathOf(name, example), body, (status) =>
          isFree(name, at) ? answered(status) : refused(status),
        );
    if (declaredQuery && method === 'GET') {
      const path = pathOf(name, { ...example, query: {} });
      for (const key of Object.keys((declaredQuery as { shape?: object }).shape ?? {})) {
        for (const operator of operatorsOfValue()) {
          const value = encodeURIComponent(JSON.stringify(operator));
          await attempt(`?${key}=operator`, `${path}?${key}=${value}`, undefined, answered);
        }
        await attempt(`?${key}[$ne]`, `${path}?${key}[$ne]=${mark}`, undefined, refused);
      }
    }
    expect(wrong).toEqual([]);
  },
  120_000,
);

test('after all of these requests, reads included, no operator has reached the database', async () => {
  for (const name of routeNames)
    if (routeNamed(name).method === 'GET') await send(system, name, routeExamples[name](unit));
  expect(monitor.count()).toBeGreaterThan(routeNames.length);
  expect(monitor.smuggled()).toEqual([]);
}, 60_000);
