// From an event to a message on each type of channel: it is sent once, with the true reason, and never because of an import, a
// repeat or a rebuild.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  accountIdOf,
  notificationPayload,
  routes,
  type routeDeclarations as answers,
  type NotificationDriver,
  type NotificationPayload,
} from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { listLag } from '@lead-scoring/event-log';
import { connectReadModel, createCheckpoints } from '@lead-scoring/read-model';
import { pino } from 'pino';
import {
  notificationEvents,
  startNotifiedSystem,
  type FiredNotification,
  type NotifiedSystem,
} from './notified-system.js';
import { readTopic } from './public-topics.js';
import {
  always,
  startHttpReceiver,
  startMailServer,
  startSlack,
  startTeams,
  startWebhookReceiver,
  type MailServer,
  type Slack,
  type Teams,
  type WebhookReceiver,
} from './receivers/index.js';
import { send } from './route-examples.js';
import { differences, storedDocuments } from './stored-documents.js';
import { rebuild } from './rebuild.js';
import { openSystemLog } from './system-log.js';

let system: NotifiedSystem;
let slack: Slack;
let teams: Teams;
let mail: MailServer;
const started: { stop(): Promise<void> }[] = [];
/** The receiver of the webhook channel in the tests with a channel of each type. */
let hook: WebhookReceiver<FiredNotification>;
/** Every secret that a channel has or had. */
const secrets: string[] = [];

beforeAll(async () => {
  [slack, teams, mail] = [await startSlack(), await startTeams(), await startMailServer()];
  started.push(slack, teams, mail);
  secrets.push(new URL(teams.webhookUrl).searchParams.get('sig') ?? '');
  system = await startNotifiedSystem([0, 1, 1, 1], {
    environment: {
      // At this level every request is logged.
      LOG_LEVEL: 'debug',
      SLACK_BOT_TOKEN: slack.token,
      SLACK_API_URL: slack.apiUrl,
      SMTP_URL: mail.url,
      MAIL_FROM: 'scores@example.com',
    },
  });
  started.push(system);
}, 120_000);

afterAll(async () => {
  for (const one of started.reverse()) await one.stop();
}, 60_000);

/** A webhook receiver, and the channel that sends to it. */
async function receiverOf(
  name: string,
): Promise<{ receiver: WebhookReceiver<FiredNotification>; channelId: string; secret: string }> {
  const receiver = await startWebhookReceiver<FiredNotification>();
  started.push(receiver);
  const { id, signing_secret } = await system.webhook(name, receiver.url);
  receiver.trust(signing_secret);
  secrets.push(signing_secret);
  return { receiver, channelId: id, secret: signing_secret };
}

/** The notifications about a lead that the receiver accepted, in the order of arrival. */
function toldOf(receiver: WebhookReceiver<FiredNotification>, alias: string): FiredNotification[] {
  return [...receiver.accepted.values()]
    .map(({ payload }) => payload)
    .filter(({ data }) => data.lead.id === system.leadOf(alias));
}

/** The token of a link in a notification; it counts as a secret. */
function tokenIn(shareUrl = ''): string {
  const token = shareUrl.slice(shareUrl.lastIndexOf('/') + 1);
  expect(token).toMatch(/^lsh_[0-9A-Za-z]{40}$/);
  secrets.push(token);
  return token;
}

/** Opens the link as a program without a credential. */
const opened = (token: string) =>
  system.request<Record<string, unknown>>(`/public/score-explain/${token}`, { token: null });

const withDestination = (channelIds: string[]) => ({ channel_ids: channelIds });

describe('a lead that becomes hot', () => {
  let crm: WebhookReceiver<FiredNotification>;
  let channelId: string;

  beforeAll(async () => {
    ({ receiver: crm, channelId } = await receiverOf('CRM'));
    const told = withDestination([channelId]);
    await system.call('createTrigger', { body: { name: 'Hot', score_threshold: 30, ...told } });
    await system.call('createSequence', {
      body: {
        name: 'Looked, then asked',
        event_types: ['Pricing View', 'Form Submit'],
        ordered: true,
        window_seconds: 3_600,
        ...told,
      },
    });
    await system.call('createSurgeTrigger', {
      body: { name: 'In a hurry', event_type: null, threshold: 35, window_seconds: 3_600, ...told },
    });
  }, 30_000);

  test('is notified once by milestone, sequence and surge, each with the lead, the score and the true reasons', async () => {
    const alias = 'hot@example.com';
    const position = await system.happen(
      alias,
      {
        event_type: 'Pricing View',
        metadata: { name: 'Ada Hot', company: 'Engines', title: 'Analyst', owner: 'Charles' },
      },
      { event_type: 'Page View' },
      { event_type: 'Page View' },
      { event_type: 'Form Submit' },
    );
    const explained = await system.call<{ top_drivers: NotificationDriver[] }>('explainScore', {
      parameters: { leadID: system.leadOf(alias) },
      query: { min_position: position },
    });
    const firings = await system.settled(alias);
    const told = toldOf(crm, alias);
    expect(told.map(({ type }) => type).sort()).toEqual([
      'trigger.milestone.fired',
      'trigger.sequence.fired',
      'trigger.surge.fired',
    ]);
    expect(crm.forged).toEqual([]);
    const drivers = (list: readonly NotificationDriver[]) =>
      list.map(({ rule_id, event_type, count, weight, total }) => ({
        rule_id,
        event_type,
        count,
        weight,
        total,
      }));
    for (const one of told) {
      expect(notificationPayload.safeParse(one).error).toBeUndefined();
      expect(Buffer.byteLength(JSON.stringify(one))).toBeLessThan(20_000);
      expect(one.data).toMatchObject({
        unit_id: system.ouId,
        lead: {
          id: system.leadOf(alias),
          name: 'Ada Hot',
          company: 'Engines',
          title: 'Analyst',
          owner: 'Charles',
          aliases: [{ alias_kind: 'email', alias }],
        },
      });
    }
    // Milestones and surges know the new score; a sequence fires on its event alone.
    for (const { type, data } of told) {
      if (type === 'trigger.sequence.fired') continue;
      expect(data).toMatchObject({ score: 37, cause: { event_type: 'Form Submit' } });
      expect(drivers(data.top_drivers)).toEqual(drivers(explained.top_drivers));
      expect(drivers(data.top_drivers)).toMatchObject([
        { event_type: 'Form Submit', count: 1, total: 25 },
        { event_type: 'Pricing View', count: 1, total: 10 },
        { event_type: 'Page View', count: 2, total: 2 },
      ]);
    }
    for (const [name, fired] of [
      ['listMilestoneEvents', firings.milestones],
      ['listSequenceEvents', firings.sequences],
      ['listSurgeEvents', firings.surges],
    ] as const) {
      const answer = await system.call(name, { query: { lead_id: system.leadOf(alias) } });
      expect(routes[name].responses[200].schema.safeParse(answer).error).toBeUndefined();
      expect(fired).toHaveLength(1);
      expect(fired[0]?.deliveries).toMatchObject([{ channel_id: channelId, status: 'delivered' }]);
    }
  }, 120_000);

  test('has a link in every notification, which opens without a login until the lead is deleted', async () => {
    const alias = 'hot@example.com';
    const told = toldOf(crm, alias);
    const tokens = told.map(({ data }) => tokenIn(data.share_url));
    expect(new Set(tokens).size).toBe(3);
    for (const [index, token] of tokens.entries()) {
      expect(told[index]?.data.share_url).toBe(`${system.url}/share/${token}`);
      const page = await fetch(`${system.url}/share/${token}`, { headers: { accept: 'text/html' } });
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Ada Hot')]);
      const { status, body } = await opened(token);
      // The bell events of the previous test gave two points more.
      expect([status, body]).toEqual([200, expect.objectContaining({ lead_name: 'Ada Hot', score: 39 })]);
    }
    const lead = { parameters: { id: system.leadOf(alias) } };
    const { data: listed } = await system.call<{ data: answers.Share[] }>('listShares', lead);
    expect(listed.map(({ last_four }) => last_four).sort()).toEqual(
      tokens.map((token) => token.slice(-4)).sort(),
    );
    expect(listed.map(({ created_by }) => created_by).sort()).toEqual(
      told.map(({ data }) => data.trigger.id).sort(),
    );
    await system.call('deleteLead', { parameters: { leadID: lead.parameters.id } });
    await system.happen(alias, { event_type: 'Page View' });
    await eventually('the links have ended', async () => {
      const statuses = await Promise.all(tokens.map(async (token) => (await opened(token)).status));
      return statuses.every((status) => status === 404);
    });
  }, 120_000);

  test('has links that can be opened as soon as the notification arrives', async () => {
    const answered: number[] = [];
    const impatient = await startHttpReceiver(({ body }) => {
      const { data } = JSON.parse(body) as FiredNotification;
      void opened(tokenIn(data.share_url)).then(({ status }) => answered.push(status));
      return { status: 200 };
    });
    started.push(impatient);
    const { id } = await system.webhook('Impatient', impatient.url);
    await system.call('createTrigger', {
      body: { name: 'At once', score_threshold: 10, event_type: 'Chat Started', ...withDestination([id]) },
    });
    await system.call('createSequence', {
      body: {
        name: 'At first sight',
        event_types: ['Chat Started', 'Page View'],
        window_seconds: 60,
        ordered: true,
        ...withDestination([id]),
      },
    });
    const people = Array.from({ length: 20 }, (_, n) => `at-once-${n}@example.com`);
    for (const alias of people)
      await system.happen(alias, { event_type: 'Chat Started' }, { event_type: 'Page View' });
    await eventually('all links were opened', () => answered.length === 2 * people.length, 60_000);
    expect(new Set(answered)).toEqual(new Set([200]));
    await system.call('deleteChannel', { parameters: { id } });
  }, 120_000);

  test('is notified once for each crossing: not while it stays hot, not for a repeat, again after it was cold', async () => {
    const alias = 'crossing@example.com';
    const crossings = async () => {
      const { milestones } = await system.settled(alias);
      const told = toldOf(crm, alias).filter(({ type }) => type === 'trigger.milestone.fired');
      expect(told.map(({ data }) => data.firing_id).sort()).toEqual(milestones.map(({ id }) => id).sort());
      return milestones.length;
    };
    await system.happen(alias, { event_type: 'Form Submit' });
    expect(await crossings()).toBe(0);
    const crossing = { event_type: 'Pricing View', event_id: 'the-crossing' };
    await system.happen(alias, crossing);
    expect(await crossings()).toBe(1);
    await system.happen(alias, crossing);
    await system.happen(alias, { event_type: 'Form Submit' }, { event_type: 'Pricing View' });
    expect(await crossings()).toBe(1);
    await system.happen(alias, ...Array.from({ length: 4 }, () => ({ event_type: 'Email Unsubscribe' })));
    expect(await crossings()).toBe(1);
    await system.happen(alias, { event_type: 'Form Submit' });
    expect(await crossings()).toBe(2);
    const fired = await notificationEvents(system, 'MilestoneFired');
    expect(fired.filter(({ lead_id }) => lead_id === system.leadOf(alias))).toHaveLength(2);
  }, 120_000);

  test('through POST /import is not notified until it becomes hot through POST /ingest', async () => {
    const alias = 'imported@example.com';
    const event = (event_type: string, age: number) => ({
      alias_kind: 'email',
      alias,
      event_type,
      timestamp: new Date(Date.now() - age).toISOString(),
    });
    await system.call('importEvents', {
      body: [event('Pricing View', 3_000), event('Form Submit', 2_000), event('Form Submit', 1_000)],
    });
    const firings = await system.settled(alias);
    expect(firings).toEqual({ milestones: [], sequences: [], surges: [] });
    expect(toldOf(crm, alias)).toEqual([]);
    // Later events change the imported score: down at first, then up across the threshold.
    await system.happen(alias, ...Array.from({ length: 3 }, () => ({ event_type: 'Email Unsubscribe' })));
    expect((await system.settled(alias)).milestones).toEqual([]);
    await system.happen(alias, { event_type: 'Form Submit' });
    expect((await system.settled(alias)).milestones).toHaveLength(1);
  }, 120_000);

  describe('and is deleted', () => {
    const alias = 'deleted@example.com';
    const lists = ['listMilestoneEvents', 'listSequenceEvents', 'listSurgeEvents', 'listDeliveries'] as const;
    const becomeHot = (name: string) =>
      system.happen(
        alias,
        { event_type: 'Pricing View', metadata: { name } },
        { event_type: 'Form Submit', metadata: { name } },
      );
    const firings = async () => {
      const { milestones, sequences, surges } = await system.settled(alias);
      return [...milestones, ...sequences, ...surges];
    };
    const remove = () => system.call('deleteLead', { parameters: { leadID: system.leadOf(alias) } });

    test('disappears with all of its notifications', async () => {
      await becomeHot('Ada Forgotten');
      const fired = await firings();
      expect(fired).toHaveLength(3);
      const notifications = fired.flatMap(({ deliveries }) => deliveries.map(({ id }) => id));
      expect(notifications).toHaveLength(3);
      await remove();
      await eventually('nothing of it is listed', async () => {
        const query = { lead_id: system.leadOf(alias) };
        const found = await Promise.all(lists.map((name) => system.call<{ total: number }>(name, { query })));
        return found.every(({ total }) => total === 0);
      });
      for (const id of notifications)
        for (const name of ['getDelivery', 'redeliverNotification'] as const)
          expect(await send(system, name, { parameters: { id } })).toMatchObject({
            status: 404,
            body: { code: 'delivery_not_found' },
          });
      await eventually('nothing of it is stored', async () => {
        const stored = await storedDocuments(system.endpoints, `${system.namespace}_notification`);
        const holding = [...stored].filter(([, documents]) =>
          [...documents.values()].some((bytes) =>
            ['Ada Forgotten', alias].some((text) => Buffer.from(bytes).includes(text)),
          ),
        );
        if (holding.length > 0) throw new Error(holding.map(([name]) => name).join(', '));
        return true;
      });
    }, 120_000);

    test('is notified again when a new lead with its alias becomes hot, also immediately', async () => {
      for (const name of ['Ada Anew', 'Ada at Once']) {
        const before = toldOf(crm, alias).length;
        await becomeHot(name);
        const fired = await firings();
        expect(fired.map(({ lead }) => lead.name)).toEqual([name, name, name]);
        expect(toldOf(crm, alias)).toHaveLength(before + 3);
        await remove();
      }
    }, 120_000);
  });
});

describe('one trigger with a channel of each type', () => {
  const alias = 'everywhere@example.com';
  const hostileName =
    '<!channel> <@U1> *bold* _x_ [click](https://evil.example) <b>Bob</b>\r\nBcc: all@example.com\u202e';
  const authHeader = 'Bearer an-authorization-of-the-receiver';
  let hookSecret: string;
  let channels: Record<'webhook' | 'slack' | 'teams' | 'email', string>;
  let triggerId: string;

  beforeAll(async () => {
    secrets.push(authHeader);
    hook = await startWebhookReceiver<FiredNotification>();
    started.push(hook);
    // The path of the address is a secret, as with many receivers.
    const path = `/services/${randomBytes(16).toString('hex')}`;
    secrets.push(path);
    const webhook = await system.webhook('Hook', `${hook.url}${path}`, { auth_header: authHeader });
    hookSecret = webhook.signing_secret;
    hook.trust(hookSecret);
    secrets.push(hookSecret);
    const made = async (type: string, config: unknown) =>
      (
        await system.call<{ id: string }>('createChannel', {
          body: { name: `Team on ${type}`, type, config },
        })
      ).id;
    channels = {
      webhook: webhook.id,
      slack: await made('slack', { channel_id: 'C0000000001', channel_name: '#sales' }),
      teams: await made('teams', { webhook_url: teams.webhookUrl, channel_name: 'Sales' }),
      email: await made('email', {
        recipients: 'sam@example.org, kim@example.org',
        subject_prefix: '[Scores]',
      }),
    };
    ({ id: triggerId } = await system.call<{ id: string }>('createTrigger', {
      body: {
        name: 'Everywhere',
        score_threshold: 20,
        event_type: 'Demo Requested',
        ...withDestination(Object.values(channels)),
      },
    }));
  }, 30_000);

  test('sends one message with the lead’s data to each, and a hostile name arrives as plain text', async () => {
    const given = { company: 'Analytical Engines', title: 'Analyst', owner: 'Charles Babbage' };
    await system.happen(alias, { event_type: 'Demo Requested', metadata: { name: hostileName, ...given } });
    const { milestones } = await system.settled(alias);
    const here = milestones.filter(({ trigger }) => trigger.id === triggerId);
    expect(here).toHaveLength(1);
    expect(here[0]?.deliveries.map(({ channel_id, status }) => [channel_id, status]).sort()).toEqual(
      Object.values(channels)
        .map((id) => [id, 'delivered'])
        .sort(),
    );

    expect([...hook.accepted.values()].map(({ headers }) => headers.authorization)).toEqual([authHeader]);
    expect([...hook.accepted.values()][0]?.payload.data.lead.name).toContain('<!channel>');

    expect(slack.messages).toHaveLength(1);
    expect(slack.messages[0]).toMatchObject({ channel: 'C0000000001', mentions: [] });
    const [link = ''] = [...hook.accepted.values()].map(({ payload }) => payload.data.share_url);
    expect((await opened(tokenIn(link))).status).toBe(200);
    expect(slack.messages[0]?.links).toEqual([`${link}|Why this score`]);
    const inSlack = JSON.stringify(slack.messages[0]?.blocks);
    for (const shown of ['channel', '25', 'Demo Requested']) expect(inSlack).toContain(shown);

    expect(teams.received).toHaveLength(1);
    expect(teams.received[0]?.reaction).toEqual({ status: 202 });
    const card = JSON.stringify(teams.received[0]?.card);
    for (const shown of ['25', 'Demo Requested', link]) expect(card).toContain(shown);

    expect(mail.received).toHaveLength(1);
    const [letter] = mail.received;
    expect(letter).toMatchObject({
      from: 'scores@example.com',
      to: ['sam@example.org', 'kim@example.org'],
    });
    expect(letter?.message.subject).toMatch(/^\[Scores\] .*<!channel>/);
    expect(letter?.message.headers.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['list-unsubscribe', 'list-id']),
    );
    expect(letter?.message.bcc).toBeUndefined();
    expect(letter?.message.text).toMatch(/25[\s\S]*Demo Requested/);
    expect(letter?.message.text).toContain(link);
    for (const shown of Object.values(given)) {
      expect(inSlack).toContain(shown);
      expect(card).toContain(shown);
      expect(letter?.message.text).toContain(shown);
    }
    expect(letter?.message.html).not.toMatch(/<b>Bob|href="https:\/\/evil/);
  }, 120_000);

  test.each(['webhook', 'slack', 'teams', 'email'] as const)(
    'a test of the %s channel is sent at once and answered with its outcome',
    async (type) => {
      const count = () =>
        ({
          webhook: hook.received,
          slack: slack.messages,
          teams: teams.received,
          email: mail.received,
        })[type].length;
      const before = count();
      const result = await system.call<{ ok: boolean; detail: string }>('testChannel', {
        parameters: { id: channels[type] },
      });
      expect(routes.testChannel.responses[200].schema.safeParse(result).error).toBeUndefined();
      expect(result).toMatchObject({ ok: true });
      expect(count()).toBe(before + 1);
    },
    60_000,
  );

  test('after a rotation the webhook is signed with both secrets', async () => {
    const { signing_secret } = await system.call<{ signing_secret: string }>('rotateChannelSecret', {
      parameters: { id: channels.webhook },
    });
    secrets.push(signing_secret);
    hook.trust(signing_secret);
    expect(signing_secret).not.toBe(hookSecret);
    await system.call('testChannel', { parameters: { id: channels.webhook } });
    expect(hook.received.at(-1)?.verifiedBy).toEqual([hookSecret, signing_secret]);
  }, 60_000);

  test('channels are listed with the last four of their secrets and nothing more', async () => {
    const listed = await system.call<answers.NotificationChannel[]>('listChannels');
    expect(routes.listChannels.responses[200].schema.safeParse(listed).error).toBeUndefined();
    const webhook = listed.find(({ id }) => id === channels.webhook);
    expect(webhook).toMatchObject({
      status: 'active',
      config: { url: expect.stringContaining('/…'), auth_header: `…${authHeader.slice(-4)}` },
    });
    for (const secret of secrets) expect(JSON.stringify(listed)).not.toContain(secret);
  });
});

describe('a lead that reaches a level', () => {
  const alias = 'level@example.com';
  const color = '#e8590c';
  const levelsWith = (name: string, bound: number) => [
    { name: 'Cold', min_score: null, max_score: 9, color },
    { name: 'Warm', min_score: 10, max_score: bound - 1, color },
    { name, min_score: bound, max_score: null, color },
  ];
  const setLevels = (name: string, bound: number) =>
    system.call('setEngagementLevels', { body: { levels: levelsWith(name, bound) } });
  let byLevel: WebhookReceiver<FiredNotification>;
  let trigger: answers.MilestoneTriggerAnswer;

  test('is notified once, at the level’s bound since its last answered change', async () => {
    const made = await receiverOf('By level');
    byLevel = made.receiver;
    await setLevels('Hot', 50);
    trigger = await system.call('createTrigger', {
      body: { name: 'Got hot', level: 'hot', ...withDestination([made.channelId]) },
    });
    expect(trigger).toMatchObject({ level: 'hot', level_missing: false });
    await system.happen(alias, { event_type: 'Form Submit' }, { event_type: 'Pricing View' });
    await system.settled(alias);
    expect(toldOf(byLevel, alias)).toEqual([]);
    await setLevels('Hot', 40);
    // The score is 35 and two for the bell.
    await system.happen(alias, { event_type: 'Pricing View' });
    const { milestones } = await system.settled(alias);
    const values = { score: 47, previous_score: 37, level: 'Hot', threshold: 40, threshold_level: 'Hot' };
    const fired = milestones.filter((one) => one.trigger.id === trigger.id);
    expect(fired).toMatchObject([
      { ...values, previous_level: 'Warm', deliveries: [{ status: 'delivered' }] },
    ]);
    expect(toldOf(byLevel, alias)).toMatchObject([
      { type: 'lead.level_changed', data: { ...values, previous_level: 'Warm', firing_id: fired[0]?.id } },
    ]);
    expect(byLevel.forged).toEqual([]);
    const simulated = await system.call<answers.SimulatedMilestones>('simulateTrigger', {
      parameters: { id: trigger.id },
      body: {},
    });
    expect(
      simulated.data.filter((one) => 'lead' in one && one.lead.id === system.leadOf(alias)),
    ).toMatchObject([{ score: 47, cause: { event_id: fired[0]?.cause.event_id } }]);
  }, 120_000);

  test('that was removed is not notified, and the trigger shows why', async () => {
    await setLevels('Boiling', 40);
    await eventually('the trigger says so', async () => {
      const { level_missing } = await system.call<answers.MilestoneTriggerAnswer>('getTrigger', {
        parameters: { id: trigger.id },
      });
      return level_missing === true;
    });
    const other = 'another-level@example.com';
    await system.happen(other, { event_type: 'Form Submit' }, { event_type: 'Form Submit' });
    const { milestones } = await system.settled(other);
    expect(milestones.filter((one) => one.trigger.id === trigger.id)).toEqual([]);
    expect(toldOf(byLevel, other)).toEqual([]);
    const refused = await send(system, 'createTrigger', { body: { name: 'Got hot', level: 'Hot' } });
    expect(refused).toMatchObject({
      status: 404,
      body: { code: 'level_not_found', detail: expect.stringContaining('"Cold", "Warm", "Boiling"') },
    });
  }, 120_000);
});

describe('an account that becomes hot', () => {
  const people = ['ada', 'bob', 'cy'].map((name) => `${name}@hot-engines.com`);
  const idOfAccount = () =>
    accountIdOf(system.ouId, { account_kind: 'domain', account_key: 'hot-engines.com' });

  test('is notified once, whoever of its leads made it so, and is erased with the last of them', async () => {
    const receiver = await startWebhookReceiver<NotificationPayload>();
    started.push(receiver);
    const { id, signing_secret } = await system.webhook('Accounts', receiver.url);
    receiver.trust(signing_secret);
    secrets.push(signing_secret);
    await system.call('setAccountRollUp', { body: { roll_up: { method: 'sum' } } });
    const trigger = await system.call<answers.MilestoneTriggerAnswer>('createTrigger', {
      body: { name: 'Hot account', score_type: 'account', score_threshold: 40, ...withDestination([id]) },
    });
    const account_id = idOfAccount();
    const [ada = '', bob = '', cy = ''] = people;
    const metadata = { account: { domain: 'hot-engines.com', name: 'Hot Engines' } };
    await system.happen(ada, { event_type: 'Form Submit', metadata });
    await scoreIs(25);
    await system.happen(bob, { event_type: 'Form Submit' });
    await eventually('the receiver is told', () => receiver.accepted.size === 1, 60_000);
    const [told] = [...receiver.accepted.values()].map(({ payload }) => payload);
    expect(notificationPayload.safeParse(told).error).toBeUndefined();
    expect(told).toMatchObject({
      type: 'account.milestone.fired',
      data: {
        trigger: { id: trigger.id, kind: 'milestone' },
        account: { id: account_id, name: 'Hot Engines', account_key: 'hot-engines.com', leads: 2 },
        ...{ score: 50, previous_score: 25, threshold: 40, direction: 'up' },
        cause: { event_id: null, reason: 'leads' },
        unit_id: system.ouId,
      },
    });
    await system.happen(cy, { event_type: 'Form Submit' });
    await scoreIs(75);
    expect(await listed('listMilestoneEvents')).toMatchObject([{ account: { id: account_id }, score: 50 }]);
    expect(await listed('listDeliveries')).toHaveLength(1);
    for (const alias of people)
      await system.call('deleteLead', { parameters: { leadID: system.leadOf(alias) } });
    await eventually(
      'it is erased',
      async () =>
        [...(await listed('listMilestoneEvents')), ...(await listed('listDeliveries'))].length === 0,
      60_000,
    );
    expect(receiver.received).toHaveLength(1);
    await system.call('deleteTrigger', { parameters: { id: trigger.id } });
    await system.call('setAccountRollUp', { body: { roll_up: { method: 'none' } } });
  }, 180_000);

  const listed = async (name: 'listMilestoneEvents' | 'listDeliveries') =>
    (await system.call<{ data: unknown[] }>(name, { query: { account_id: idOfAccount() } })).data;

  async function scoreIs(score: number): Promise<void> {
    await eventually(
      `the account has ${String(score)} points`,
      async () => {
        const { status, body } = await send(system, 'getAccount', { parameters: { id: idOfAccount() } });
        return status === 200 && (body as answers.Account).score === score;
      },
      60_000,
    );
  }
});

describe('ten destinations, one of them dead', () => {
  test('the other nine get all of their notifications before the dead one answers', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, (_, n) => receiverOf(`Destination ${n}`)));
    const [dead, ...living] = all;
    if (!dead) throw new Error('there is none');
    dead.receiver.behave(always('hang'));
    await system.call('createTrigger', {
      body: {
        name: 'Ten',
        score_threshold: 25,
        event_type: 'Trial Started',
        ...withDestination(all.map(({ channelId }) => channelId)),
      },
    });
    const people = Array.from({ length: 20 }, (_, n) => `ten-${n}@example.com`);
    await Promise.all(people.map((alias) => system.happen(alias, { event_type: 'Trial Started' })));
    await eventually('the dead one is asked', () => dead.receiver.unanswered() > 0, 60_000);
    await eventually(
      'the living have all of theirs',
      () => living.every(({ receiver }) => receiver.accepted.size === people.length),
      60_000,
    );
    expect(dead.receiver.accepted.size).toBe(0);
    const waiting = await system.call<{ total: number }>('listDeliveries', {
      query: { channel_id: dead.channelId, status: 'pending', limit: '1' },
    });
    expect(waiting.total).toBe(people.length);
    for (const { receiver } of living) expect(receiver.received).toHaveLength(people.length);
    // Pending deliveries of a deleted channel are discarded.
    await system.call('deleteChannel', { parameters: { id: dead.channelId } });
    dead.receiver.behave(always({ status: 200 }));
    dead.receiver.release();
    await untilNothingWaits();
  }, 120_000);
});

describe('notifications that come back as events', () => {
  test('a delivery to POST /ingest of the system is refused there, and shows the refusal', async () => {
    const alias = 'echo@example.com';
    const authorization = `Bearer ${system.token}`;
    secrets.push(system.token);
    const channels = await Promise.all(
      ['One', 'Two'].map((name) =>
        system.webhook(name, `${system.url}/ingest`, { auth_header: authorization }),
      ),
    );
    const ids = channels.map(({ id }) => id);
    const trigger = await system.call<{ id: string }>('createTrigger', {
      body: { name: 'Echo', score_threshold: 10, event_type: 'Chat Started', ...withDestination(ids) },
    });
    await system.happen(alias, { event_type: 'Chat Started' });
    for (const id of ids) {
      const refused = await eventually(
        'the delivery was refused',
        async () => {
          const query = { channel_id: id, trigger_id: trigger.id };
          const { data } = await system.call<{ data: answers.Delivery[] }>('listDeliveries', { query });
          if (data[0]?.last_status !== 508) return undefined;
          return system.call<answers.DeliveryWithAttempts>('getDelivery', {
            parameters: { id: data[0].id },
          });
        },
        60_000,
      );
      expect(routes.getDelivery.responses[200].schema.safeParse(refused).error).toBeUndefined();
      expect(refused.attempt_log[0]?.response).toContain('delivery_loop');
      const tested = await system.call('testChannel', { parameters: { id } });
      expect(tested).toMatchObject({ ok: false, status: 508 });
    }
    await system.settled(alias);
    const total = await eventually(
      'all events are readable',
      async () => {
        const events = await system.call<{ total: number }>('listLeadEvents', {
          parameters: { leadID: system.leadOf(alias) },
          query: { limit: '1' },
        });
        return events.total >= 3 ? events.total : undefined;
      },
      30_000,
    );
    // The event of the test, and the two bell events.
    expect(total).toBe(3);
    for (const id of ids) await system.call('deleteChannel', { parameters: { id } });
    await untilNothingWaits();
  }, 120_000);

  test('two channels whose receivers send an event for each notification are stopped, and the triggers show it', async () => {
    const alias = 'round@example.com';
    let relayed = 0;
    const failures: unknown[] = [];
    /** Makes an event of every notification, as an integration between two tools does. */
    const relay = async (event_type: string) => {
      const receiver = await startHttpReceiver(() => {
        relayed += 1;
        system.happen(alias, { event_type }).catch((error: unknown) => failures.push(error));
        return { status: 200 };
      });
      started.push(receiver);
      return (await system.webhook(`Relay of ${event_type}`, receiver.url)).id;
    };
    const trigger = async (direction: 'up' | 'down', event_type: string, relays: string) => {
      const body = { name: `Round: ${event_type}`, score_threshold: 0, direction, event_type };
      const channel = await relay(relays);
      return (
        await system.call<{ id: string }>('createTrigger', {
          body: { ...body, ...withDestination([channel]) },
        })
      ).id;
    };
    // The score rises and falls by the same weight, so that the loop would not end by itself.
    const triggers = [
      await trigger('up', 'Went Up', 'Went Down'),
      await trigger('down', 'Went Down', 'Went Up'),
    ];
    await system.happen(alias, { event_type: 'Went Down' });
    const suppressed = await eventually(
      'a trigger is suppressed',
      async () => {
        for (const id of triggers) {
          const found = await system.call<answers.MilestoneTriggerAnswer>('getTrigger', {
            parameters: { id },
          });
          if (found.suppressed) return found;
        }
        return undefined;
      },
      90_000,
    );
    expect(suppressed.suppressed).toMatchObject({ leads: 1 });
    const { milestones } = await system.settled(alias);
    const rounds = milestones.filter(({ trigger: { id } }) => triggers.includes(id));
    expect(rounds.length).toBeGreaterThan(20);
    expect(rounds.length).toBeLessThanOrEqual(41);
    expect(failures).toEqual([]);
    expect(relayed).toBe(rounds.length);
    const reported = await notificationEvents(system, 'TriggerSuppressed');
    expect(reported.map(({ lead_id, trigger: { id } }) => [lead_id, id])).toEqual([
      [system.leadOf(alias), suppressed.id],
    ]);
  }, 180_000);
});

describe('afterwards', () => {
  /** Waits for the write-behind: triggers' states are stored after their records were folded. */
  async function untilStored(database: string): Promise<void> {
    const log = openSystemLog(system);
    const readModel = await connectReadModel(
      { uri: system.endpoints.mongodbUri, database },
      { logger: pino({ level: 'silent' }) },
    );
    try {
      await eventually(
        'all is stored that is taken',
        async () => {
          const stored = await createCheckpoints(readModel).loadAll('notification');
          const lags = await listLag(log, 'notification');
          return lags.every(({ reader, topic, partition, position, lag }) =>
            reader === 'notification'
              ? stored.get(partition)?.positions[topic] === position
              : // The reader of explanations: its lag on scoring.events has to be zero.
                topic !== 'scoring.events' || lag === 0n,
          );
        },
        60_000,
      );
    } finally {
      await readModel.close();
      await log.close();
    }
  }

  test('the rebuilt read models equal the earlier ones, and no notification is sent again', async () => {
    await untilNothingWaits();
    const database = `${system.namespace}_notification`;
    const ofTheMoment = { except: ['checkpoints'] };
    await untilStored(database);
    const before = await storedDocuments(system.endpoints, database, ofTheMoment);
    const sent = () => [
      hook.received.length,
      slack.messages.length,
      teams.received.length,
      mail.received.length,
    ];
    const sentBefore = sent();
    const listed = await system.call<{ total: number }>('listDeliveries', { query: { limit: '1' } });
    await rebuild(system, ['scoring', 'notification'], 60_000);
    await eventually(
      'the read models are those that were there',
      async () => {
        const found = differences(before, await storedDocuments(system.endpoints, database, ofTheMoment));
        if (found.length > 0) throw new Error(found.join('\n'));
        return true;
      },
      60_000,
    );
    // This notification would arrive after any that the rebuild sent.
    await system.happen('after@example.com', { event_type: 'Demo Requested' });
    const { milestones } = await system.settled('after@example.com');
    const fired = milestones.reduce((sum, { deliveries }) => sum + deliveries.length, 0);
    const now = await system.call<{ total: number }>('listDeliveries', { query: { limit: '1' } });
    expect(now.total - listed.total).toBe(fired);
    expect(sent()).toEqual(sentBefore.map((count) => count + 1));
  }, 180_000);

  test('no secret of a channel, nor the token of a link, is in any log, topic or database', async () => {
    const places: [string, Buffer][] = [];
    for (const { name, logFile } of system.system.services)
      places.push([`log of ${name}`, await readFile(logFile)]);
    for (const service of ['gateway', 'notification', 'share'] as const) {
      const stored = await storedDocuments(system.endpoints, `${system.namespace}_${service}`);
      for (const [collection, documents] of stored)
        for (const bytes of documents.values())
          places.push([`${service}: ${collection}`, Buffer.from(bytes)]);
    }
    for (const topic of [
      'notification.commands',
      'notification.events',
      'share.commands',
      'share.events',
      'replies',
    ])
      for (const { type, payload, headers } of await readTopic(
        system.endpoints,
        `${system.namespace}.${topic}`,
      ))
        places.push([`${topic}: ${type}`, Buffer.from(JSON.stringify([payload, headers]))]);
    const found = places.filter(([, bytes]) => secrets.some((secret) => bytes.includes(secret)));
    expect([...new Set(found.map(([place]) => place))]).toEqual([]);
  }, 120_000);
});

async function untilNothingWaits(): Promise<void> {
  await eventually(
    'nothing waits',
    async () => {
      const { total } = await system.call<{ total: number }>('listDeliveries', {
        query: { status: 'pending', limit: '1' },
      });
      return total === 0 ? true : undefined;
    },
    60_000,
  );
}
