// The system answers every bad request with 4xx and a helpful sentence, never with 5xx; it returns hostile metadata unchanged; no
// process ends.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isPage, problem, type RouteName } from '@lead-scoring/contracts';
import {
  badBodies,
  badFields,
  badPaths,
  badQueries,
  withoutRepeats,
  type BadRequest,
} from './bad-requests.js';
import { isFullSize } from './full-size.js';
import { inParallel } from './ledger.js';
import { rawRequest } from './raw-request.js';
import { furnish, pathOf, routeExamples, routeNamed, routeNames, send, type Unit } from './route-examples.js';
import { startTestSystem, type Answer, type TestSystem } from './test-system.js';

let system: TestSystem;
let unit: Unit;
let pids: (number | undefined)[];

beforeAll(async () => {
  system = await startTestSystem();
  unit = await furnish(system, 'target', system.ouId);
  pids = system.system.services.map((service) => service.process.pid);
}, 120_000);

afterAll(() => system.stop(), 60_000);

const tables = [badBodies, badFields, badQueries, badPaths];
/** What earlier routes have had. */
const had = new Set<string>();
const tested = routeNames.filter((name) => {
  const { body, query, parameters } = routeNamed(name);
  return body ?? query ?? parameters;
});

describe('every route refuses with a 4xx, a code and a sentence', () => {
  test.each(tested)(
    '%s',
    async (name) => {
      const failures: string[] = [];
      const table = tables.flatMap((table) => {
        const requests = table(name, unit);
        return isFullSize ? requests : withoutRepeats(requests, had);
      });
      expect(table.length).toBeGreaterThan(0);
      await inParallel(table, 4, async (bad) => {
        const wrong = wrongWith(bad, await attempt(name, bad));
        if (wrong !== null) failures.push(`${bad.title}: ${wrong}`);
      });
      expect(failures).toEqual([]);
    },
    120_000,
  );
});

test('every path answers other methods with 405, a problem in the requested form, and Allow with its own methods', async () => {
  const failures: string[] = [];
  for (const path of new Set(routeNames.map((name) => routeNamed(name).path))) {
    const names = routeNames.filter((name) => routeNamed(name).path === path);
    const taken = names.map((name): string => routeNamed(name).method);
    const [name = 'listLeads'] = names;
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      if (taken.includes(method)) continue;
      const answer = await rawRequest(system.url, {
        method,
        path: pathOf(name, routeExamples[name](unit)),
        headers: { authorization: `Bearer ${unit.adminToken}`, accept: 'application/problem+json' },
      });
      const wrong = wrongWith({ title: method, path, right: [405], names: method }, answer);
      if (wrong !== null) failures.push(`${method} ${path}: ${wrong}`);
      const type = answer.headers.get('content-type') ?? '';
      if (!type.startsWith('application/problem+json')) failures.push(`${method} ${path}: is ${type}`);
      const allowed = (answer.headers.get('allow') ?? '').split(', ');
      if (!taken.every((one) => allowed.includes(one)))
        failures.push(`${method} ${path}: Allow is ${allowed.join()}`);
    }
  }
  expect(failures).toEqual([]);
}, 120_000);

describe('POST /ingest', () => {
  const event = { alias_kind: 'email', alias: 'bad@example.com', event_type: 'Page View' };
  const post = (body: unknown, path = '/ingest') =>
    system.request<{ code?: string; errors?: { path: string; message: string }[] }>(path, { body });
  const total = async () =>
    (await system.request<{ total: number }>('/events?alias=bad%40example.com&limit=1')).body.total;

  test.each<[string, unknown]>([
    ['no events', []],
    ['no events in events', { events: [] }],
    ['5,001 events', Array(5_001).fill(event)],
    ['another member beside events', { events: [event], name: 'x' }],
    ['no alias', { event_type: 'Page View' }],
    ['both forms of alias', { ...event, aliases: [{ alias_kind: 'email', alias: 'a@example.com' }] }],
    [
      '11 aliases',
      {
        event_type: 'Page View',
        aliases: Array.from({ length: 11 }, (_, n) => ({ alias_kind: 'cookie', alias: `c${n}` })),
      },
    ],
    ['an invalid e-mail address', { ...event, alias: 'no address' }],
    ['an invalid telephone number', { ...event, alias_kind: 'phone', alias: '12' }],
    ['an invalid alias kind', { ...event, alias_kind: 'E-Mail' }],
    ['an alias of white space', { ...event, alias_kind: 'cookie', alias: '   ' }],
    ['an alias with a line break', { ...event, alias_kind: 'cookie', alias: 'a\nb' }],
    ['an event type of white space', { ...event, event_type: ' \t' }],
    ['an event_id of 129 characters', { ...event, event_id: 'x'.repeat(129) }],
    ['a time without a zone', { ...event, timestamp: '2026-01-01T00:00:00' }],
    ['a day that does not exist', { ...event, timestamp: '2026-02-30T00:00:00Z' }],
    ['a time as a number', { ...event, timestamp: 1_700_000_000 }],
    ['25 hours in the future', { ...event, timestamp: new Date(Date.now() + 25 * 3_600_000).toISOString() }],
    ['metadata that is an array', { ...event, metadata: [] }],
    ['metadata that is null', { ...event, metadata: null }],
    ['metadata of 100,001 bytes', { ...event, metadata: { text: 'x'.repeat(100_001) } }],
    [
      'metadata of 2,001 keys',
      { ...event, metadata: Object.fromEntries(Array.from({ length: 2_001 }, (_, n) => [`k${n}`, 1])) },
    ],
    ['metadata of 33 levels', { ...event, metadata: nested(33) }],
  ])('%s: 400, and no event is accepted', async (_, body) => {
    const before = await total();
    const answer = await post(body);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: expect.any(String), detail: expect.stringMatching(/\w+ \w+/) },
    });
    expect(await total()).toBe(before);
  });

  test.each(['1e400', '-1e400', '9007199254740993'])(
    'the number %s, which no double can represent: 400 with its path in the body',
    async (number) => {
      const answer = await system.request<{ errors: { path: string }[] }>('/ingest', {
        body: `{"alias_kind":"email","alias":"bad@example.com","event_type":"Page View","metadata":{"deal":{"amount":${number}}}}`,
      });
      expect(answer.status).toBe(400);
      expect(answer.body.errors[0]?.path).toContain('metadata.deal.amount');
    },
  );

  test('of 1,000 events 37 are wrong: 400 names exactly those and no event is accepted; partial=true accepts the 963', async () => {
    const wrong = new Set(Array.from({ length: 37 }, (_, n) => n * 27));
    const events = Array.from({ length: 1_000 }, (_, n) => ({
      ...event,
      event_id: `partial-${n}`,
      ...(wrong.has(n) &&
        [{ alias_kind: 'é' }, { event_type: '' }, { timestamp: 'soon' }, { metadata: 5 }, { surplus: 1 }][
          n % 5
        ]),
    }));
    const before = await total();
    const refused = await post(events);
    expect(refused.status).toBe(400);
    const named = new Set((refused.body.errors ?? []).map(({ path }) => Number(/\d+/.exec(path)?.[0])));
    expect([...named].sort((a, b) => a - b)).toEqual([...wrong]);
    expect(await total()).toBe(before);

    const partly = await system.request<{
      accepted: number;
      rejected: { index: number; errors: unknown[] }[];
      position: string;
    }>('/ingest?partial=true', { body: events });
    expect(partly.status).toBe(202);
    expect(partly.body.accepted).toBe(963);
    expect(partly.body.rejected.map(({ index }) => index)).toEqual([...wrong]);
    const after = await system.request<{ total: number }>(
      `/events?alias=bad%40example.com&limit=1&min_position=${partly.body.position}`,
    );
    expect(after.body.total).toBe(before + 963);
  });

  test('NDJSON and CSV with broken lines: 400 names the line, and no event is accepted', async () => {
    const before = await total();
    for (const [path, type, body] of [
      ['/ingest', 'application/x-ndjson', `${JSON.stringify(event)}\n{"alias\n`],
      ['/ingest', 'application/x-ndjson', '\n\n'],
      ['/ingest', 'text/csv', 'alias_kind,alias,event_type\nemail,a@example.com,Page View\n'],
      ['/import', 'text/csv', 'alias_kind,alias,what\nemail,a@example.com,Page View\n'],
      ['/import', 'text/csv', 'alias_kind,alias,event_type\nemail,no address,Page View\n'],
      ['/import', 'text/csv', 'alias_kind,alias,event_type\n"email,a@example.com,Page View\n'],
      ['/import', 'text/csv', ''],
    ] as const) {
      const answer = await system.request(path, { body, headers: { 'content-type': type } });
      expect({ path, body, status: answer.status }).toEqual({
        path,
        body,
        status: path === '/ingest' && type === 'text/csv' ? 415 : 400,
      });
      expect(problem.safeParse(answer.body).error?.issues ?? []).toEqual([]);
    }
    expect(await total()).toBe(before);
  });
});

test('metadata with hostile keys and values is stored and returned unchanged', async () => {
  const hostile = [
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"prototype":1,"toString":"x","hasOwnProperty":null,"__defineGetter__":1}',
    '{"a.b":1,"a":{"b":2,"c.d":{"e.":3}},".":4,"..":5,"a..b":6}',
    '{"$set":{"score":1000000},"$where":"sleep(1000)","$ne":null,"$":1,"a":{"$inc":{"x":1},"$gt":""}}',
    '{"_bsontype":"ObjectId","id":{"_bsontype":"Binary","sub_type":3},"$ref":"leads","$id":1,"$db":"admin","r":{"$ref":"leads","$id":"x"}}',
    '{"$oid":"507f1f77bcf86cd799439011","$date":"2026-01-01T00:00:00Z","$numberLong":"1","d":{"$date":{"$numberLong":"1"}},"$binary":{"base64":"","subType":"00"}}',
    '{"":"empty","\\u0000":"nul","a\\u0000b":"\\u0000"," ":"space","\\n":"line","\\u2028":"\\u2029","\\"":"quote","\\\\":"backslash"}',
    '{"half":"\\ud800","\\udfff":"other half","pair":"\\ud83d\\ude00","composed":"\\u00e9","decomposed":"e\\u0301","bidi":"\\u202eabc","bom":"\\ufeff"}',
    '{"_id":1,"id":2,"ou":"x","lead_id":"y","offset":-1,"partition":99,"score":1e6,"type":"LeadScored","metadata":{"metadata":{}}}',
    '{"numbers":[0,1.5,5e-324,-1e-7,9007199254740991,-9007199254740991,0.1],"empty":[{},[],"",null,false]}',
    '{"html":"<script>alert(1)</script>","csv":"=cmd|\' /C calc\'!A0","sql":"\'; drop table leads; --","jndi":"${jndi:ldap://x}","format":"%s%n%x","path":"../../etc/passwd"}',
    JSON.stringify(nested(32)),
    JSON.stringify(Object.fromEntries(Array.from({ length: 1_990 }, (_, n) => [`key ${n}`, n]))),
    JSON.stringify({ ['k'.repeat(40_000)]: 'v'.repeat(40_000) }),
  ];
  const alias = 'hostile@example.com';
  const body = `[${hostile
    .map(
      (metadata, n) =>
        `{"alias_kind":"email","alias":"${alias}","event_type":"Hostile","event_id":"hostile-${n}","metadata":${metadata}}`,
    )
    .join(',')}]`;
  const sent = await system.request<{ position: string }>('/ingest', { body });
  expect(sent).toMatchObject({ status: 202, body: { accepted: hostile.length } });
  const read = await system.request<{ data: { event_id: string; metadata: unknown }[] }>(
    `/events?alias=${encodeURIComponent(alias)}&limit=100&min_position=${sent.body.position}`,
  );
  expect(read.status).toBe(200);
  for (const [n, metadata] of hostile.entries()) {
    const stored = read.body.data.find(({ event_id }) => event_id === `hostile-${n}`);
    expect(ordered(stored?.metadata)).toBe(ordered(JSON.parse(metadata)));
  }
  const { body: known } = await system.request<{ properties: string[] }>('/event-types/Hostile/properties');
  expect(known.properties).toEqual(
    expect.arrayContaining(['a.b', '$set', '__proto__', '_bsontype', '', '\u0000']),
  );
  const scored = await system.request<{ data: { aliases: { alias: string }[] }[] }>(
    `/leads/search?q=hostile&min_position=${sent.body.position}`,
  );
  expect(scored.body.data.map((lead) => lead.aliases[0]?.alias)).toEqual([alias]);
}, 60_000);

describe('after all of this', () => {
  test('no process was restarted, and each is ready', async () => {
    expect(system.system.services.map((service) => service.process.pid)).toEqual(pids);
    await system.system.ready(10_000);
  });

  test('no prototype is polluted: a body without its required fields is still refused', async () => {
    for (const name of ['createRuleset', 'createRule', 'createToken'] as const) {
      const answer = await system.request(routeNamed(name).path, { body: {} });
      expect(answer.status).toBe(400);
      expect(problem.safeParse(answer.body).error?.issues ?? []).toEqual([]);
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('good requests are served as before', async () => {
    for (const name of ['ingest', 'listLeads', 'listEvents', 'listRules', 'createRuleset'] as RouteName[])
      expect((await send(system, name, routeExamples[name](unit))).status).toBeLessThan(300);
  });
});

async function attempt(name: RouteName, bad: BadRequest): Promise<Answer> {
  return rawRequest(system.url, {
    method: routeNamed(name).method,
    path: bad.path,
    headers: {
      authorization: `Bearer ${unit.adminToken}`,
      // A route of a page answers with a page unless the client asks for a problem.
      ...(isPage(routeNamed(name)) && { accept: 'application/json' }),
      ...bad.headers,
    },
    ...(bad.body !== undefined && { body: bad.body }),
  });
}

function wrongWith(bad: BadRequest, answer: Answer): string | null {
  const { status, body } = answer;
  if (!bad.right.includes(status))
    return `${status} in place of ${bad.right.join(' or ')}: ${JSON.stringify(body).slice(0, 300)}`;
  if (status < 400) return null;
  const form = problem.safeParse(body);
  if (!form.success)
    return `${status} with a body that is not a problem: ${JSON.stringify(body).slice(0, 300)}`;
  const text = JSON.stringify(form.data);
  if (form.data.type !== `urn:lead-scoring:problem:${form.data.code}`) return `its type is ${form.data.type}`;
  if (form.data.status !== status) return `${status}, but its body says ${form.data.status}`;
  if (!/[a-z]{2,} [a-z]+/i.test(form.data.detail)) return `no sentence: ${form.data.detail}`;
  if (/node_modules|\n\s+at |\.[jt]s:\d+|Mongo|kafka|zod|undefined/i.test(text))
    return `shows details of the implementation: ${text.slice(0, 300)}`;
  if (bad.names !== undefined && !text.includes(bad.names))
    return `does not name ${bad.names}: ${text.slice(0, 300)}`;
  return null;
}

/** An object with this nesting depth, the object itself included. */
function nested(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = { end: true };
  for (let level = 1; level < levels; level += 1) value = { deeper: value };
  return value;
}

/** JSON with sorted keys; keeps an own property `__proto__`, which most comparisons ignore. */
function ordered(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(ordered).join(',')}]`;
  if (value === undefined) return 'undefined';
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${ordered((value as Record<string, unknown>)[key])}`).join(',')}}`;
}
