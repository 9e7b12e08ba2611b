// Commands that are answered: each takes effect once, however often it is sent and whatever dies meanwhile.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@lead-scoring/platform/waiting';
import { inParallel } from './ledger.js';
import { seededRandom } from './random.js';
import { startTestSystem, type Answer, type TestSystem } from './test-system.js';

interface Rule {
  id: string;
  label?: string;
  active: boolean;
  version: number;
}

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

/** Sends until there is an answer that says what became of it; 503 and 504 say that it may be sent again. */
const insist = (send: () => Promise<Answer>) =>
  eventually(
    'there is an answer',
    async () => {
      const answer = await send();
      return answer.status === 503 || answer.status === 504 ? undefined : answer;
    },
    90_000,
  );

describe('60 rules are created while scoring is killed three times', () => {
  const keys = Array.from({ length: 60 }, () => randomUUID());
  const create = (key: string) =>
    system.request<Rule>('/engagement-scoring/rules', {
      body: { event_type: 'Page View', weight: 1, label: key },
      headers: { 'idempotency-key': key },
      timeoutMs: 30_000,
    });
  const answered = new Map<string, string>();

  test('each exists exactly once: the one that its answer named', async () => {
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

  test('the same Idempotency-Key again is answered the same and adds nothing; with another body it is 422', async () => {
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

  test('ten at once with one key are one', async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 10 }, () => insist(() => create(key))));
    const made = answers.filter(({ status }) => status === 201).map(({ body }) => (body as Rule).id);
    expect(made.length).toBeGreaterThan(0);
    expect(new Set(made).size).toBe(1);
    // One that came while another was still being worked on may be told so.
    for (const { status } of answers) expect([201, 409]).toContain(status);
    expect((await rules()).filter(({ label }) => label === key)).toHaveLength(1);
  }, 60_000);
});

describe('bulk updates', () => {
  const bulk = (ruleIds: string[], active: boolean) =>
    system.request<{ updated_count: number; updated_rules: string[] }>(
      `/api/v1/ou/${system.ouId}/scoring-rules/bulk`,
      { method: 'PATCH', body: { rule_ids: ruleIds, updates: { active } }, timeoutMs: 30_000 },
    );

  test('50 overlapping ones in parallel, one in five with an unknown id: each changes all of its rules or none', async () => {
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

  test('none are none; more than 500 are refused; a unit that is not there is 404', async () => {
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
