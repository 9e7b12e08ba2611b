// An answered command takes effect once, however often it is sent and whichever process dies meanwhile.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { leadIdOf } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { seededRandom } from '@lead-scoring/start/random';
import { isFullSize } from './full-size.js';
import { inParallel } from './ledger.js';
import { readTopic } from './public-topics.js';
import { startTestSystem, type Answer, type TestSystem } from './test-system.js';

interface Rule {
  id: string;
  label?: string;
  active: boolean;
  version: number;
}

interface Activation {
  active: boolean;
  rules: { rule_id: string }[];
}

/** Scoring is killed after every 15 of them but the last. */
const createdRules = isFullSize ? 60 : 30;
const overlappingCalls = isFullSize ? 200 : 50;

let system: TestSystem;

beforeAll(async () => {
  system = await startTestSystem();
}, 120_000);

afterAll(() => system.stop(), 60_000);

const rules = async (): Promise<Rule[]> => {
  const found: Rule[] = [];
  for (let page = 1; ; page += 1) {
    const { body } = await system.request<{ data: Rule[]; total: number }>(
      `/engagement-scoring/rules?limit=100&page=${page}`,
    );
    found.push(...body.data);
    if (body.data.length < 100) return found;
  }
};

/** Sends the request until its answer is final: 503, 504 and the 409 of a request that is still being handled are not. */
const insist = (send: () => Promise<Answer>) =>
  eventually(
    'there is an answer',
    async () => {
      const answer = await send();
      const { code } = answer.body as { code?: string };
      return [503, 504].includes(answer.status) || code === 'request_in_progress' ? undefined : answer;
    },
    90_000,
  );

describe(`${createdRules} rules are created while scoring is killed again and again`, () => {
  const keys = Array.from({ length: createdRules }, () => randomUUID());
  const create = (key: string) =>
    system.request<Rule>('/engagement-scoring/rules', {
      body: { event_type: 'Page View', weight: 1, label: key },
      headers: { 'idempotency-key': key },
      timeoutMs: 30_000,
    });
  const answered = new Map<string, string>();

  test('each exists exactly once, with the id of its answer', async () => {
    const { process } = system.service('scoring');
    let created = 0;
    await inParallel(keys, 6, async (key) => {
      const answer = await insist(() => create(key));
      expect(answer).toMatchObject({ status: 201, body: { label: key } });
      answered.set(key, (answer.body as Rule).id);
      created += 1;
      if (created % 15 === 0 && created < keys.length) process.kill('SIGKILL');
    });
    const listed = await rules();
    expect(listed.map(({ id }) => id).sort()).toEqual([...answered.values()].sort());
    expect(new Set(listed.map(({ label }) => label)).size).toBe(keys.length);
  }, 240_000);

  test('a repeated Idempotency-Key gets the same answer and adds no rule; with another body it is 422', async () => {
    await inParallel(keys.slice(0, 20), 5, async (key) => {
      expect(await create(key)).toMatchObject({ status: 201, body: { id: answered.get(key) } });
      const other = await system.request('/engagement-scoring/rules', {
        body: { event_type: 'Page View', weight: 2, label: key },
        headers: { 'idempotency-key': key },
      });
      expect(other).toMatchObject({ status: 422, body: { status: 422 } });
    });
    expect(await rules()).toHaveLength(keys.length);
  }, 60_000);

  test('ten concurrent requests with one key create one rule', async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 10 }, () => insist(() => create(key))));
    const made = answers.filter(({ status }) => status === 201).map(({ body }) => (body as Rule).id);
    expect(made.length).toBeGreaterThan(0);
    expect(new Set(made).size).toBe(1);
    // A request that came while another was being handled may be answered 409.
    for (const { status } of answers) expect([201, 409]).toContain(status);
    expect((await rules()).filter(({ label }) => label === key)).toHaveLength(1);
  }, 60_000);
});

describe('a lead is deleted', () => {
  const email = 'grace@example.com';
  const send = (events: object[]) =>
    system
      .request<{ position: string }>('/ingest', { body: events })
      .then(({ body: { position } }) => position);
  const event = (event_id: string, aliases: { alias_kind: string; alias: string }[]) => ({
    event_id,
    aliases,
    event_type: 'Webinar',
  });
  const own = { alias_kind: 'email', alias: email };
  const cookie = { alias_kind: 'cookie', alias: 'grace' };
  const idOf = ({ alias_kind, alias }: typeof own) => leadIdOf(system.ouId, alias_kind, alias);
  const paths = () => [
    `/score/${idOf(own)}`,
    `/lead/${idOf(own)}/score-explain`,
    `/events/${idOf(own)}`,
    `/leads/${idOf(own)}/shares`,
  ];
  const remove = (key: string) =>
    system.request(`/lead/${idOf(own)}`, { method: 'DELETE', headers: { 'idempotency-key': key } });
  const score = (of: typeof own, position: string) =>
    system.request<{ score: number }>(`/score/${idOf(of)}?min_position=${position}`);
  const firstKey = randomUUID();
  let link: string;

  beforeAll(async () => {
    await system.request('/engagement-scoring/rules', { body: { event_type: 'Webinar', weight: 5 } });
    const position = await send([event('1', [own, cookie]), event('2', [own]), event('3', [own])]);
    expect((await score(own, position)).body.score).toBe(15);
    const shared = await system.request<{ token: string }>(`/leads/${idOf(own)}/share-explain`, {
      method: 'POST',
    });
    link = `/public/score-explain/${shared.body.token}`;
    expect((await system.request(link, { token: null })).status).toBe(200);
  }, 60_000);

  test('and is 404 on every route that showed it, its share link included', async () => {
    expect(await insist(() => remove(firstKey))).toMatchObject({ status: 204, body: '' });
    expect((await system.request(`/events/${idOf(own)}`)).status).toBe(404);
    await eventually(
      'the lead is gone everywhere',
      async () => {
        const answers = await Promise.all(
          [...paths(), link].map(async (path) => (await system.request(path)).status),
        );
        return answers.every((status) => status === 404) ? true : undefined;
      },
      30_000,
    );
    for (const [list, q] of [
      ['/leads/search?q=', email],
      ['/events?alias=', email],
    ] as const)
      expect((await system.request(`${list}${q}`)).body).toMatchObject({ data: [], total: 0 });
    expect(await remove(randomUUID())).toMatchObject({ status: 404, body: { code: 'lead_not_found' } });
  }, 60_000);

  test('and does not return with a repeated event; a new event of its alias creates a new lead with score zero', async () => {
    const position = await send([event('1', [own]), event('4', [own]), event('5', [cookie])]);
    expect((await score(own, position)).body.score).toBe(5);
    expect((await score(cookie, position)).body.score).toBe(5);
    const explained = await system.request(`/lead/${idOf(own)}/score-explain`);
    expect(explained.body).toMatchObject({ score: 5, entries_total: 1, unattributed: 0 });
    expect((await system.request(link, { token: null })).status).toBe(404);
  }, 60_000);

  test('once: the repeated request gets the same answer, and does not delete the new lead', async () => {
    expect((await remove(firstKey)).status).toBe(204);
    expect((await system.request(`/events/${idOf(own)}`)).body).toMatchObject({ total: 1 });
  });
});

describe('bulk updates', () => {
  const bulk = (ruleIds: string[], active: boolean, key: string = randomUUID()) =>
    system.request<{ updated_count: number; updated_rules: string[] }>(
      `/api/v1/ou/${system.ouId}/scoring-rules/bulk`,
      {
        method: 'PATCH',
        body: { rule_ids: ruleIds, updates: { active } },
        headers: { 'idempotency-key': key },
        timeoutMs: 30_000,
      },
    );

  test('50 overlapping calls in parallel, one in five with an unknown id: each changes all of its rules or none', async () => {
    const ids = (await rules()).map(({ id }) => id);
    await insist(() => bulk(ids, true));
    const before = new Map((await rules()).map((rule) => [rule.id, rule]));
    const random = seededRandom(19);
    const calls = Array.from({ length: 50 }, (_, n) => ({
      ids: Array.from({ length: 10 }, () => random.pick(ids)),
      unknown: n % 5 === 0,
      active: random.next() < 0.5,
    }));
    const changed = new Set<string>();
    await inParallel(calls, 10, async ({ ids: some, unknown, active }) => {
      const answer = await insist(() => bulk(unknown ? [...some, randomUUID()] : [...some, ...some], active));
      if (unknown) {
        expect(answer.status).toBe(404);
        return;
      }
      const distinct = [...new Set(some)];
      expect(answer).toMatchObject({ status: 200, body: { updated_count: distinct.length } });
      expect([...(answer.body as { updated_rules: string[] }).updated_rules].sort()).toEqual(distinct.sort());
      for (const id of distinct) changed.add(id);
    });
    for (const rule of await rules()) if (!changed.has(rule.id)) expect(rule).toEqual(before.get(rule.id));
    const last = await insist(() => bulk(ids.slice(0, 20), false));
    expect(last.status).toBe(200);
    const after = new Map((await rules()).map((rule) => [rule.id, rule.active]));
    for (const id of ids.slice(0, 20)) expect(after.get(id)).toBe(false);
  }, 120_000);

  test(`${String(overlappingCalls)} overlapping calls while scoring and the gateway are killed: each record on the log has all rules of one call`, async () => {
    const ids = (await rules()).map(({ id }) => id);
    const random = seededRandom(1_019);
    const calls = Array.from({ length: overlappingCalls }, () => ({
      ids: [...new Set(Array.from({ length: 10 }, () => random.pick(ids)))].sort(),
      active: random.next() < 0.5,
      key: randomUUID(),
    }));
    const before = (await activations()).length;
    const state = new Map((await rules()).map(({ id, active }) => [id, active]));
    const processes = [system.service('scoring').process, system.service('gateway').process];
    let answered = 0;
    await inParallel(calls, 50, async ({ ids: some, active, key }) => {
      const { status, body } = await insist(() => bulk([...some, ...some], active, key));
      expect({ status, body }).toMatchObject({ status: 200, body: { updated_count: some.length } });
      expect([...(body as { updated_rules: string[] }).updated_rules].sort()).toEqual(some);
      answered += 1;
      if (answered % Math.ceil(overlappingCalls / 4) === 0 && answered < overlappingCalls)
        processes[Math.floor((4 * answered) / overlappingCalls) % 2]?.kill('SIGKILL');
    });
    await system.system.ready(120_000);
    const recorded = (await activations()).slice(before);
    expect(recorded.length).toBeGreaterThan(0);
    for (const { active, rules: changed } of recorded) {
      const names = changed.map(({ rule_id }) => rule_id).sort();
      // A record lists the rules that its call changed; a rule that already had the requested state is not listed.
      const isOfOneCall = calls.some(
        (call) =>
          call.active === active &&
          JSON.stringify(call.ids.filter((id) => state.get(id) !== active)) === JSON.stringify(names),
      );
      expect({ names, isOfOneCall }).toEqual({ names, isOfOneCall: true });
      for (const id of names) state.set(id, active);
    }
    for (const { id, active } of await rules()) expect([id, active]).toEqual([id, state.get(id)]);
  }, 240_000);

  const activations = async () =>
    (await readTopic<Activation>(system.endpoints, `${system.namespace}.scoring.events`))
      .filter(({ type }) => type === 'RulesActivationChanged')
      .map(({ payload }) => payload);

  test('of no rules change none; of more than 500 are refused; in an unknown unit are 404', async () => {
    expect(await bulk([], true)).toMatchObject({
      status: 200,
      body: { updated_count: 0, updated_rules: [] },
    });
    expect(
      (
        await bulk(
          Array.from({ length: 501 }, () => randomUUID()),
          true,
        )
      ).status,
    ).toBe(400);
    const elsewhere = await system.request(`/api/v1/ou/${randomUUID()}/scoring-rules/bulk`, {
      method: 'PATCH',
      body: { rule_ids: [], updates: {} },
    });
    expect(elsewhere.status).toBe(404);
  });
});
