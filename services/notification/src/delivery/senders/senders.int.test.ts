// Each sender against a real receiver and its possible faults.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { NotificationPayload, records } from '@lead-scoring/contracts';
import { createOutbound, parsePrivateTargets, type Outbound } from '@lead-scoring/outbound';
import { createSealing } from '@lead-scoring/service';
import {
  always,
  startMailServer,
  startSlack,
  startTeams,
  startWebhookReceiver,
  type MailServer,
  type Slack,
  type Teams,
  type WebhookReceiver,
} from '@lead-scoring/testing/receivers';
import type { Channel } from '../../configuration/state.js';
import { createShareLinks } from '../../share-links.js';
import { channelOf, firedPayload, idOf } from '../../testing/delivery-builders.js';
import type { Notification } from '../state.js';
import { createSenders, type SenderDependencies } from './senders.js';
import type { AttemptResult } from './sender.js';

const sealing = createSealing('a secret of tests that is long enough');
const notification = { notification_id: idOf('notification'), payload: firedPayload() };
const hostile = firedPayload({
  lead: { id: idOf('lead'), name: 'Ada\r\nBcc: x@example.com <!channel> **b** <b>', aliases: [] },
});
const timeoutMs = 500;

let outbound: Outbound;
let stops: (() => Promise<void>)[];

beforeEach(() => {
  stops = [];
});
afterEach(async () => {
  await outbound.close();
  for (const stop of stops) await stop();
});

function allow(...targets: string[]): void {
  outbound = createOutbound({
    userAgent: 'LeadScoring/1.0',
    allowedPrivateTargets: parsePrivateTargets(targets.join(',')),
  });
}

function sealed(secret: string, channelId: string): records.SealedSecret {
  return { sealed: sealing.seal(secret, channelId), last_four: secret.slice(-4) };
}

async function sendTo(
  destination: Channel['destination'],
  {
    payload = notification.payload,
    share,
    deferred = null,
    channel = {},
    ...dependencies
  }: Partial<SenderDependencies> &
    Partial<Pick<Notification, 'share' | 'deferred'>> & {
      payload?: NotificationPayload;
      channel?: Partial<Channel>;
    } = {},
): Promise<AttemptResult> {
  const send = createSenders({
    outbound,
    secrets: sealing,
    shareLinks: null,
    slack: null,
    mail: null,
    timeoutMs,
    ...dependencies,
  });
  return send(
    channelOf('channel', { destination, ...channel }),
    { ...notification, payload, ...(share && { share }), deferred },
    { at: new Date(), signal: new AbortController().signal },
  );
}

describe('a webhook', () => {
  let receiver: WebhookReceiver<NotificationPayload>;
  const signing = { key_id: idOf('key'), previous: null };
  const secret = sealing.signingSecret(signing.key_id);

  beforeEach(async () => {
    receiver = await startWebhookReceiver({ secrets: [secret] });
    stops.push(() => receiver.stop());
    allow(receiver.target);
  });
  const send = (auth?: string, payload?: NotificationPayload, channel: Partial<Channel> = { signing }) =>
    sendTo(
      {
        type: 'webhook',
        config: {
          url: `${receiver.url}hook?a=1`,
          ...(auth !== undefined && { auth_header: sealed(auth, idOf('channel')) }),
        },
      },
      { channel, ...(payload && { payload }) },
    );

  test('gets the share link in the signed body, and a link that it repeats is not recorded', async () => {
    const shareLinks = createShareLinks(sealing, 'https://app.example.com');
    const link = shareLinks?.of(idOf('firing'));
    if (!link) throw new Error('there is none');
    const share = { id: link.fields.share_id, expires_at: new Date(Date.now() + 60_000).toISOString() };
    receiver.behave(always({ status: 500, body: `What is ${link.url}?` }));
    const config = { url: receiver.url };
    const result = await sendTo({ type: 'webhook', config }, { channel: { signing }, share, shareLinks });
    expect(receiver.received[0]).toMatchObject({
      payload: { data: { ...firedPayload().data, share_url: link.url } },
      verifiedBy: [secret],
    });
    expect(result).toMatchObject({ status: 500, response: 'What is https://app.example.com/share/…?' });
    expect(JSON.stringify(result)).not.toContain(link.token);
  });

  test('gets the recorded payload, signed, with its id and the channel’s authorization header', async () => {
    expect(await send('Bearer of-the-receiver', hostile)).toMatchObject({
      outcome: 'delivered',
      status: 200,
    });
    const [call] = receiver.received;
    expect(call).toMatchObject({
      method: 'POST',
      path: '/hook?a=1',
      payload: hostile,
      verifiedBy: [secret],
      headers: {
        'content-type': 'application/json',
        'webhook-id': notification.notification_id,
        'lead-scoring-delivery': notification.notification_id,
        authorization: 'Bearer of-the-receiver',
        'user-agent': 'LeadScoring/1.0',
      },
    });
    expect(call?.headers).not.toHaveProperty('traceparent');
  });

  test('is signed with both secrets while one replaces the other', async () => {
    receiver.trust(sealing.signingSecret(idOf('new key')));
    await send(undefined, undefined, {
      signing: {
        key_id: idOf('new key'),
        previous: {
          key_id: signing.key_id,
          valid_until: new Date(Date.now() + 60_000).toISOString(),
        },
      },
    });
    expect(receiver.received[0]?.verifiedBy).toHaveLength(2);
  });

  test.each([
    [{ status: 204 }, { outcome: 'delivered', status: 204 }],
    [
      { status: 500, body: 'out of order' },
      { outcome: 'failed', reason: 'status', status: 500, response: 'out of order' },
    ],
    [{ status: 404 }, { outcome: 'failed', reason: 'status', status: 404 }],
    [{ status: 410 }, { outcome: 'failed', reason: 'gone', status: 410 }],
    [
      { status: 429, headers: { 'retry-after': '120' } },
      { outcome: 'failed', reason: 'rate_limited', status: 429, retry_after_seconds: 120 },
    ],
    [
      { status: 503, headers: { 'retry-after': 'soon' } },
      { outcome: 'failed', reason: 'status', status: 503 },
    ],
    ['hang', { outcome: 'failed', reason: 'timeout' }],
    ['drip', { outcome: 'failed', reason: 'timeout' }],
    ['garbage', { outcome: 'failed', reason: 'malformed' }],
    ['disconnect', { outcome: 'failed', reason: 'unreachable' }],
  ] as const)('that answers %j is recorded with this result', async (reaction, expected) => {
    receiver.behave(always(reaction));
    expect(await send()).toMatchObject(expected);
    expect(receiver.received).toHaveLength(1);
  });

  test('whose secret was sealed with another SEALING_SECRET gets no request, and the attempt records why', async () => {
    const result = await sendTo(
      {
        type: 'webhook',
        config: { url: receiver.url, auth_header: sealed('Bearer of-the-receiver', idOf('channel')) },
      },
      { channel: { signing }, secrets: createSealing('another secret of tests that is long enough') },
    );
    expect(result).toMatchObject({ outcome: 'failed', reason: 'internal' });
    expect(result.detail).toContain('SEALING_SECRET');
    expect(receiver.received).toHaveLength(0);
  });

  test('that redirects is not followed', async () => {
    receiver.behave(always({ status: 307, headers: { location: `${receiver.url}elsewhere` } }));
    expect(await send()).toMatchObject({ outcome: 'failed', reason: 'status', status: 307 });
    expect(receiver.received).toHaveLength(1);
  });

  test('that answers at length is read for 20,000 bytes, and secrets that it repeats are not recorded', async () => {
    receiver.behave(always({ status: 500, body: 'Bearer of-the-receiver '.repeat(10_000) }));
    const { response = '' } = await send('Bearer of-the-receiver');
    expect(Buffer.byteLength(response)).toBeLessThanOrEqual(20_000);
    expect(response).not.toContain('Bearer of-the-receiver');
  });

  test('at an address that is not public gets no request', async () => {
    await outbound.close();
    allow();
    expect(await send()).toMatchObject({ outcome: 'failed', reason: 'refused' });
    expect(receiver.received).toHaveLength(0);
  });
});

describe('Teams', () => {
  let teams: Teams;
  beforeEach(async () => {
    teams = await startTeams();
    stops.push(() => teams.stop());
    allow(teams.target);
  });
  const send = (payload = notification.payload) =>
    sendTo(
      {
        type: 'teams',
        config: { webhook_url: sealed(teams.webhookUrl, idOf('channel')), channel_name: 'Sales' },
      },
      { payload },
    );

  test('accepts the card', async () => {
    expect(await send()).toMatchObject({ outcome: 'delivered', status: 202 });
    expect(JSON.stringify(teams.received[0]?.card)).toContain('Ada Lovelace is up to 87 points');
  });

  test('that fails is recorded without its address, which is a secret', async () => {
    teams.behave(always({ status: 500, body: `no ${teams.webhookUrl} here` }));
    const result = await send();
    expect(result).toMatchObject({ outcome: 'failed', status: 500 });
    expect(JSON.stringify(result)).not.toContain('a-secret-of-the-channel');
    teams.behave(always('hang'));
    const late = await send();
    expect(late).toMatchObject({ outcome: 'failed', reason: 'timeout' });
    expect(JSON.stringify(late)).not.toContain('a-secret-of-the-channel');
  });
});

describe('Slack', () => {
  let slack: Slack;
  beforeEach(async () => {
    slack = await startSlack();
    stops.push(() => slack.stop());
    allow();
  });
  const destination = (channel_id = 'C0000000001'): Channel['destination'] => ({
    type: 'slack',
    config: { channel_id, channel_name: '#sales' },
  });
  const send = (payload = notification.payload, channelId?: string) =>
    sendTo(destination(channelId), { payload, slack: { token: slack.token, apiUrl: slack.apiUrl } });

  test('gets a message with lead, score and reasons that mentions nobody', async () => {
    expect(await send(hostile)).toMatchObject({ outcome: 'delivered' });
    const [message] = slack.messages;
    expect(message).toMatchObject({ channel: 'C0000000001', mentions: [], links: [] });
    expect(JSON.stringify(message?.blocks)).toContain('Demo Requested: +25');
    expect(message?.text).not.toMatch(/[<>\n\r]/);
  });

  test.each([
    [
      { error: 'is_archived' },
      { outcome: 'failed', reason: 'status', detail: 'Slack answered is_archived.' },
    ],
    [{ error: 'invalid_blocks' }, { outcome: 'failed', reason: 'rejected' }],
    [
      { ratelimited: 30 },
      { outcome: 'failed', reason: 'rate_limited', status: 429, retry_after_seconds: 30 },
    ],
    [{ instead: { status: 503 } }, { outcome: 'failed', reason: 'status', status: 503 }],
    [{ instead: 'hang' }, { outcome: 'failed', reason: 'timeout' }],
    [{ instead: 'disconnect' }, { outcome: 'failed', reason: 'unreachable' }],
    [{ instead: 'garbage' }, { outcome: 'failed' }],
    [{ instead: { status: 200, body: 'no JSON' } }, { outcome: 'failed', reason: 'malformed' }],
  ] as const)(
    'that answers %j is recorded with this result after one request',
    async (reaction, expected) => {
      slack.behave(() => reaction);
      expect(await send()).toMatchObject(expected);
      expect(slack.calls).toHaveLength(1);
    },
  );

  test('without a token fails with the name of the missing setting', async () => {
    expect(await sendTo(destination())).toMatchObject({
      outcome: 'failed',
      reason: 'not_set_up',
      detail: 'Slack is not set up: set SLACK_BOT_TOKEN.',
    });
  });

  test('with a wrong token fails with invalid_auth and does not record the token', async () => {
    const result = await sendTo(destination(), { slack: { token: 'xoxb-of-another', apiUrl: slack.apiUrl } });
    expect(result).toMatchObject({ outcome: 'failed', detail: 'Slack answered invalid_auth.' });
    expect(JSON.stringify(result)).not.toContain('xoxb-of-another');
  });
});

describe('e-mail', () => {
  let server: MailServer;
  const from = 'leads@example.com';
  beforeEach(async () => {
    server = await startMailServer();
    stops.push(() => server.stop());
    allow();
  });
  const destination = (
    recipients = 'ada@example.com, grace@example.com',
    subject_prefix = '[Sales]',
  ): Channel['destination'] => ({ type: 'email', config: { recipients, subject_prefix } });
  const send = (payload = notification.payload, to = destination()) =>
    sendTo(to, { payload, mail: { url: server.url, from } });

  test('is one message for all recipients, with text and HTML, and its subject is one line', async () => {
    expect(await send(hostile)).toMatchObject({ outcome: 'delivered', status: 250 });
    expect(server.received).toHaveLength(1);
    const [mail] = server.received;
    expect(mail).toMatchObject({ from, to: ['ada@example.com', 'grace@example.com'] });
    expect(mail?.message.subject).toBe(
      '[Sales] Ada Bcc: x@example.com <!channel> **b** <b> is up to 87 points',
    );
    expect(mail?.message.bcc ?? []).toEqual([]);
    expect(mail?.message.text).toContain('Demo Requested: +25');
    expect(mail?.message.html).not.toContain('<b>');
    const headers = new Map(mail?.message.headers.map(({ key, value }) => [key, value]));
    expect(headers.get('list-unsubscribe')).toMatch(/^<mailto:leads@example\.com\?subject=/);
    expect(headers.get('message-id')).toBe(`<${notification.notification_id}@example.com>`);
  });

  test.each([
    ['connection', 421, { outcome: 'failed', reason: 'status', status: 421 }],
    ['sender', 451, { outcome: 'failed', reason: 'status', status: 451 }],
    ['recipient', 450, { outcome: 'failed', reason: 'status', status: 450 }],
    ['recipient', 550, { outcome: 'failed', reason: 'rejected', status: 550 }],
    ['message', 452, { outcome: 'failed', reason: 'status', status: 452 }],
    ['message', 554, { outcome: 'failed', reason: 'rejected', status: 554 }],
  ] as const)(
    'that the server answers at the %s with %i is recorded as that',
    async (at, reply, expected) => {
      server.behave((step) => (step.at === at ? { reply } : 'accept'));
      expect(await send()).toMatchObject(expected);
      expect(server.received).toHaveLength(0);
    },
  );

  test('is given up within the time limit when the server is silent', async () => {
    server.behave(({ at }) => (at === 'message' ? 'hang' : 'accept'));
    expect(await send()).toMatchObject({ outcome: 'failed', reason: 'timeout' });
  });

  test('with a refused recipient is delivered to the other, and the attempt names the refused one', async () => {
    server.behave(({ at, address }) =>
      at === 'recipient' && address === 'grace@example.com' ? { reply: 550 } : 'accept',
    );
    expect(await send()).toMatchObject({
      outcome: 'delivered',
      detail: 'The mail server accepted the message for 1 of 2 recipients. Refused: grace@example.com.',
    });
  });

  test('with a deferred recipient is delivered to the other, and retried for the deferred one alone', async () => {
    const three = destination('ada@example.com, grace@example.com, joan@example.com');
    const mail = { url: server.url, from };
    const answers = new Map([
      ['grace@example.com', 450],
      ['joan@example.com', 550],
    ]);
    server.behave(({ at, address }) => {
      const reply = at === 'recipient' ? answers.get(address) : undefined;
      return reply === undefined ? 'accept' : { reply };
    });
    const first = await sendTo(three, { mail });
    expect(first).toMatchObject({
      outcome: 'failed',
      reason: 'status',
      status: 450,
      detail:
        'The mail server accepted the message for 1 of 3 recipients. Deferred: grace@example.com. Refused: joan@example.com.',
      deferred: [expect.stringMatching(/^[0-9a-f]{16}$/)],
    });
    const { deferred = [] } = first;
    expect(await sendTo(three, { mail, deferred })).toMatchObject({ outcome: 'failed', status: 450 });
    answers.clear();
    expect(await sendTo(three, { mail, deferred })).toMatchObject({
      outcome: 'delivered',
      detail: 'The mail server accepted the message for 1 of 1 recipients.',
    });
    expect(server.received.map(({ to }) => to)).toEqual([['ada@example.com'], ['grace@example.com']]);
    const others = destination('joan@example.com');
    expect(await sendTo(others, { mail, deferred })).toMatchObject({ outcome: 'delivered' });
    expect(server.received).toHaveLength(2);
  });

  test('with a line break among its recipients is sent to nobody', async () => {
    const to = destination('ada@example.com\r\nRCPT TO:<x@example.com>');
    expect(await send(notification.payload, to)).toMatchObject({ outcome: 'failed', reason: 'refused' });
    expect(server.steps).toHaveLength(0);
  });

  test('without a server fails with the names of the missing settings', async () => {
    expect(await sendTo(destination())).toMatchObject({
      outcome: 'failed',
      reason: 'not_set_up',
      detail: 'E-mail is not set up: set SMTP_URL and MAIL_FROM.',
    });
  });
});
