// Every declared route is served in its declared form, and no other route is served.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@lead-scoring/platform/waiting';
import {
  leadIdOf,
  leadParametersOf,
  openApiDocument,
  problem,
  recordDeclarations,
  serviceNames,
  servicesWithJobs,
  type Actor,
  type routeDeclarations,
  type RouteDeclaration,
  type ServiceName,
  type Warning,
  type RouteName,
} from '@lead-scoring/contracts';
import { consumerExamples, followScores, untilScoresAgree } from './example-consumers.js';
import { readTopic, type TopicRecord } from './public-topics.js';
import { rawRequest } from './raw-request.js';
import {
  furnish,
  missingExamples,
  noJobRuns,
  pathOf,
  routeExamples,
  routeNamed,
  routeNames,
  send,
  type Unit,
} from './route-examples.js';
import { startTestSystem, type TestSystem } from './test-system.js';

let system: TestSystem;
let unit: Unit;
const served = new Map<RouteName, number>();

beforeAll(async () => {
  system = await startTestSystem();
  unit = await furnish(system, 'walk', system.ouId);
}, 120_000);

afterAll(() => system.stop(), 60_000);

/** Changes of the whole organisation need a token for every unit. */
const ofOrganisation: readonly RouteName[] = ['changeLimits'];
const tokenFor = (name: RouteName) => (ofOrganisation.includes(name) ? system.token : unit.adminToken);

/** DELETE routes come last, because other routes need the resources that they delete. */
const inOrder = [...routeNames].sort(
  (one, other) => Number(routeNamed(one).method === 'DELETE') - Number(routeNamed(other).method === 'DELETE'),
);

test('every declared route has an example', () => {
  expect(missingExamples()).toEqual([]);
});

describe('every declared route is served', () => {
  test.each(inOrder)('%s: a good request gets the declared success, in the declared form', async (name) => {
    const { responses, problems } = routeNamed(name);
    if (problems.includes('job_running')) await noJobRuns(system, unit);
    const answer = await send(system, name, routeExamples[name](unit), {
      token: tokenFor(name),
      headers: { 'x-request-id': `walk-of-${name}` },
    });
    const success = Object.keys(responses)
      .map(Number)
      .filter((status) => status < 300);
    expect({
      status: answer.status,
      body: success.includes(answer.status) ? 'as declared' : answer.body,
    }).toEqual({
      status: expect.any(Number),
      body: 'as declared',
    });
    served.set(name, answer.status);
    const declared = responses[answer.status];
    if (declared?.schema) {
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(declared.schema.safeParse(answer.body).error?.issues ?? []).toEqual([]);
    } else if (declared?.contentType !== undefined) {
      expect(answer.headers.get('content-type')).toContain(declared.contentType);
    } else {
      expect(answer.body).toBe('');
    }
  });

  test('an answer has the id of its request, the rate limit, the remaining requests and the time of the reset', async () => {
    const answer = await send(
      system,
      'listLeads',
      {},
      { token: unit.adminToken, headers: { 'x-request-id': 'walk-1' } },
    );
    expect(answer.headers.get('x-request-id')).toBe('walk-1');
    expect(Number(answer.headers.get('x-ratelimit-limit'))).toBeGreaterThan(0);
    expect(Number(answer.headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0);
    expect(Number(answer.headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now() / 1_000 - 60);
  });
});

describe('an id whose alias was linked to another lead names that lead', () => {
  const ofLead = routeNames.filter((name) => {
    const { path, query } = leadParametersOf(routeNamed(name));
    return path.length + query.length > 0;
  });
  let oldId: string;
  let position: string;

  beforeAll(async () => {
    const cookie = `cookie of ${unit.mark}`;
    oldId = leadIdOf(unit.ouId, 'cookie', cookie);
    const answer = await system.request<{ position: string }>('/ingest', {
      token: unit.adminToken,
      body: {
        aliases: [
          { alias_kind: 'email', alias: unit.alias },
          { alias_kind: 'cookie', alias: cookie },
        ],
        event_type: unit.eventType,
      },
    });
    ({ position } = answer.body);
    // A separate command links the aliases, after the event that named both.
    await eventually('the alias is linked', async () => {
      const { status } = await system.request(`/events/${oldId}?min_position=${position}`, {
        token: unit.adminToken,
      });
      return status === 200 ? true : undefined;
    });
  });

  test('every route with a lead’s id declares it as a lead’s id', () => {
    const named = routeNames.filter((name) => {
      const { path, query } = routeNamed(name);
      return /^\/(leads?|score|events)\/\{/.test(path) || 'lead_id' in (query?.shape ?? {});
    });
    expect(ofLead).toEqual(named);
    expect(ofLead.length).toBeGreaterThanOrEqual(9);
  });

  // What these do cannot be done twice: tests of merges and deletions do it by a merged id.
  const once = ['deleteLead', 'removeLeadAlias', 'unmergeLead'];
  test.each(ofLead.filter((name) => !once.includes(name)))(
    '%s: the old id gets the same answer as the lead’s own id',
    async (name) => {
      const { path, query } = leadParametersOf(routeNamed(name));
      const ask = async (id: string) => {
        const example = routeExamples[name](unit);
        const withId = (names: readonly string[]) => Object.fromEntries(names.map((one) => [one, id]));
        const { status, body } = await send(
          system,
          name,
          {
            ...example,
            ...(path.length > 0 && { parameters: { ...example.parameters, ...withId(path) } }),
            ...(query.length > 0 && { query: { ...example.query, ...withId(query) } }),
          },
          { token: unit.adminToken },
        );
        // Fields that differ in every answer: new secrets and times, the end of a forecast, and the score that a reset has ended.
        const { token, share_url, expires_at, at, until, score_reset_at, previous_score, ...rest } =
          body as Record<string, unknown>;
        const made = [token, share_url, expires_at, at, until, score_reset_at, previous_score];
        return { status, body: rest, made: made.map((one) => typeof one) };
      };
      const own = await ask(unit.leadId);
      expect(own.status).toBeLessThan(300);
      const { responses, kind } = routeNamed(name);
      const isOfPath = path.length > 0 && kind === 'query' && responses[200]?.contentType === undefined;
      expect(await ask(oldId)).toEqual(
        isOfPath ? { ...own, body: { ...own.body, merged_into: unit.leadId } } : own,
      );
    },
  );

  test.each(ofLead.filter((name) => leadParametersOf(routeNamed(name)).path.length > 0))(
    '%s: an e-mail address in place of an id is refused as an address',
    async (name) => {
      const example = routeExamples[name](unit);
      const [parameter = ''] = leadParametersOf(routeNamed(name)).path;
      const answer = await send(
        system,
        name,
        { ...example, parameters: { ...example.parameters, [parameter]: unit.alias } },
        { token: unit.adminToken },
      );
      expect(answer.status).toBe(400);
      expect(JSON.stringify(answer.body)).toContain(
        "is an address, not a lead's id; find the lead with GET /leads/search?q=…",
      );
    },
  );
});

test('an event type that rules and triggers use is protected, and a dry run counts its events and scored events', async () => {
  const name = encodeURIComponent(unit.eventType);
  const token = unit.adminToken;
  await eventually('the rule and the triggers protect the type', async () => {
    const { body } = await system.request<routeDeclarations.EventTypeSettings[]>('/settings/ou/event-types', {
      token,
    });
    const entry = body.find((one) => one.name === unit.eventType);
    const { rules, triggers } = entry?.protected_by ?? { rules: [], triggers: [] };
    return (
      entry?.deletable === false &&
      rules.some(({ id }) => id === unit.ruleId) &&
      triggers.some(({ id }) => id === unit.sequenceId)
    );
  });
  const { body } = await system.request<{ events_count: number; event_scores_count: number }>(
    `/settings/ou/event-types/${name}/dry-run-delete`,
    { token },
  );
  const { events_count, event_scores_count } = body;
  expect(events_count).toBeGreaterThan(0);
  expect(event_scores_count).toBeGreaterThan(0);
  expect(event_scores_count).toBeLessThanOrEqual(events_count);
});

describe('a successful answer carries a warning', () => {
  const warningsIn = (answer: { status: number; body: unknown }) => {
    expect(answer.status).toBe(201);
    return ((answer.body as { warnings?: Warning[] }).warnings ?? []).map(({ code }) => code);
  };
  const rule = (body: Record<string, unknown>) =>
    system.request('/engagement-scoring/rules', { token: unit.adminToken, body });

  test('for a rule that exists already', async () => {
    const body = { event_type: `Twice ${unit.mark}`, weight: 4 };
    expect(warningsIn(await rule(body))).toEqual([]);
    expect(warningsIn(await rule(body))).toEqual(['identical_rule']);
  });

  test('for a rule of an event type without events whose name resembles a type with events', async () => {
    expect(warningsIn(await rule({ event_type: `Tipe ${unit.mark}`, weight: 5 }))).toEqual([
      'event_type_not_seen',
    ]);
    expect(warningsIn(await rule({ event_type: unit.eventType, weight: 6 }))).toEqual([]);
    const hide = (hidden: boolean) =>
      system.request(`/settings/ou/event-types/${encodeURIComponent(unit.eventType)}`, {
        method: 'PUT',
        token: unit.adminToken,
        body: { hidden },
      });
    expect((await hide(true)).status).toBe(204);
    expect(warningsIn(await rule({ event_type: unit.eventType, weight: 17 }))).toEqual([]);
    expect(warningsIn(await rule({ event_type: `Tipe ${unit.mark}`, weight: 18 }))).toEqual([]);
    expect((await hide(false)).status).toBe(204);
  });

  test('for a channel whose settings the service lacks', async () => {
    const channel = (type: string, config: Record<string, string>) =>
      system.request('/notification-channels', {
        token: unit.adminToken,
        body: { name: `Warned of ${type}`, type, config },
      });
    const slack = await channel('slack', { channel_id: 'C0000000002', channel_name: '#sales' });
    expect(warningsIn(slack)).toEqual(['channel_not_set_up']);
    expect(warningsIn(await channel('email', { recipients: 'ada@example.com' }))).toEqual([
      'channel_not_set_up',
    ]);
  });
});

describe('the credential that requested a change is recorded with the change', () => {
  interface ByActor {
    actor?: Actor;
    cause?: string;
    score_type?: string;
  }
  const read = async (kind: 'commands' | 'events'): Promise<TopicRecord<ByActor>[]> =>
    (
      await Promise.all(
        serviceNames.map((service) =>
          readTopic<ByActor>(system.endpoints, `${system.namespace}.${service}.${kind}`),
        ),
      )
    ).flat();
  const administrator = () => ({
    kind: 'token',
    id: unit.adminTokenId,
    name: `Administrator ${unit.mark}`,
    address: '127.0.0.1',
  });

  test('the command of every changing route names the credential, with its name at that time and the address of its client', async () => {
    // Commands that a service sends to itself have no such header.
    const commands = (await read('commands')).filter(({ headers }) => headers['actor'] !== undefined);
    for (const name of routeNames.filter(
      (one) => routeNamed(one).kind === 'command' && !ofOrganisation.includes(one),
    )) {
      const sent = commands.filter(({ headers }) =>
        headers['correlation-id']?.startsWith(`walk-of-${name}:`),
      );
      expect({ name, actors: sent.map(({ payload }) => payload.actor) }).toEqual({
        name,
        actors: sent.map(administrator),
      });
      expect({ name, sent: sent.length > 0 }).toEqual({ name, sent: true });
    }
  });

  test('every event of a command names the requesting credential', async () => {
    const off = { rule_ids: [unit.ruleId], updates: { active: false } };
    const switched = await send(
      system,
      'setRulesActive',
      { ...routeExamples.setRulesActive(unit), body: off },
      { token: unit.adminToken },
    );
    expect(switched.status).toBe(200);
    // The walk changes an engagement rule.
    for (const id of [unit.profileRuleId, unit.dealRuleId, unit.accountRuleId]) {
      const reweighed = await send(
        system,
        'updateRule',
        { parameters: { id }, body: { weight: 8 } },
        { token: unit.adminToken },
      );
      expect(reweighed.status).toBe(200);
    }
    const places = new Set(
      recordDeclarations
        .filter(
          ({ topic, schema }) =>
            topic.endsWith('.events') && 'shape' in schema && 'actor' in (schema.shape as object),
        )
        .map(({ type }) => type),
    );
    const events = (await read('events')).filter(
      ({ type, payload }) =>
        places.has(type) &&
        !(type === 'ChannelResumed' && payload.cause === 'success') &&
        // The profile and the deals of a lead follow from events.
        !(type === 'ScoreAdjusted' && payload.score_type !== 'engagement'),
    );
    const known = [`Administrator ${unit.mark}`, 'Bootstrap', 'First token', undefined];
    for (const { type, payload } of events) {
      const { kind, id, name } = payload.actor ?? {};
      expect({ type, kind, id, isKnown: known.includes(name) }).toEqual({
        type,
        kind: expect.stringMatching(/^(token|system)$/),
        id: expect.any(String),
        isKnown: true,
      });
    }
    // The walk causes every event except five: the end of a pause, a second delivery and the cancellation of a running job need a
    // channel that works, only the command line reseals channels, and no quota is nearly used.
    const seen = new Set(events.map(({ type }) => type));
    expect([...places].filter((type) => !seen.has(type)).sort()).toEqual([
      'ChannelResealed',
      'ChannelResumed',
      'JobCancelled',
      'NotificationsRedelivered',
      'QuotaNearlyUsed',
    ]);
  });
});

describe('an undeclared route is not served', () => {
  test.each([
    ['POST', '/no-such-route'],
    ['GET', '/leads/'.repeat(3)],
    ['GET', '/admin'],
    ['GET', '/internal/visible?position=x'],
    ['GET', '/.env'],
    ['GET', '/metrics'],
    ['POST', '/ingest/more'],
    ['GET', '/../../etc/passwd'],
    ['GET', '//leads'],
    ['GET', '/Leads/%2e%2e'],
  ])('%s %s is 404 and a problem', async (method, path) => {
    const answer = await rawRequest(system.url, {
      method,
      path,
      headers: { authorization: `Bearer ${system.token}` },
    });
    expect({ path, status: answer.status }).toEqual({ path, status: 404 });
    expect(problem.safeParse(answer.body).error?.issues ?? []).toEqual([]);
  });

  test('a declared path with another method is 404 or 405, never served', async () => {
    for (const name of routeNames) {
      const path = pathOf(name, routeExamples[name](unit)).split('?')[0] ?? '';
      const declared = routeNames
        .filter((other) => samePath(other, name))
        .map((other) => routeNamed(other).method);
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'] as const) {
        if ((declared as string[]).includes(method)) continue;
        const answer = await rawRequest(system.url, {
          method,
          path,
          headers: { authorization: `Bearer ${unit.adminToken}` },
        });
        expect({
          method,
          path,
          status: [404, 405].includes(answer.status) ? 'refused' : answer.status,
        }).toEqual({ method, path, status: 'refused' });
      }
    }
  }, 60_000);

  test('the query ports of the services answer no query of a unit without the gateway’s signature', async () => {
    for (const { name, url } of system.system.services) {
      if (name === 'gateway') continue;
      for (const route of routeNames.filter((one) => isAskedOf(name, routeNamed(one)))) {
        const path = pathOf(route, routeExamples[route](unit));
        for (const headers of [
          {},
          { authorization: `Bearer ${unit.adminToken}` },
          { 'x-internal-authorization': 'Bearer eyJhbGciOiJub25lIn0.e30.' },
        ]) {
          const answer = await rawRequest(url, { method: routeNamed(route).method, path, headers });
          expect({ route, status: answer.status }).toEqual({ route, status: 401 });
        }
      }
    }
  });
});

describe('the system’s descriptions of itself', () => {
  test('what its bundles were made with is what the declarations say', async () => {
    const { body } = await system.request<{ info: { version: string } }>('/openapi.json', { token: null });
    const declared = openApiDocument({ version: body.info.version });
    expect(body).toEqual(JSON.parse(JSON.stringify(declared)));
    // Each process has found its schemas in the catalogue by their digests, and has registered one, to try the catalogue.
    const answer = await fetch(`${system.endpoints.schemaRegistryUrl}/subjects`);
    const subjects = ((await answer.json()) as string[]).filter((name) =>
      name.startsWith(`${system.namespace}.`),
    );
    expect(subjects.length).toBeLessThan(recordDeclarations.length / 4);
  });

  test('/openapi.json describes exactly the declared routes', async () => {
    const { body } = await system.request<OpenApi>('/openapi.json', { token: null });
    expect(body.openapi).toMatch(/^3\.1/);
    const described = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, responses }]) => ({
        operationId,
        route: `${method.toUpperCase()} ${path}`,
        statuses: Object.keys(responses).map(Number),
      })),
    );
    expect(described.map(({ operationId, route }) => `${operationId}: ${route}`).sort()).toEqual(
      routeNames.map((name) => `${name}: ${routeNamed(name).method} ${routeNamed(name).path}`).sort(),
    );
    for (const name of routeNames) {
      const { statuses } = described.find(({ operationId }) => operationId === name) ?? { statuses: [] };
      expect(statuses).toEqual(expect.arrayContaining(Object.keys(routeNamed(name).responses).map(Number)));
    }
  });

  test('/asyncapi.json describes the public topics and their records', async () => {
    const { body } = await system.request<{ asyncapi: string; channels: Record<string, unknown> }>(
      '/asyncapi.json',
      { token: null },
    );
    expect(body.asyncapi).toMatch(/^3\./);
    const text = JSON.stringify(body);
    for (const word of ['ingest.events', 'scoring.events', 'EventsIngested', 'LeadScored', 'RuleCreated'])
      expect(text).toContain(word);
    expect(text).not.toContain('TokenCreated');
  });

  test('the consumer in docs/examples for Node has every score, knowing /asyncapi.json, the brokers and the schema registry alone', async () => {
    const program = { command: process.execPath, args: [join(consumerExamples, 'node/scores.mjs')] };
    const followed = followScores(program, system, `${system.namespace}.test-consumer`);
    try {
      expect(await untilScoresAgree(system, unit.adminToken, followed)).toBeGreaterThan(1);
      // The walk has deleted a lead.
      expect([...followed.scores.values()]).toContain(null);
    } finally {
      const { code, errors } = await followed.stop();
      expect({ code, errors: errors.replace(/.*TimeoutNegativeWarning[^]*/, '') }).toEqual({
        code: 0,
        errors: '',
      });
    }
  }, 90_000);

  test('/docs is a page that runs only its own script and loads nothing from other hosts', async () => {
    const { status, headers, body } = await system.request<string>('/docs', { token: null });
    expect(status).toBe(200);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/default-src 'none'|default-src 'self'/);
    expect(policy).not.toMatch(/unsafe-eval|\*|https?:\/\//);
    expect(policy).not.toMatch(/script-src[^;]*'unsafe-inline'/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(body).not.toMatch(/(src|href)="(https?:)?\/\//);
    for (const name of routeNames)
      expect(body.includes(routeNamed(name).summary) || /<script/.test(body)).toBe(true);
  });

  test('every route was called with success', () => {
    expect([...served.keys()].sort()).toEqual([...routeNames].sort());
  });
});

interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, unknown> }>>;
}

/** Whether the route is a read that this service may answer. */
function isAskedOf(service: ServiceName, { owner, kind }: RouteDeclaration): boolean {
  const runsJobs = servicesWithJobs.some((name) => name === service);
  return kind === 'query' && (owner === 'job' || owner === 'jobs' ? runsJobs : owner === service);
}

/** Whether two routes have the same path, ignoring the names of parameters. */
function samePath(one: RouteName, other: RouteName): boolean {
  const shape = (name: RouteName) => routeNamed(name).path.replace(/\{\w+\}/g, '{}');
  return shape(one) === shape(other);
}
