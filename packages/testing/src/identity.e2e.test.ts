// A visitor who says who they are: what came under an anonymous alias becomes part of the lead of the known alias that an event names with it, with
// its points and reasons, once, although services are killed meanwhile. The cases of docs/identity.md.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { routeDeclarations } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { startNotifiedSystem, type NotifiedSystem } from './notified-system.js';
import { peopleIn, person, visitor, type Alias } from './people.js';
import { rebuild } from './rebuild.js';

let system: NotifiedSystem;
let milestone: string;

const threshold = 50;

beforeAll(async () => {
  system = await startNotifiedSystem([0, 1]);
  ({ id: milestone } = await system.call<{ id: string }>('createTrigger', {
    body: { name: 'Hot', score_threshold: threshold, channel_ids: [] },
  }));
}, 120_000);
afterAll(() => system.stop(), 60_000);

const { idOf, happen, scoreOf, leadAnswered } = peopleIn(() => system);

const firingsOf = async (alias: Alias) =>
  (
    await system.call<{ data: routeDeclarations.LeadMilestoneEvent[] }>('listMilestoneEvents', {
      query: { lead_id: idOf(alias), limit: '100' },
    })
  ).data.filter(({ trigger }) => trigger.id === milestone);

test('the page views before the form come along, with points and reasons, and both ids name the person', async () => {
  const [v1, ada] = [visitor('v1'), person('ada')];
  await happen([v1], 'Pricing View', { count: 3 });
  await scoreOf(v1, 30);
  await happen([v1, ada], 'Form Submit');
  const explained = await scoreOf(ada, 55);
  expect(explained.unattributed).toBe(0);
  expect(
    Object.fromEntries(explained.top_drivers.map(({ event_type, total }) => [event_type, total])),
  ).toEqual({
    'Pricing View': 30,
    'Form Submit': 25,
  });
  await eventually('the visitor names the person', async () => (await leadAnswered(v1)) === idOf(ada));
  const { body } = await system.request<{ data: routeDeclarations.StoredEvent[]; total: number }>(
    `/events/${idOf(v1)}`,
  );
  expect(body.total).toBe(4);
  expect(new Set(body.data.map(({ lead_id }) => lead_id))).toEqual(new Set([idOf(ada)]));
  const leads = await system.request<{ total: number }>('/leads?limit=1');
  expect(leads.body.total).toBe(1);
  // What comes under the anonymous alias alone from now on is the person's.
  await happen([v1], 'Pricing View');
  await scoreOf(ada, 65);
});

test('the form fires the trigger whose threshold the past has brought near, once, and the past fires nothing', async () => {
  const firings = await eventually('the trigger has fired', async () => {
    const found = await firingsOf(person('ada'));
    return found.length > 0 && found;
  });
  expect(firings).toMatchObject([{ score: 55, previous_score: 30 }]);
  // This one had crossed the threshold before anybody knew who it was: it does not cross it again.
  const [v2, bea] = [visitor('v2'), person('bea')];
  await happen([v2], 'Pricing View', { count: 6 });
  await scoreOf(v2, 60);
  await eventually('the visitor is told of', async () => (await firingsOf(v2)).length === 1);
  await happen([bea, v2], 'Form Submit');
  await scoreOf(bea, 85);
  await happen([person('bell')], 'Pricing View', { count: 5 });
  await scoreOf(person('bell'), 50);
  await eventually(
    'everything before is decided',
    async () => (await firingsOf(person('bell'))).length === 1,
  );
  expect(await firingsOf(bea)).toEqual([]);
  const { data } = await system.call<{ data: routeDeclarations.LeadMilestoneEvent[] }>(
    'listMilestoneEvents',
    {
      query: { limit: '100' },
    },
  );
  expect(data.filter(({ lead }) => lead.id === idOf(v2))).toHaveLength(1);
});

test('a second person on the same device starts afresh', async () => {
  const [v1, cem, ada] = [visitor('v1'), person('cem'), person('ada')];
  await happen([v1, cem], 'Form Submit');
  await scoreOf(cem, 25);
  await scoreOf(ada, 65);
  // The device stays with the first.
  await happen([v1], 'Pricing View');
  await scoreOf(ada, 75);
  await scoreOf(cem, 25);
});

test('a person on two devices has the past of both', async () => {
  const [phone, laptop, dan] = [visitor('phone'), visitor('laptop'), person('dan')];
  await happen([phone], 'Pricing View');
  await happen([laptop], 'Pricing View', { count: 2 });
  await scoreOf(laptop, 20);
  await happen([dan, phone], 'Form Submit');
  await scoreOf(dan, 35);
  await happen([dan, laptop], 'Form Submit');
  await scoreOf(dan, 80);
  await scoreOf(phone, 80);
});

test('joins of long pasts count every event once, although ingest and scoring are killed meanwhile, and a rebuild gives the same', async () => {
  const names = Array.from({ length: 12 }, (_, number) => `long${String(number)}`);
  const events = 450;
  for (const name of names) await happen([visitor(name)], 'Pricing View', { count: events });
  for (const name of names) await scoreOf(visitor(name), events * 10);
  for (const [number, name] of names.entries()) {
    await happen([visitor(name), person(name)], 'Form Submit');
    if (number % 3 === 1) system.service('ingest').process.kill('SIGKILL');
    if (number % 3 === 2) system.service('scoring').process.kill('SIGKILL');
  }
  const expectJoined = async () => {
    for (const name of names) {
      await scoreOf(person(name), events * 10 + 25);
      const { body } = await system.request<{ total: number }>(`/events/${idOf(person(name))}?limit=1`);
      expect(body.total).toBe(events + 1);
      await eventually(
        'the visitor names the person',
        async () => (await leadAnswered(visitor(name))) === idOf(person(name)),
      );
    }
  };
  await expectJoined();
  await rebuild(system, ['ingest', 'scoring', 'notification'], 180_000);
  await expectJoined();
}, 300_000);

test('the deletion of the person deletes the visitor, and what comes from the device later begins anew', async () => {
  const [v1, ada] = [visitor('v1'), person('ada')];
  const { status } = await system.request(`/lead/${idOf(v1)}`, { method: 'DELETE' });
  expect(status).toBe(204);
  for (const id of [idOf(v1), idOf(ada)])
    await eventually('it is gone', async () => (await system.request(`/score/${id}`)).status === 404);
  await happen([v1], 'Pricing View');
  await scoreOf(v1, 10);
  expect((await system.request(`/score/${idOf(ada)}`)).status).toBe(404);
});
