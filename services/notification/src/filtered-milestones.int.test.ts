// Milestones with a saved filter on real servers: only leads that match the filter at the crossing are told of.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  leadIdOf,
  nameBasedId,
  records,
  routes,
  type LeadFilterGroup,
  type NotificationPayload,
} from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import { startWebhookReceiver, type WebhookReceiver } from '@lead-scoring/testing/receivers';
import { eventually } from '@lead-scoring/testing/service-rig';
import {
  anotherOu,
  channelId,
  createChannel,
  createTrigger,
  milestone,
  ouId,
  triggerId,
  webhookTo,
} from './testing/builders.js';
import { startRig, type Rig } from './testing/rig.js';

let rig: Rig;
let receiver: WebhookReceiver<NotificationPayload>;
const at = '2026-02-01T00:00:00.000Z';
const filterId = nameBasedId(ouId, 'filter');
/** Leads at Acme with two events at least that fit. */
const conditions: LeadFilterGroup = {
  all: [
    { field: 'company', operator: 'contains', value: 'acme' },
    { field: 'event_count', operator: 'gte', value: 2 },
    {
      any: [
        { field: 'scores.profile', operator: 'gte', value: 20 },
        { field: 'alias', operator: 'equals', value: 'ceo@example.com' },
      ],
    },
    { field: 'score', operator: 'lt', value: 90 },
    { field: 'last_activity_at', operator: 'gte', value: { days_ago: 7 } },
  ],
};

const toOu = <Declaration extends Parameters<typeof outgoing>[0]>(
  declaration: Declaration,
  payload: unknown,
  ou = ouId,
) => outgoing(declaration, { key: ou, payload: payload as never });
const save = (changed: LeadFilterGroup, version: number) =>
  toOu(version === 1 ? records.filterCreated : records.filterUpdated, {
    ...{ ou_id: ouId, filter_id: filterId, name: 'Fitting', conditions: changed, version, at },
  });
const define = (nth: number, definition: records.MilestoneDefinition, ou = ouId) =>
  toOu(records.createTrigger, { ...createTrigger(nth, definition).payload, ou_id: ou }, ou);

let decisions = 0;
/** Scoring's decision on one event of the lead. */
function scored(
  alias: string,
  [previous, score]: readonly [number, number],
  company: string,
  more: Partial<records.LeadScored> = {},
): OutgoingRecord {
  const lead_id = leadIdOf(ouId, 'email', alias);
  decisions += 1;
  const now = new Date().toISOString();
  return outgoing(records.leadScored, {
    key: lead_id,
    payload: {
      ...{ ou_id: ouId, lead_id, previous_score: previous, score, configuration_version: 1, event_count: 1 },
      fire_triggers: true,
      aliases: [{ alias_kind: 'email', alias }],
      fields: [{ field: 'company', value: company, at: now }],
      ...{ first_activity_at: now, last_activity_at: now, decided_at: now },
      scored_events:
        score === previous
          ? []
          : [
              {
                event_id: nameBasedId(lead_id, `event ${String(decisions)}`),
                ...{ event_type: 'Page View', timestamp: now },
                matches: [
                  {
                    ...{ rule_id: nameBasedId(ouId, 'rule'), rule_version: 1 },
                    ...{ ruleset_id: nameBasedId(ouId, 'ruleset'), points: score - previous },
                  },
                ],
              },
            ],
      ...more,
    },
  });
}

const profiled = (alias: string, score: number): OutgoingRecord => {
  const lead_id = leadIdOf(ouId, 'email', alias);
  return outgoing(records.scoreAdjusted, {
    key: lead_id,
    payload: {
      ...{ ou_id: ouId, lead_id, score_type: 'profile', previous_score: 0, score, configuration_version: 1 },
      adjustments: [
        {
          ...{ reason: 'profile_rule', points: score, rule_version: 1 },
          ...{ rule_id: nameBasedId(ouId, 'fit'), ruleset_id: nameBasedId(ouId, 'fits') },
        },
      ],
      decided_at: new Date().toISOString(),
      fire_triggers: true,
    },
  });
};

const firedFor = async (nth: number, ou = ouId): Promise<string[]> => {
  const { body } = await rig.get(`/milestone-events?trigger_id=${triggerId(nth)}`, { ou });
  const { data } = routes.listMilestoneEvents.responses[200].schema.parse(body);
  return data.flatMap((one) => ('lead' in one ? [one.lead.id] : [])).sort();
};
const leads = (...aliases: string[]) => aliases.map((alias) => leadIdOf(ouId, 'email', alias)).sort();

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  rig = await startRig({ targets: [receiver.target] });
  receiver.trust(rig.sealing.signingSecret(channelId(1)));
  await rig.request(
    toOu(records.createChannel, createChannel(1, { destination: webhookTo(receiver.url) }).payload),
  );
}, 120_000);

afterAll(async () => {
  await rig.stop();
  await receiver.stop();
}, 60_000);

const filtered = milestone({ score_threshold: 50, filter_id: filterId, channel_ids: [channelId(1)] });

test('a filter that was saved a moment ago is accepted, and no other, nor one of another OU', async () => {
  expect(await rig.request(define(9, filtered))).toMatchObject({
    outcome: 'rejected',
    code: 'filter_not_found',
  });
  await rig.write([save(conditions, 1)]);
  const reply = await rig.request(define(1, filtered));
  expect(reply).toMatchObject({ outcome: 'done', result: { filter_id: filterId, filter_missing: false } });
  const { body } = await rig.get(`/triggers/${triggerId(1)}`);
  expect(routes.getTrigger.responses[200].schema.parse(body)).toEqual(
    reply.outcome === 'done' && reply.result,
  );
  expect(await rig.request(define(9, { ...filtered, channel_ids: [] }, anotherOu))).toMatchObject({
    outcome: 'rejected',
    code: 'filter_not_found',
  });
}, 60_000);

test('only leads that match at the crossing are told of: by fields, both scores, events without points and times', async () => {
  await rig.happen(
    // Matches: the first event gave no points, and its decision counts all the same.
    scored('ada@example.com', [0, 0], 'Acme', { new_lead: true }),
    profiled('ada@example.com', 30),
    scored('ada@example.com', [0, 60], 'ACME Inc'),
    scored('bob@example.com', [0, 0], 'Other', { new_lead: true }),
    profiled('bob@example.com', 30),
    scored('bob@example.com', [0, 60], 'Other'),
    // One event.
    scored('cy@example.com', [0, 60], 'Acme', { new_lead: true }),
    // Too high a score after the crossing.
    scored('dan@example.com', [0, 0], 'Acme', { new_lead: true }),
    profiled('dan@example.com', 30),
    scored('dan@example.com', [0, 95], 'Acme'),
    scored('ceo@example.com', [0, 0], 'Acme', { new_lead: true }),
    scored('ceo@example.com', [0, 55], 'Acme'),
    // The profile fits after the crossing.
    scored('eve@example.com', [0, 0], 'Acme', { new_lead: true }),
    scored('eve@example.com', [0, 55], 'Acme'),
    profiled('eve@example.com', 30),
  );
  expect(await firedFor(1)).toEqual(leads('ada@example.com', 'ceo@example.com'));
  await eventually('the receiver is told of both', () => receiver.accepted.size === 2);
  // Asked again at the next crossing.
  await rig.happen(scored('eve@example.com', [55, 40], 'Acme'), scored('eve@example.com', [40, 70], 'Acme'));
  expect(await firedFor(1)).toEqual(leads('ada@example.com', 'ceo@example.com', 'eve@example.com'));
}, 60_000);

test('a simulation asks the filter of every crossing in the history', async () => {
  const { status, body } = await rig.post(`/triggers/${triggerId(1)}/simulate`, {});
  expect(status).toBe(200);
  const simulated = routes.simulateTrigger.responses[200].schema.parse(body);
  expect(simulated.data.flatMap((one) => ('lead' in one ? [one.lead.id] : [])).sort()).toEqual(
    leads('ada@example.com', 'ceo@example.com', 'eve@example.com'),
  );
}, 60_000);

test('a lead with a long history is read from the explanations, also after a restart', async () => {
  const alias = 'fay@example.com';
  await rig.happen(
    scored(alias, [0, 10], 'Acme', { new_lead: true }),
    profiled(alias, 30),
    // Many others, so that the partition keeps this lead no longer.
    ...Array.from({ length: 400 }, (_, nth) =>
      scored(`other${String(nth)}@example.com`, [0, 1], 'Acme', { new_lead: true }),
    ),
  );
  await rig.happen(scored(alias, [10, 60], 'Acme'));
  expect(await firedFor(1)).toContain(leadIdOf(ouId, 'email', alias));
}, 60_000);

test('a changed filter counts from then on, and fires nothing by itself; a deleted one stops the trigger', async () => {
  const before = await firedFor(1);
  await rig.happen(
    save({ all: [{ field: 'company', operator: 'equals', value: 'other' }] }, 2),
    scored('gil@example.com', [0, 60], 'Other', { new_lead: true, configuration_version: 2 }),
    scored('hal@example.com', [0, 60], 'Acme', { new_lead: true, configuration_version: 2 }),
  );
  const after = await firedFor(1);
  expect(after).toEqual([...before, ...leads('gil@example.com')].sort());
  await rig.happen(
    toOu(records.filterDeleted, { ou_id: ouId, filter_id: filterId, at }),
    scored('ida@example.com', [0, 60], 'Other', { new_lead: true, configuration_version: 3 }),
  );
  expect(await firedFor(1)).toEqual(after);
  await eventually('the trigger says so', async () => {
    const { body } = await rig.get(`/triggers/${triggerId(1)}`);
    return body.filter_missing === true;
  });
}, 60_000);

test('a rebuild gives the same documents and sends nothing', async () => {
  const before = await rig.documents();
  const told = receiver.received.length;
  await rig.rebuild();
  expect(await rig.documents()).toEqual(before);
  expect(receiver.received).toHaveLength(told);
}, 120_000);
