// Decay on real servers: rules come and go, time passes, owners of partitions change, and each tick takes its points once.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import { outgoing } from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/testing/service-rig';
import { leadKey, leadOfKey } from '../keys.js';
import { createRule, idOf, ingested, otherOuId, ouId, resetScores, setLevels } from '../testing/builders.js';
import { createDecay, deleteDecay, updateDecay } from '../testing/decay-builders.js';
import { startRig, type Rig } from '../testing/rig.js';
import { dueLeads } from './due-leads.js';

let rig: Rig;
/** The clock of the owners of partitions. */
let now = new Date('2026-01-01T12:00:00.000Z');

beforeAll(async () => {
  rig = await startRig({ partitions: 3, now: () => now });
}, 90_000);
afterAll(() => rig.stop(), 90_000);

const firstDay = Date.parse('2026-01-01T00:00:00.000Z');
/** A time on a day from 0 on. */
const on = (day: number, hour = 12) => new Date(firstDay + day * 86_400_000 + hour * 3_600_000).toISOString();
const names = Array.from({ length: 20 }, (_, index) => `lead ${String(index)}`);
const scoreOf = async (name: string) => (await rig.get(`/score/${idOf(name)}`)).body.score as number;
const explained = async (name: string) =>
  (await rig.get(`/lead/${idOf(name)}/score-explain?range_hours=876000`)).body;

async function passUntil(time: string, expected: ReadonlyMap<string, number>): Promise<void> {
  now = new Date(time);
  await eventually('every tick has taken its points', async () => {
    for (const [name, score] of expected) if ((await scoreOf(name)) !== score) return false;
    return true;
  });
}
const all = (score: number) => new Map(names.map((name) => [name, score]));

async function ticks() {
  const decisions = await rig.recordsOn('scoring.events');
  return decisions
    .filter(({ type }) => type === 'ScoreAdjusted')
    .map(({ payload }) => payload as records.ScoreAdjusted)
    .filter(({ adjustments }) => adjustments.some(({ reason }) => reason === 'decay'));
}

test('rules are listed and found, each in its OU', async () => {
  expect((await rig.get('/decays')).body).toEqual({ data: [], total: 0, page: 1, limit: 25 });
  const made = await rig.request(createDecay('Quiet', { active: false, points: -50, requested_at: on(0) }));
  expect(made).toMatchObject({ outcome: 'done', result: { name: 'Quiet', active: false } });
  const found = await rig.get(`/decays/${idOf('Quiet').toUpperCase()}`);
  expect(found.body).toEqual((made as { result: unknown }).result);
  expect((await rig.get('/decays')).body).toMatchObject({ total: 1, data: [found.body] });
  expect((await rig.get(`/decays/${idOf('Quiet')}`, { ou: otherOuId })).status).toBe(404);
  expect((await rig.get(`/decays/${idOf('Unknown')}`)).body).toMatchObject({ code: 'decay_not_found' });
  expect(await rig.request(deleteDecay('Quiet', { requested_at: on(0) }))).toEqual({
    outcome: 'done',
    result: null,
  });
  expect((await rig.get('/decays')).body).toMatchObject({ total: 0 });
});

test('leads from before a rule fade by it, each tick at its own time, and a level is left', async () => {
  await rig.request(createRule('view', { weight: 30 }));
  await rig.request(
    setLevels([
      ['Cold', null, 27],
      ['Warm', 28, null],
    ]),
  );
  await rig.score(names.map((name) => ingested(name, [{ timestamp: on(0, 11) }], { received_at: on(0) })));
  await rig.request(createDecay('Weekly', { points: -5, requested_at: on(1) }));
  await passUntil(on(7), all(25));
  const recorded = await ticks();
  expect(recorded).toHaveLength(names.length);
  for (const tick of recorded)
    expect(tick).toMatchObject({
      previous_score: 30,
      score: 25,
      as_of: on(7, 11),
      fire_triggers: true,
      decay_due_at: on(14, 11),
      adjustments: [{ reason: 'decay', points: -5, rule_id: idOf('Weekly'), rule_version: 1, tick: 1 }],
    });
  expect(await explained('lead 3')).toMatchObject({
    score: 25,
    decay_applied: -5,
    unattributed: 0,
    decay_entries: [{ name: 'Weekly', points: -5, tick: 1, timestamp: on(7, 11) }],
  });
  const before = await rig.get(`/lead/${idOf('lead 3')}/score-explain?range_hours=876000&at=${on(6)}`);
  expect(before.body).toMatchObject({ score: 30, decay_applied: 0, unattributed: 0 });
  const crossings = (await rig.recordsOn('scoring.events')).filter(({ type }) => type === 'LeadLevelChanged');
  const causes = crossings.map(({ payload }) => (payload as records.LeadLevelChanged).cause);
  expect(causes.filter((cause) => cause === 'decay')).toHaveLength(names.length);
}, 60_000);

test('ticks that are due when an event comes are decided before it', async () => {
  await rig.score([ingested('lead 0', [{ timestamp: on(22) }], { received_at: on(22) })]);
  expect((await explained('lead 0')) as object).toMatchObject({
    score: 45,
    decay_applied: -15,
    unattributed: 0,
  });
  const own = (await ticks()).filter(({ lead_id }) => lead_id === idOf('lead 0'));
  expect(own.map(({ as_of }) => as_of)).toEqual([on(7, 11), on(14, 11), on(21, 11)]);
  // The ticks begin anew with the event.
  const others = names.slice(1);
  await passUntil(on(22, 13), new Map([['lead 0', 45], ...others.map((name) => [name, 15] as const)]));
  await passUntil(on(30), new Map([['lead 0', 40], ...others.map((name) => [name, 10] as const)]));
}, 60_000);

test('and so are those that are due when a score is reset', async () => {
  const reply = await rig.reset(resetScores('lead 1', { requested_at: on(36) }));
  expect(reply).toMatchObject({ result: { previous_score: 5, score: 0 } });
  expect(await explained('lead 1')).toMatchObject({
    score: 0,
    decay_applied: 0,
    unattributed: 0,
    decay_entries: [{ before_reset: true }, {}, {}, {}, {}],
  });
});

test('a forecast says what will be taken, and when the level is left', async () => {
  const { status, body } = await rig.get(`/lead/${idOf('lead 0')}/score-forecast?days=20`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ lead_id: idOf('lead 0'), steps_total: expect.any(Number) });
  const missing = await rig.get(`/lead/${idOf('nobody')}/score-forecast`);
  expect(missing.body).toMatchObject({ status: 404, code: 'lead_not_found' });
  expect((await rig.get(`/lead/${idOf('lead 0')}/score-forecast`, { ou: otherOuId })).status).toBe(404);
});

test('a command that comes again, an owner that comes and one that goes take no points twice', async () => {
  const stop = await rig.startProcessor();
  const again = [0, 1, 2].flatMap((partition) => {
    const leads = names
      .map((name) => ({ ou_id: ouId, lead_id: idOf(name) }))
      .filter(({ lead_id }) => rig.log.partitionOf(lead_id) === partition);
    if (leads.length === 0) return [];
    const payload = { partition, as_of: on(37), leads };
    return [outgoing(records.runDecay, { key: String(partition), partition, payload })];
  });
  await rig.write([...again, ...again]);
  const expected = new Map(names.slice(2).map((name) => [name, 5]));
  await passUntil(on(37), expected);
  await stop();
  await rig.write(again);
  await passUntil(on(43), new Map(names.slice(2).map((name) => [name, 0])));
  const seen = (await ticks()).map(
    ({ lead_id, as_of, adjustments }) => `${lead_id} ${String(as_of)} ${String(adjustments[0]?.rule_id)}`,
  );
  expect(new Set(seen).size).toBe(seen.length);
}, 60_000);

test('a paused rule takes nothing, and after it is resumed nothing is made up for', async () => {
  await rig.score([ingested('ada', [{ timestamp: on(44) }], { received_at: on(44) })]);
  await rig.request(updateDecay('Weekly', { active: false, requested_at: on(45) }));
  await rig.score([ingested('bob', [{ timestamp: on(46) }], { received_at: on(46) })]);
  now = new Date(on(60));
  await rig.request(updateDecay('Weekly', { active: true, requested_at: on(60) }));
  await passUntil(
    on(64),
    new Map([
      ['lead 0', 25],
      ['ada', 30],
      ['bob', 30],
    ]),
  );
  await passUntil(
    on(66),
    new Map([
      ['ada', 25],
      ['bob', 30],
    ]),
  );
  await passUntil(
    on(68),
    new Map([
      ['ada', 25],
      ['bob', 25],
    ]),
  );
}, 60_000);

test('entries that name leads too early are put right, and no points are taken', async () => {
  const entries = rig.readModel.collection(dueLeads);
  const dueTimes = async () =>
    (await entries.find().sort({ _id: 1 }).toArray()).map(({ _id, due_at }) => [leadOfKey(_id), due_at]);
  const right = await dueTimes();
  const wrong = { due_at: on(50), offset: 0 };
  // Bob is due later, and lead 5 never.
  await entries.updateOne({ _id: leadKey(ouId, idOf('bob')) }, { $set: wrong });
  await entries.insertOne({
    _id: leadKey(ouId, idOf('lead 5')),
    partition: rig.log.partitionOf(idOf('lead 5')),
    ...wrong,
  });
  // The index is looked through twice a minute while nothing is due.
  now = new Date(now.getTime() + 60_000);
  await eventually(
    'the entries are right',
    async () => JSON.stringify(await dueTimes()) === JSON.stringify(right),
  );
  expect([await scoreOf('bob'), await scoreOf('lead 5')]).toEqual([25, 0]);
}, 60_000);

test('idle leads without points have no entry in the index; a deleted rule leaves none', async () => {
  const { decay_due_leads } = await rig.documents();
  expect(decay_due_leads).toHaveLength(3);
  await rig.request(deleteDecay('Weekly', { requested_at: on(69) }));
  await eventually('the index is empty', async () => (await rig.documents()).decay_due_leads?.length === 0);
  now = new Date(on(200));
  expect(await scoreOf('ada')).toBe(25);
  expect(await explained('ada')).toMatchObject({ decay_applied: -5, decay_entries: [{ name: 'Weekly' }] });
}, 60_000);

async function expectSameAfterRebuild(): Promise<void> {
  await eventually('the ticks of all leads are decided', async () => {
    const { decay_due_leads = [] } = await rig.documents();
    return decay_due_leads.every((entry) => (entry as { due_at: string }).due_at > now.toISOString());
  });
  const live = await rig.documents();
  await rig.rebuild();
  expect(await rig.documents()).toEqual(live);
}

test('a rebuild gives the same documents', async () => {
  await rig.request(
    createDecay('Half', { mode: 'half_life', half_life_days: 10, interval_days: 1, requested_at: on(200) }),
  );
  await passUntil(on(211, 13), new Map([['ada', 12]]));
  await expectSameAfterRebuild();
}, 60_000);

test('the entry of a lead that is scored again stays until its time, and the lead fades at the right one', async () => {
  const entry = async () =>
    (await rig.readModel.collection(dueLeads).findOne({ _id: leadKey(ouId, idOf('eve')) }))?.due_at;
  const scoredAt = (time: string) =>
    rig.score([ingested('eve', [{ timestamp: time }], { received_at: time })]);
  await scoredAt(on(212, 1));
  await eventually('the index has the lead', async () => (await entry()) === on(213, 1));
  await scoredAt(on(212, 20));
  expect([await scoreOf('eve'), await entry()]).toEqual([60, on(213, 1)]);
  now = new Date(on(213, 10));
  await eventually('the entry is put right', async () => (await entry()) === on(213, 20));
  expect(await scoreOf('eve')).toBe(60);
  await passUntil(on(213, 21), new Map([['eve', 56]]));
  await expectSameAfterRebuild();
}, 60_000);
