// Late and reordered events give the same score as events in order. Each order is sent to its own organizational unit of a
// running system.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { leadIdOf } from '@lead-scoring/contracts';
import { seededRandom, type Random } from '@lead-scoring/start/random';
import { isFullSize } from './full-size.js';
import { startTestSystem, upToScoring, type TestSystem } from './test-system.js';

const orders = isFullSize ? 25 : 3;
const seed = 14;
const day = 86_400_000;
const firstDay = Date.UTC(2026, 0, 1);
const time = (days: number) => new Date(firstDay + days * day).toISOString();

const rules = [
  { event_type: 'Page View', weight: 2 },
  {
    event_type: 'page_view',
    weight: 15,
    attribute_filters: [{ field: 'path', operator: 'contains', value: '/pricing' }],
  },
  { event_type: 'Form Submit', weight: 20, starts_at: time(10), ends_at: time(40) },
  { event_type: 'Unsubscribe', weight: -7 },
];

interface SentEvent {
  alias_kind: 'email';
  alias: string;
  event_type: string;
  event_id: string;
  timestamp: string;
  metadata: { path: string; name: string; company: string };
}

/** The points of an event by the rules above, computed without the system's code. */
function pointsOf({ event_type, timestamp, metadata }: SentEvent): number {
  switch (event_type) {
    case 'Page View':
      return metadata.path.includes('/pricing') ? 17 : 2;
    case 'Form Submit':
      return timestamp >= time(10) && timestamp < time(40) ? 20 : 0;
    case 'Unsubscribe':
      return -7;
    default:
      return 0;
  }
}

const aliases = Array.from({ length: 12 }, (_, n) => `any.order.${String(n)}@example.com`);

/** 500 events, one in ten of them a repeat of another. */
function eventsOf(random: Random): SentEvent[] {
  const distinct = Array.from({ length: 450 }, (_, n): SentEvent => {
    const days = random.next() * 60;
    return {
      alias_kind: 'email',
      alias: random.pick(aliases),
      event_type: random.pick(['Page View', 'Page View', 'Form Submit', 'Unsubscribe', 'Never Scored']),
      event_id: `event ${String(n)}`,
      timestamp: time(days),
      metadata: {
        path: random.pick(['/', '/pricing', '/blog']),
        name: `Name of day ${days.toFixed(6)}`,
        company: random.pick(['Engines', 'Looms']),
      },
    };
  });
  return [...distinct, ...Array.from({ length: 50 }, () => random.pick(distinct))];
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = random.between(0, last);
    [result[last], result[other]] = [result[other] as Item, result[last] as Item];
  }
  return result;
}

let system: TestSystem;

beforeAll(async () => {
  system = await startTestSystem({ instances: upToScoring });
}, 120_000);

afterAll(() => system.stop(), 60_000);

interface Explained {
  score: number;
  unattributed: number;
  top_drivers: { event_type: string; count: number; weight: number; total: number }[];
  entries: { event_type: string; timestamp: string; points: number }[];
}

/** The API's answers about all leads of a new unit, after the events were sent to it in this order in random batches. */
async function toldAfter(events: readonly SentEvent[], name: string, random: Random) {
  const call = async <Body>(path: string, unit: string, body?: unknown): Promise<Body> => {
    const answer = await system.request<Body>(path, { headers: { 'x-ou-id': unit }, body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const { id: unit } = await call<{ id: string }>('/org-units', system.ouId, { name });
  for (const rule of rules) await call('/engagement-scoring/rules', unit, rule);
  const positions: string[] = [];
  for (let from = 0; from < events.length;) {
    const to = from + random.between(1, 60);
    positions.push((await call<{ position: string }>('/ingest', unit, events.slice(from, to))).position);
    from = to;
  }
  for (const position of positions) await call(`/leads?limit=1&min_position=${position}`, unit);
  const { data } = await call<{
    data: { id: string; name: string; company: string; score: number; last_activity_at: string }[];
  }>('/leads?limit=100', unit);
  const told = new Map<string, object>();
  for (const alias of aliases) {
    const id = leadIdOf(unit, 'email', alias);
    const lead = data.find((one) => one.id === id);
    const explained = await call<Explained>(`/lead/${id}/score-explain?range_hours=100000`, unit);
    expect(explained.unattributed).toBe(0);
    told.set(alias, {
      score: explained.score,
      listed: { ...lead, id: '', rulesets: [] },
      drivers: explained.top_drivers.map(({ event_type, count, weight, total }) => ({
        ...{ event_type, count, weight, total },
      })),
      entries: explained.entries
        .map(({ event_type, timestamp, points }) => `${timestamp} ${event_type} ${String(points)}`)
        .sort(),
    });
  }
  return told;
}

describe(`500 events in ${String(orders)} orders (seed ${String(seed)})`, () => {
  test('each order gives the documented scores, and the same answers about the leads', async () => {
    const random = seededRandom(seed);
    const events = eventsOf(random);
    const distinct = new Map(events.map((event) => [event.event_id, event]));
    const inOrder = [...events].sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
    const told = await toldAfter(inOrder, 'In order', random);
    for (const alias of aliases) {
      const score = [...distinct.values()]
        .filter((event) => event.alias === alias)
        .reduce((sum, event) => sum + pointsOf(event), 0);
      expect({ alias, told: told.get(alias) }).toMatchObject({ alias, told: { score } });
    }
    for (let order = 1; order < orders; order += 1)
      expect(await toldAfter(shuffled(events, random), `Order ${String(order)}`, random)).toEqual(told);
  }, 600_000);

  test('an event of more than a day in the future, or with an invalid time, is refused with the reason', async () => {
    const [event] = eventsOf(seededRandom(seed));
    for (const timestamp of [
      new Date(Date.now() + 25 * 3_600_000).toISOString(),
      'yesterday',
      '2026-13-01',
    ]) {
      const answer = await system.request('/ingest', {
        body: [{ ...event, timestamp }],
      });
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'body.events[0].timestamp' }] } });
      const imported = await system.request('/import', { body: [{ ...event, timestamp }] });
      expect(imported.status).toBe(400);
      const partial = await system.request('/ingest?partial=true', {
        body: [
          { ...event, event_id: `beside ${timestamp}` },
          { ...event, timestamp },
        ],
      });
      expect(partial).toMatchObject({
        status: 202,
        body: {
          accepted: 1,
          rejected: [
            {
              index: 1,
              errors: [
                { path: 'timestamp', message: expect.stringMatching(/ISO 8601|hours? in the future/) },
              ],
            },
          ],
        },
      });
    }
    const almost = new Date(Date.now() + 23 * 3_600_000).toISOString();
    expect((await system.request('/ingest', { body: [{ ...event, timestamp: almost }] })).status).toBe(202);
  });
});
