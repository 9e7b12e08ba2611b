// Two leads that are one person are merged, and taken apart again: each time every event counts once, for the right lead, although services are
// killed meanwhile. The cases of docs/identity.md.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { routeDeclarations } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { startNotifiedSystem, type NotifiedSystem } from './notified-system.js';
import { peopleIn, person, visitor, type Alias } from './people.js';
import { rebuild } from './rebuild.js';

let system: NotifiedSystem;
let milestone: string;

beforeAll(async () => {
  system = await startNotifiedSystem([0, 1]);
  ({ id: milestone } = await system.call<{ id: string }>('createTrigger', {
    body: { name: 'Hot', score_threshold: 50, channel_ids: [] },
  }));
}, 120_000);
afterAll(() => system.stop(), 60_000);

const { idOf, happen, scoreOf, leadAnswered } = peopleIn(() => system);
const eventsOf = async (alias: Alias) =>
  (await system.request<{ total: number }>(`/events/${idOf(alias)}?limit=1`)).body.total;
const aliasesOf = async (alias: Alias) =>
  (await system.request<{ data: Alias[] }>(`/lead/${idOf(alias)}/aliases`)).body.data.map((one) => one.alias);

const shareAnswer = async (token: string) => (await system.request(`/public/score-explain/${token}`)).status;

interface Job {
  id: string;
  status: string;
  result?: routeDeclarations.LeadMergeResult;
}

/** The result, whether the answer has it or the job that the answer names. */
async function resultOf(path: string, body: object) {
  // With the same key, a request that is sent again asks for the same job.
  const headers = { 'idempotency-key': randomUUID() };
  const answer = await eventually('the request is answered', async () => {
    const once = await system.request<Job & routeDeclarations.LeadMergeResult>(path, { body, headers });
    return once.status < 500 && once;
  });
  if (answer.status === 200) return answer.body as routeDeclarations.LeadMergeResult;
  expect(answer).toMatchObject({ status: 202 });
  return eventually(
    'the job is done',
    async () => {
      const { body: job } = await system.request<Job>(`/jobs/${answer.body.id}`);
      return job.status === 'completed' && job.result;
    },
    120_000,
  );
}

const merge = (sources: Alias[], target: Alias) =>
  resultOf('/leads/merge', { target_id: idOf(target), source_ids: sources.map(idOf) });
const unmerge = (source: Alias, target: Alias) =>
  resultOf(`/leads/${idOf(target)}/unmerge`, { source_id: idOf(source) });
const refusal = async (path: string, body: object) => {
  const { status, body: problem } = await system.request<{ code: string }>(path, { body });
  return [status, problem.code];
};

describe('two people whom an event names together', () => {
  const [ada, customer] = [person('ada'), { alias_kind: 'user_id', alias: 'customer 7' }];

  test('stay two, and are listed as a conflict with the merge to offer', async () => {
    await happen([ada], 'Pricing View', { count: 2, company: 'Analytical Engines' });
    await happen([customer], 'Pricing View', { company: 'Lovelace Ltd' });
    await scoreOf(ada, 20);
    await scoreOf(customer, 10);
    await happen([ada, customer], 'Form Submit');
    await scoreOf(ada, 45);
    const { merge: offered } = await eventually('the conflict is listed', async () => {
      const { data } = await system.call<{ data: { merge: object; lead_ids: string[] }[] }>(
        'listLeadConflicts',
      );
      return data.find(({ lead_ids }) => lead_ids.includes(idOf(ada)));
    });
    expect(offered).toEqual({ target_id: idOf(ada), source_ids: [idOf(customer)] });
    await happen([customer], 'Pricing View');
    await scoreOf(customer, 20);
    expect((await system.request('/leads/merge/preview', { body: offered })).body).toMatchObject({
      target: { lead_id: idOf(ada), events: 3, aliases: 1 },
      sources: [{ lead_id: idOf(customer), events: 2, aliases: 1 }],
      events: 5,
      duplicate_aliases: [customer],
      field_conflicts: [{ field: 'company', values: [{ lead_id: idOf(ada) }, { lead_id: idOf(customer) }] }],
      account_conflicts: [{ company: 'Analytical Engines' }, { company: 'Lovelace Ltd' }],
    });
  });

  test('are one lead after the merge, under every id, and the past fires nothing', async () => {
    const { token: link } = await system.call<{ token: string }>('createShare', {
      parameters: { id: idOf(customer) },
    });
    expect(await shareAnswer(link)).toBe(200);
    expect(await merge([customer], ada)).toEqual({
      change: 'merge',
      target_id: idOf(ada),
      source_ids: [idOf(customer)],
      events_moved: 2,
    });
    await scoreOf(ada, 65);
    await eventually('the id names the target', async () => (await leadAnswered(customer)) === idOf(ada));
    expect(await eventsOf(customer)).toBe(5);
    expect((await aliasesOf(customer)).sort()).toEqual([ada.alias, customer.alias].sort());
    expect((await system.request<{ total: number }>('/leads?limit=1')).body.total).toBe(1);
    const { data } = await system.call<{ data: { lead_ids: string[] }[] }>('listLeadConflicts');
    expect(data.filter(({ lead_ids }) => lead_ids.includes(idOf(ada)))).toEqual([]);
    await eventually('the link shows nobody', async () => (await shareAnswer(link)) === 404);
    // What comes under the merged alias from now on is the target's.
    await happen([customer], 'Pricing View');
    await scoreOf(ada, 75);
    const fired = await system.call<{ data: routeDeclarations.LeadMilestoneEvent[] }>('listMilestoneEvents', {
      query: { lead_id: idOf(ada), limit: '100' },
    });
    expect(fired.data.filter(({ trigger }) => trigger.id === milestone)).toEqual([]);
  });

  test('are two again after the merge is taken back, each with what came under its aliases', async () => {
    // A device that came to the merged person belongs to that person.
    await happen([customer, visitor('tablet')], 'Pricing View');
    await scoreOf(ada, 85);
    expect(await unmerge(customer, ada)).toMatchObject({ change: 'unmerge', target_id: idOf(ada) });
    await scoreOf(ada, 45);
    await scoreOf(customer, 40);
    expect([await eventsOf(ada), await eventsOf(customer)]).toEqual([3, 4]);
    expect((await aliasesOf(customer)).sort()).toEqual([customer.alias, 'tablet'].sort());
    await happen([visitor('tablet')], 'Pricing View');
    await scoreOf(customer, 50);
    // An event that names both does not join them once more.
    await happen([ada, customer], 'Pricing View');
    await scoreOf(ada, 55);
    await scoreOf(customer, 50);
  });

  test('can be merged once more, and each event_id still counts once', async () => {
    for (const alias of [ada, customer]) await happen([alias], 'Form Submit', { event_id: 'order 1' });
    await scoreOf(ada, 80);
    await scoreOf(customer, 75);
    await merge([customer], ada);
    await scoreOf(ada, 155);
    for (const alias of [ada, customer]) await happen([alias], 'Form Submit', { event_id: 'order 1' });
    await happen([customer], 'Pricing View');
    await scoreOf(ada, 165);
    await unmerge(customer, ada);
    await scoreOf(ada, 80);
    await scoreOf(customer, 85);
    for (const alias of [ada, customer]) await happen([alias], 'Form Submit', { event_id: 'order 1' });
    for (const alias of [ada, customer]) await happen([alias], 'Pricing View');
    await scoreOf(ada, 90);
    await scoreOf(customer, 95);
  });
});

test('a visitor who was not this person leaves again, and a later form names the right one', async () => {
  const [device, bea, carl] = [visitor('shared'), person('bea'), person('carl')];
  await happen([device], 'Pricing View', { count: 3 });
  await scoreOf(device, 30);
  await happen([bea, device], 'Form Submit');
  await scoreOf(bea, 55);
  await unmerge(device, bea);
  await scoreOf(bea, 25);
  await scoreOf(device, 30);
  await happen([carl, device], 'Form Submit');
  await scoreOf(carl, 55);
  await scoreOf(bea, 25);
});

test('an alias is linked to a lead with what came under it, and taken from it again', async () => {
  const [fay, device, phone] = [person('fay'), visitor('of fay'), { alias_kind: 'user_id', alias: 'fay 1' }];
  await happen([fay], 'Pricing View');
  await happen([device], 'Pricing View', { count: 2 });
  await scoreOf(device, 20);
  const path = `/lead/${idOf(fay)}/aliases`;
  for (const alias of [device, phone]) await resultOf(path, alias);
  await scoreOf(fay, 30);
  for (const alias of [device, phone]) await happen([alias], 'Pricing View');
  await scoreOf(fay, 50);
  expect((await aliasesOf(fay)).sort()).toEqual([fay.alias, device.alias, phone.alias].sort());
  for (const { alias_kind, alias } of [device, phone])
    expect(
      await system.request(`${path}?alias_kind=${alias_kind}&alias=${encodeURIComponent(alias)}`, {
        method: 'DELETE',
      }),
    ).toMatchObject({ status: 200, body: { change: 'unmerge', target_id: idOf(fay) } });
  await scoreOf(fay, 10);
  await scoreOf(device, 30);
  await scoreOf(phone, 10);
  expect(await refusal(path, phone)).toEqual([409, 'merge_not_possible']);
  expect(await refusal(path, fay)).toEqual([409, 'merge_not_possible']);
  expect(
    (await system.request(`${path}?alias_kind=email&alias=fay@example.com`, { method: 'DELETE' })).body,
  ).toMatchObject({ code: 'lead_not_merged' });
});

test('what cannot be merged is refused with a reason, and nothing changes', async () => {
  const [dan, device] = [person('dan'), visitor('of dan')];
  await happen([dan], 'Pricing View');
  await happen([device], 'Pricing View');
  await scoreOf(dan, 10);
  await scoreOf(device, 10);
  const [danId, deviceId] = [idOf(dan), idOf(device)];
  const nobody = idOf(person('nobody'));
  for (const path of ['/leads/merge', '/leads/merge/preview']) {
    const refused = (target_id: string, source_ids: string[]) => refusal(path, { target_id, source_ids });
    expect(await refused(danId, [danId])).toEqual([409, 'merge_not_possible']);
    expect(await refused(deviceId, [danId])).toEqual([409, 'merge_not_possible']);
    expect(await refused(danId, [nobody])).toEqual([404, 'lead_not_found']);
    expect(await refused(nobody, [danId])).toEqual([404, 'lead_not_found']);
    expect(await refused(danId, [])).toEqual([400, 'invalid_request']);
  }
  expect(await refusal(`/leads/${danId}/unmerge`, { source_id: deviceId })).toEqual([409, 'lead_not_merged']);
  expect(await refusal(`/leads/${danId}/unmerge`, { source_id: nobody })).toEqual([404, 'lead_not_found']);
  await merge([device], dan);
  expect(await refusal('/leads/merge', { target_id: danId, source_ids: [deviceId] })).toEqual([
    409,
    'lead_merged',
  ]);
  await scoreOf(dan, 20);
});

test('the deletion of a merged lead, by any of its ids, deletes all of it, and that of an unmerged one leaves the other', async () => {
  const [eva, work] = [person('eva'), person('eva.at.work')];
  for (const alias of [eva, work]) await happen([alias], 'Pricing View');
  for (const alias of [eva, work]) await scoreOf(alias, 10);
  await merge([work], eva);
  await scoreOf(eva, 20);
  await unmerge(work, eva);
  await scoreOf(work, 10);
  await scoreOf(eva, 10);
  expect((await system.request(`/lead/${idOf(eva)}`, { method: 'DELETE' })).status).toBe(204);
  await eventually('it is gone', async () => (await system.request(`/score/${idOf(eva)}`)).status === 404);
  await scoreOf(work, 10);
  await happen([eva], 'Pricing View');
  await scoreOf(eva, 10);
  await merge([work], eva);
  await scoreOf(eva, 20);
  expect((await system.request(`/lead/${idOf(work)}`, { method: 'DELETE' })).status).toBe(204);
  for (const alias of [eva, work])
    await eventually(
      'it is gone',
      async () => (await system.request(`/score/${idOf(alias)}`)).status === 404,
    );
});

test('merges of long pasts, and their undoing, are exact although ingest and scoring are killed meanwhile, and a rebuild gives the same', async () => {
  const names = Array.from({ length: 4 }, (_, number) => `long${String(number)}`);
  const events = 600;
  const [target, sources] = [person('long'), names.map(person)];
  for (const alias of [target, ...sources]) await happen([alias], 'Pricing View', { count: events });
  for (const alias of [target, ...sources]) await scoreOf(alias, events * 10);
  const killLater = (service: 'ingest' | 'scoring', afterMs: number) =>
    setTimeout(() => system.service(service).process.kill('SIGKILL'), afterMs);
  killLater('ingest', 150);
  killLater('scoring', 300);
  expect(await merge(sources, target)).toMatchObject({ events_moved: events * names.length });
  await scoreOf(target, events * 10 * (names.length + 1));
  killLater('ingest', 100);
  killLater('scoring', 200);
  for (const source of sources.slice(0, 2)) await unmerge(source, target);
  const expectDivided = async () => {
    for (const source of sources.slice(0, 2)) {
      await scoreOf(source, events * 10);
      expect(await eventsOf(source)).toBe(events);
    }
    await scoreOf(target, events * 10 * (names.length - 1));
    expect(await eventsOf(target)).toBe(events * (names.length - 1));
  };
  await expectDivided();
  await rebuild(system, ['ingest', 'scoring', 'notification'], 180_000);
  await expectDivided();
}, 400_000);
