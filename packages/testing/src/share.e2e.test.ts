// Share links on the running system: only an authorised caller can make one, anyone with the link can open it, it shows the
// current score, and no token is in a log or database. `npm run test:chaos` runs it with all guesses.
import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { lettersAndDigits, problem, routes, shareLifetimeMs } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { isFullSize } from './full-size.js';
import { rebuild } from './rebuild.js';
import { furnish, send, type Unit } from './route-examples.js';
import { storedDocuments } from './stored-documents.js';
import { startTestSystem, type TestSystem } from './test-system.js';

const guesses = isFullSize ? 11_000 : 2_200;

let system: TestSystem;
let unit: Unit;
/** Every token that was ever used. */
const tokens: string[] = [];

beforeAll(async () => {
  // At this level every request is logged.
  system = await startTestSystem({ environment: { LOG_LEVEL: 'debug' } });
  unit = await furnish(system, 'shared', system.ouId);
  tokens.push(unit.shareToken);
}, 120_000);

afterAll(() => system.stop(), 60_000);

interface NewShare {
  token: string;
  expires_at: string;
  share_url: string;
}

async function share(leadId = unit.leadId, headers: Record<string, string> = {}): Promise<NewShare> {
  const answer = await send(system, 'createShare', { parameters: { id: leadId } }, { headers });
  expect(answer.status).toBe(201);
  expect(routes.createShare.responses[201].schema.safeParse(answer.body).error).toBeUndefined();
  const made = answer.body as NewShare;
  tokens.push(made.token);
  return made;
}

const read = (token: string) =>
  system.request<Record<string, unknown>>(`/public/score-explain/${token}`, { token: null });

const keptPrivate = {
  'cache-control': 'private, no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow',
  'x-content-type-options': 'nosniff',
};

function expectKeptPrivate(headers: Headers): void {
  expect(Object.fromEntries(Object.keys(keptPrivate).map((name) => [name, headers.get(name)]))).toEqual(
    keptPrivate,
  );
}

test.each([
  ['profile', 'Profile score of'],
  ['deal', 'Deal score of'],
  ['account', 'Account score of'],
])(
  'a link to the %s score shows that one, and the same key makes no link to another score',
  async (scoreType, title) => {
    const parameters = { id: unit.leadId };
    const make = (score_type: string, key: string) =>
      send(
        system,
        'createShare',
        { parameters, query: { score_type } },
        { headers: { 'idempotency-key': key } },
      );
    const key = randomUUID();
    const made = await make(scoreType, key);
    expect(made.status).toBe(201);
    const { token } = made.body as NewShare;
    tokens.push(token);
    expect((await make(scoreType, key)).body).toEqual(made.body);
    expect(await make('engagement', key)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });
    expect(await make('interest', randomUUID())).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
    const scoring = await send(system, 'explainScore', {
      parameters: { leadID: unit.leadId },
      query: { score_type: scoreType },
    });
    const { lead_name, score, snapshot, ...more } = scoring.body as Record<string, unknown>;
    const { name, leads, roll_up } = (more.account ?? {}) as Record<string, unknown>;
    const ofType =
      scoreType === 'account' ? { account: { name, leads, roll_up } } : { entries_total: more.entries_total };
    const opened = await read(token);
    expect(opened).toMatchObject({
      status: 200,
      body: { score_type: scoreType, lead_name, score, snapshot, ...ofType },
    });
    expect(routes.readShare.responses[200].schema.safeParse(opened.body).error).toBeUndefined();
    const page = await fetch(`${system.url}/share/${token}`, { headers: { accept: 'text/html' } });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(title)]);
  },
);

describe('a link', () => {
  test('lasts seven days, opens without a credential, and shows the explanation of scoring', async () => {
    const before = Date.now();
    const { token, expires_at, share_url } = await share();
    const after = Date.now();
    expect(Date.parse(expires_at)).toBeGreaterThanOrEqual(before + shareLifetimeMs);
    expect(Date.parse(expires_at)).toBeLessThanOrEqual(after + shareLifetimeMs);
    expect(share_url).toBe(`${system.url}/share/${token}`);
    // 62 ^ 40 are more than 2 ^ 238.
    expect(token).toMatch(/^lsh_[0-9A-Za-z]{40}$/);
    const answer = await read(token);
    expect(answer.status).toBe(200);
    expectKeptPrivate(answer.headers);
    expect(Object.keys(answer.body).sort()).toEqual(
      ['decay_applied', 'lead_name', 'range_hours', 'score', 'snapshot', 'top_drivers'].sort(),
    );
    const explained = await send(system, 'explainScore', { parameters: { leadID: unit.leadId } });
    const { lead_name, score, top_drivers, snapshot, decay_applied, range_hours } = explained.body as Record<
      string,
      unknown
    >;
    expect(answer.body).toEqual({
      lead_name,
      score,
      top_drivers: (top_drivers as Record<string, unknown>[]).map(
        ({ rule_id, event_type, count, weight, total, filter_label, label }) => ({
          rule_id,
          event_type,
          count,
          weight,
          total,
          ...(filter_label !== undefined && { filter_label }),
          ...(label !== undefined && { label }),
        }),
      ),
      snapshot,
      decay_applied,
      range_hours,
    });
  });

  test('is a page in a browser, without scripts and external resources, and offers its data', async () => {
    const { share_url, token } = await share();
    const page = await fetch(share_url, { headers: { accept: 'text/html' } });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expectKeptPrivate(page.headers);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).toMatch(/frame-ancestors 'none'/);
    expect(policy).not.toMatch(/unsafe|script-src|https?:|\*/);
    const html = await page.text();
    expect(html).toContain('Person shared');
    expect(html).not.toMatch(/<script|javascript:| on\w+=/i);
    expect(Buffer.byteLength(html)).toBeLessThan(50_000);
    for (const [path, type] of [
      [`/public/score-explain/${token}/csv`, 'text/csv; charset=utf-8'],
      [`/public/score-explain/${token}/preview.png`, 'image/png'],
    ] as const) {
      expect(html).toContain(`${system.url}${path}`);
      const answer = await fetch(`${system.url}${path}`);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
      expectKeptPrivate(answer.headers);
      await answer.arrayBuffer();
    }
  });

  test('that is unknown is 404, with a page for browsers and a problem for programs', async () => {
    const people = await fetch(`${system.url}/share/lsh_unknown`, { headers: { accept: 'text/html' } });
    expect([people.status, people.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expectKeptPrivate(people.headers);
    expect(await people.text()).toMatch(/<h1>.+<\/h1>/);
    const program = await read('lsh_unknown');
    expect(program).toMatchObject({ status: 404, body: { code: 'share_not_found' } });
    expect(problem.safeParse(program.body).error).toBeUndefined();
    expectKeptPrivate(program.headers);
  });

  test('that was made just before the score changes shows the new score afterwards', async () => {
    const { token } = await share();
    const { score } = (await read(token)).body as { score: number };
    const sent = await send(system, 'ingest', {
      body: { alias_kind: 'email', alias: unit.alias, event_type: unit.eventType },
    });
    expect(sent.status).toBe(202);
    const shown = await eventually('the link shows another score', async () => {
      const { body } = await read(token);
      return body['score'] === score ? undefined : body;
    });
    expect(shown).toMatchObject({ score: score + 7, top_drivers: [{ total: score + 7, weight: 7 }] });
  });

  test('that is requested twice with one Idempotency-Key is one link', async () => {
    const headers = { 'idempotency-key': 'share-once' };
    const first = await share(unit.leadId, headers);
    expect(await share(unit.leadId, headers)).toEqual(first);
    expect((await share()).token).not.toBe(first.token);
  });

  test('that is revoked, by its token or its id, is 404 at once, as JSON and as a page', async () => {
    const [byToken, byId] = [await share(), await share()];
    const listed = await send(system, 'listShares', { parameters: { id: unit.leadId } });
    const { data } = listed.body as { data: { id: string; last_four: string }[] };
    expect(JSON.stringify(listed.body)).not.toContain(byId.token);
    const id = data.find(({ last_four }) => byId.token.endsWith(last_four))?.id ?? '';
    for (const [name, { token }] of [
      [byToken.token, byToken],
      [id, byId],
    ] as const) {
      expect((await send(system, 'revokeShare', { parameters: { token: name } })).status).toBe(204);
      expect((await read(token)).status).toBe(404);
      expect((await system.request(`/share/${token}`, { token: null })).status).toBe(404);
    }
  });

  test('cannot be made for an unknown lead, nor without a credential', async () => {
    const nobody = { parameters: { id: '00000000-0000-4000-8000-000000000000' } };
    expect(await send(system, 'createShare', nobody)).toMatchObject({
      status: 404,
      body: { code: 'lead_not_found' },
    });
    const lead = { parameters: { id: unit.leadId } };
    expect((await send(system, 'createShare', lead, { token: null })).status).toBe(401);
  });
});

test('while share and notification are rebuilt, a link and a simulation answer as they did before', async () => {
  const { token } = await share();
  // A fixed range, so that the answers do not change with the time at which they are given.
  const simulated = {
    parameters: { id: unit.triggerId },
    body: { from: '2020-01-01T00:00:00.000Z', to: new Date().toISOString() },
  };
  const reads = [() => read(token), () => send(system, 'simulateTrigger', simulated)].map(
    (ask) => async () => {
      const { status, body } = await ask();
      return { status, body };
    },
  );
  const before = await Promise.all(reads.map((ask) => ask()));
  expect(before).toMatchObject([
    { status: 200 },
    { status: 200, body: { leads_examined: 5, truncated: false } },
  ]);
  const over = new AbortController();
  const watching = reads.map(async (ask, index) => {
    let answers = 0;
    for (; !over.signal.aborted; answers += 1) expect(await ask()).toEqual(before[index]);
    return answers;
  });
  await rebuild(system, ['share', 'notification'], 120_000);
  over.abort();
  for (const answers of await Promise.all(watching)) expect(answers).toBeGreaterThan(0);
}, 180_000);

test(`${guesses} guesses are all 404, and a nearly right one gets the same answer as any other`, async () => {
  const { token } = await share();
  const random = () => `lsh_${lettersAndDigits(randomBytes(32), 40)}`;
  const near = (n: number) => {
    const at = 4 + (n % 40);
    return token.slice(0, at) + (token[at] === 'x' ? 'y' : 'x') + token.slice(at + 1);
  };
  const ofTheMoment = ['date', 'x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'ratelimit'];
  /** The parts of the answer that do not differ between any two answers. */
  const answerTo = async (guess: string) => {
    const { status, headers, body } = await read(guess);
    const kept = [...headers].filter(([name]) => !ofTheMoment.includes(name));
    return JSON.stringify([status, kept, { ...body, request_id: '' }]);
  };
  const answers = new Map<string, number>();
  let next = 0;
  const guess = async () => {
    for (let n = next++; n < guesses; n = next++) {
      const answer = await answerTo(n % 11 === 0 ? near(n) : random());
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 32 }, guess));
  // All answers are the same, so that their length and text do not show how many characters of a guess are right.
  expect([...answers]).toEqual([[expect.stringMatching(/^\[404,/), guesses]]);
  expect((await read(token)).status).toBe(200);
}, 300_000);

test('no token is in any log or database', async () => {
  for (const { name, logFile } of system.system.services) {
    const text = await readFile(logFile, 'utf8');
    if (name === 'gateway') expect(text).toContain('/share/{token}');
    for (const token of tokens) expect({ name, holds: text.includes(token) }).toEqual({ name, holds: false });
  }
  for (const service of ['gateway', 'share']) {
    const stored = await storedDocuments(system.endpoints, `${system.namespace}_${service}`);
    expect(stored.size).toBeGreaterThan(0);
    for (const documents of stored.values())
      for (const bytes of documents.values())
        for (const token of tokens) expect(Buffer.from(bytes).includes(token)).toBe(false);
  }
});
