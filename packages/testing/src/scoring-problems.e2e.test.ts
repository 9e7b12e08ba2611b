// Every problem that a route of scoring can have is answered, with its status and what to change: those of the route's own, of repeated
// and too frequent requests, and of a service that is late or away. And the largest configuration stops no event.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  leadIdOf,
  problem,
  problemCodesOfRoute,
  problemTypeOf,
  type ProblemCode,
  type RouteName,
} from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { fillUnit, limitedScore, matchedEvent, sendIn, type FullUnit } from './full-unit.js';
import { readTopic } from './public-topics.js';
import {
  furnish,
  routeExamples,
  routeNamed,
  routeNames,
  type RouteExample,
  type Unit,
} from './route-examples.js';
import { provoked, type Request } from './scoring-problems.js';
import { startTestSystem, type Answer, type TestSystem } from './test-system.js';

interface Listed {
  id: string;
  name?: string;
  label?: string;
}
/** They need more leads, merges or changes than this test has: tests of scoring provoke them. */
const elsewhere: readonly string[] = [
  'getAttributionInsights: range_too_large',
  'listAttributedDeals: range_too_large',
  'listScoreGains: too_many_gains',
  'mergeAccounts: limit_reached',
  'restoreConfiguration: level_not_found',
  'restoreConfiguration: grid_not_found',
  'restoreConfiguration: ruleset_not_found',
];
/** A command that comes again after the resource was deleted needs an answer that was not given: a test of its own. */
const afterDeletion = 'already_deleted';
const ofScoring = routeNames.filter((name) => routeNamed(name).owner === 'scoring');
/** Jobs have states: the tests of each job provoke its problems. */
const isOfJob = (name: RouteName) =>
  202 in routeNamed(name).responses || routeNamed(name).path.includes('{job}');
const commands = ofScoring.filter((name) => routeNamed(name).kind === 'command');
const queries = ofScoring.filter((name) => routeNamed(name).kind === 'query');
const having = (code: ProblemCode) =>
  ofScoring.filter((name) => problemCodesOfRoute(routeNamed(name)).includes(code));
const declared = ofScoring
  .filter((name) => !isOfJob(name))
  .flatMap((name) => routeNamed(name).problems.map((code) => `${name}: ${code}`))
  .filter((title) => !title.endsWith(afterDeletion) && !elsewhere.includes(title));
const cases = Object.entries(provoked).flatMap(([name, problems]) =>
  Object.entries(problems).map(([code, request]) => ({
    title: `${name}: ${code}`,
    name: name as RouteName,
    code: code as ProblemCode,
    request,
  })),
);

let system: TestSystem;
let unit: Unit;
let full: FullUnit;

beforeAll(async () => {
  system = await startTestSystem();
  unit = await furnish(system, 'problems', system.ouId);
  // Its decay rules need one of its rulesets.
  const needing = { parameters: { id: unit.decayId }, body: { ruleset_id: unit.rulesetId } };
  expect(await ask('updateDecay', needing)).toMatchObject({ status: 200 });
  const { body } = await ask('createOrgUnit', { body: { name: 'Full' } });
  full = await fillUnit(system, (body as { id: string }).id);
}, 300_000);

afterAll(() => system.stop(), 60_000);

const ask = (
  name: RouteName,
  { inFull: isFull = false, headers = {}, ...example }: Request,
): Promise<Answer> => sendIn(system, isFull ? full.ouId : unit.ouId, name, example, headers);

/** A route's good request. */
const good = (name: RouteName): RouteExample => routeExamples[name](unit);

function expectProblem(answer: Answer, code: ProblemCode): void {
  const { status, body } = answer;
  expect({ status, body }).toMatchObject({ status: problemTypeOf(code).status, body: { code, status } });
  expect(problem.safeParse(body).error?.issues ?? []).toEqual([]);
  expect((body as { detail: string }).detail).toMatch(/[a-z]{2,} [a-z]+/i);
  if (status === 429 || status === 503) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
}

test('every problem that a route of scoring declares has a request here', () => {
  expect(cases.map(({ title }) => title).sort()).toEqual([...declared].sort());
});

describe('a problem of a route is answered with its status and what to change', () => {
  test.each(cases)('$title', async ({ name, code, request }) => {
    expectProblem(await ask(name, request(unit, full)), code);
  });

  test.each(having('invalid_cursor'))('%s: a cursor of no list is 400', async (name) => {
    expectProblem(
      await ask(name, { ...good(name), query: { ...good(name).query, cursor: 'AAAA' } }),
      'invalid_cursor',
    );
  });

  test.each(having('position_unknown'))('%s: a position of no log is 400', async (name) => {
    const example = good(name);
    const asked = { ...example, query: { ...example.query, min_position: '0-5_0-6' } };
    expectProblem(await ask(name, asked), 'position_unknown');
  });

  test('every route: a credential that has used up its limit gets 429, and when to come again', async () => {
    const made = await ask('createToken', {
      body: { name: 'Slow', role: 'admin', rate_limit: { per_minute: 1, burst: 1 } },
    });
    const { token } = made.body as { token: string };
    const headers = { authorization: `Bearer ${token}` };
    await ask('listRules', { headers });
    const answers = await Promise.all(
      ofScoring.map(async (name) => ({ name, answer: await ask(name, { ...good(name), headers }) })),
    );
    for (const { answer } of answers) expectProblem(answer, 'rate_limited');
  });
});

describe('with 1,000 rules of 20 conditions and a limit each', () => {
  const paths = 2;
  const events = 5;
  const leads = 100;
  const aliasOf = (lead: number) => `lead${String(lead)}@full.example`;

  test('events still flow: every score is what the limits leave, explanations add up, and no record is parked', async () => {
    const body = Array.from({ length: leads * events }, (_, nth) => ({
      ...matchedEvent,
      alias_kind: 'email',
      alias: aliasOf(nth % leads),
      timestamp: new Date(Date.now() - 60_000).toISOString(),
      metadata: { ...matchedEvent.metadata, path: `/${String(Math.floor(nth / leads) % paths)}` },
    }));
    const { status, body: taken } = await ask('ingest', { body, inFull: true });
    expect(status).toBe(202);
    const { position } = taken as { position: string };
    const score = limitedScore(events, paths);
    for (let lead = 0; lead < leads; lead += 7) {
      const parameters = { leadID: leadIdOf(full.ouId, 'email', aliasOf(lead)) };
      const found = await eventually(
        'the lead is scored',
        async () => {
          const answer = await ask('getScore', {
            parameters,
            query: { min_position: position },
            inFull: true,
          });
          return answer.status === 200 ? answer.body : undefined;
        },
        120_000,
      );
      expect(found).toMatchObject({ score });
    }
    const parameters = { leadID: leadIdOf(full.ouId, 'email', aliasOf(3)) };
    const { body: explained } = await ask('explainScore', { parameters, inFull: true });
    const { top_drivers, ...rest } = explained as { top_drivers: unknown[] };
    expect(rest).toMatchObject({ score, unattributed: 0 });
    expect(top_drivers).toHaveLength(997);
    const parked = await readTopic(system.endpoints, `${system.namespace}.scoring.dead-letters`);
    expect(parked).toEqual([]);
  }, 300_000);
});

describe('while a service does not come to it', () => {
  const suspended = async (meanwhile: () => Promise<void>) => {
    const { pid } = system.service('scoring').process;
    if (pid === undefined) throw new Error('scoring has no process');
    process.kill(pid, 'SIGSTOP');
    try {
      await meanwhile();
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  };
  const all = async (names: readonly RouteName[], requestOf: (name: RouteName) => Request) =>
    Promise.all(names.map(async (name) => ({ name, answer: await ask(name, requestOf(name)) })));

  test('a position that is not visible in time is 503 on every route that waits for one', async () => {
    const waiting = having('position_not_reached');
    expect(waiting.length).toBeGreaterThanOrEqual(5);
    const answers = await all(waiting, (name) => ({
      ...good(name),
      query: { ...good(name).query, min_position: '0-1000000' },
    }));
    for (const { answer } of answers) expectProblem(answer, 'position_not_reached');
  }, 60_000);

  const keyed = (name: string) => ({ headers: { 'idempotency-key': `late-${name}` } });
  /** A request of the route that is another one than the good one. */
  const otherThan = (name: RouteName): Request => {
    const { parameters = {}, ...example } = good(name);
    if ('ouId' in parameters) return { parameters, body: { rule_ids: [], updates: { active: true } } };
    if (Object.keys(parameters).length > 0)
      return {
        ...example,
        parameters: Object.fromEntries(Object.keys(parameters).map((one) => [one, unit.accountId])),
      };
    if (name === 'restoreConfiguration') return { ...example, body: { version: 2 } };
    return routeExamples[name]({ ...unit, mark: 'other' });
  };
  /** What is made and deleted, so that the request for it is late. */
  const doomed = {
    createRuleset: { list: 'listAllRulesets', delete: 'deleteRuleset' },
    createDecay: { list: 'listDecays', delete: 'deleteDecay' },
    createRule: { list: 'listRules', delete: 'deleteRule' },
    createEngagementRule: { list: 'listRules', delete: 'deleteRule' },
    createAccountRule: { list: 'listAccountRules', delete: 'deleteRule' },
    startChallenger: { list: 'listChallengers', delete: 'endChallenger' },
  } as const;
  const doomedNames = Object.keys(doomed) as (keyof typeof doomed)[];
  const markOf = (name: string) => `Doomed ${name}`;
  /** The full unit has no challengers, of which the other one has as many as it may have. */
  const placeOf = (name: string) => ({ inFull: name === 'startChallenger' });
  const making = (name: keyof typeof doomed): Request => {
    if (name === 'startChallenger')
      return {
        body: { name: markOf(name), changes: [] },
        headers: { 'idempotency-key': `doomed-${name}` },
        ...placeOf(name),
      };
    const named = name === 'createRuleset' || name === 'createDecay' ? 'name' : 'label';
    const body = { ...(good(name).body as object), [named]: markOf(name) };
    return { body, headers: { 'idempotency-key': `doomed-${name}` } };
  };

  test('a query is 504, and a command 504: sent again with its Idempotency-Key it takes effect once', async () => {
    expect(
      having(afterDeletion)
        .filter((name) => !isOfJob(name))
        .sort(),
    ).toEqual([...doomedNames].sort());
    const late = commands.filter((name) => !isOfJob(name));
    // The gateway asks for the accounts of a merge, and for an earlier configuration, before it sends the command.
    const asking = [...queries, 'mergeAccounts', 'restoreConfiguration'];
    await suspended(async () => {
      const answers = await Promise.all([
        all(queries, good),
        all(late, (name) => ({ ...good(name), ...keyed(name) })),
        all(doomedNames, (name) => making(name as keyof typeof doomed)),
      ]);
      for (const { name, answer } of answers.flat())
        expectProblem(answer, asking.includes(name) ? 'service_timeout' : 'reply_timeout');
    });
    // PUT and DELETE name what they lead to, so that they need no key.
    for (const name of late.filter((one) => ['POST', 'PATCH'].includes(routeNamed(one).method))) {
      const answer = await eventually(
        `${name} is answered`,
        async () => {
          const found = await ask(name, { ...good(name), ...keyed(name) });
          const { code } = found.body as { code?: string };
          return found.status < 500 && code !== 'request_in_progress' ? found : undefined;
        },
        60_000,
      );
      expect({ name, ...answer }).toMatchObject({
        name,
        status: Number(Object.keys(routeNamed(name).responses)[0]),
      });
      expectProblem(await ask(name, { ...otherThan(name), ...keyed(name) }), 'idempotency_key_reused');
    }
  }, 240_000);

  test.each(doomedNames)(
    '%s: what was made without an answer and deleted since is 409, and is not made again',
    async (name) => {
      const named = (item: Listed) => (item.name ?? item.label) === markOf(name);
      const list = async () =>
        (
          (
            await ask(doomed[name].list, {
              ...(name !== 'startChallenger' && { query: { limit: '100' } }),
              ...placeOf(name),
            })
          ).body as { data: { id: string }[] }
        ).data.filter(named);
      const id = await eventually('it is made', async () => (await list())[0]?.id, 60_000);
      expect(await ask(doomed[name].delete, { parameters: { id }, ...placeOf(name) })).toMatchObject({
        status: 204,
      });
      expectProblem(await ask(name, making(name)), afterDeletion);
      expect(await list()).toEqual([]);
    },
  );

  test('every query of a service that is away is 503, and the service comes back', async () => {
    const { process: stopped } = system.service('scoring');
    await stopped.stop('SIGKILL');
    for (const { answer } of await all(queries, good)) expectProblem(answer, 'service_unavailable');
    await stopped.start();
    await system.system.ready(60_000);
    expect((await ask('listRules', {})).status).toBe(200);
  }, 120_000);
});
