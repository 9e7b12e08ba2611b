// What ingest answers to scoring about touches, on real servers.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { routeDeclarations } from '@lead-scoring/contracts';
import { deleteLead, ingest, leadOf, otherOuId } from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';

let rig: Rig;
const hour = (hours: number) => new Date(Date.UTC(2026, 0, 1) + hours * 3_600_000).toISOString();
const { path, responses } = routeDeclarations.listTouches;

beforeAll(async () => {
  rig = await startRig();
  await rig.take([
    ingest([
      {
        aliases: ['ada'],
        event_type: 'page_view',
        timestamp: hour(1),
        metadata: { utm_campaign: 'Spring', path: '/pricing?plan=a', note: 'is not asked for' },
      },
      { aliases: ['ada'], event_type: 'Deal Won', timestamp: hour(2), metadata: { deal: { id: 'D-1' } } },
      { aliases: ['ada'], event_type: 'Call', timestamp: hour(3) },
      { aliases: ['bob'], event_type: 'Demo', timestamp: hour(2) },
      { aliases: ['cy'], event_type: 'Demo', timestamp: hour(2) },
    ]),
  ]);
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);

const ask = async (body: object, options = {}) => {
  const answer = await rig.post(
    path,
    { leads: [leadOf('ada'), leadOf('bob')], before: hour(9), maximum_events: 100, ...body },
    options,
  );
  expect(answer.status).toBe(200);
  const { touches, ...rest } = responses[200].schema.parse(answer.body);
  const inOrder = touches.sort((one, other) => (one.at < other.at ? -1 : 1));
  return { touches: inOrder.map((touch) => ({ ...touch, id: undefined })), ...rest };
};

test('the touches of the asked leads come with type, time, campaign and path; events with a deal are left out', async () => {
  expect(await ask({})).toEqual({
    touches: [
      {
        lead_id: leadOf('ada'),
        at: hour(1),
        event_type: 'page_view',
        campaign: 'Spring',
        path: '/pricing',
      },
      { lead_id: leadOf('bob'), at: hour(2), event_type: 'Demo' },
      { lead_id: leadOf('ada'), at: hour(3), event_type: 'Call' },
    ],
    events: 4,
    complete: true,
  });
});

test('touches at the end of the time or after it are left out, and a lead that is named twice is read once', async () => {
  const found = await ask({ leads: [leadOf('ada'), leadOf('ada').toUpperCase()], before: hour(3) });
  expect(found).toMatchObject({ touches: [{ at: hour(1) }], events: 3, complete: true });
});

test('leads with more events than are to be read are said to be incomplete', async () => {
  expect(await ask({ maximum_events: 3 })).toMatchObject({ complete: false });
  expect(await ask({ maximum_events: 4 })).toMatchObject({ complete: true });
});

test('the leads of another OU have no touches', async () => {
  expect(await ask({}, { ou: otherOuId })).toEqual({ touches: [], events: 0, complete: true });
});

test('a deleted lead has none any more', async () => {
  expect(await ask({ leads: [leadOf('cy')] })).toMatchObject({ events: 1 });
  await rig.take([deleteLead('cy')]);
  expect(await ask({ leads: [leadOf('cy')] })).toEqual({ touches: [], events: 0, complete: true });
});

test('more than 100 leads in one question are refused', async () => {
  const leads = Array.from({ length: 101 }, (_, index) => leadOf(`lead ${String(index)}`));
  expect((await rig.post(path, { leads, before: hour(9), maximum_events: 1 })).status).toBe(400);
});
