// Tests of the receivers themselves, over real sockets, because other tests rely on them.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  always,
  failing,
  inTurn,
  startMailServer,
  startSlack,
  startTeams,
  startWebhookReceiver,
  type Reaction,
} from './index.js';

const started: { stop(): Promise<void> }[] = [];
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;

async function opened<Double extends { stop(): Promise<void> }>(starting: Promise<Double>): Promise<Double> {
  const double = await starting;
  started.push(double);
  return double;
}

afterEach(async () => {
  for (const double of started.splice(0)) await double.stop();
});

interface Sending {
  id?: string;
  body?: string;
  secrets?: string[];
  at?: Date;
  signal?: AbortSignal;
}

function send(
  url: string,
  { id = 'msg_1', body = '{"type":"a"}', secrets = [secret], at = new Date(), signal }: Sending = {},
) {
  return fetch(url, {
    method: 'POST',
    body,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': secrets.map((one) => new Webhook(one).sign(id, at, body)).join(' '),
    },
    ...(signal && { signal }),
  });
}

describe('the webhook receiver', () => {
  test('accepts a request that one of its secrets verifies, and records which', async () => {
    const receiver = await opened(startWebhookReceiver({ secrets: [secret] }));
    receiver.trust(other);
    expect((await send(receiver.url, { secrets: [secret, other] })).status).toBe(200);
    receiver.distrust(secret);
    expect((await send(receiver.url)).status).toBe(401);
    expect(
      receiver.received.map(({ id, nth, payload, verifiedBy }) => [id, nth, payload, verifiedBy]),
    ).toEqual([
      ['msg_1', 0, { type: 'a' }, [secret, other]],
      ['msg_1', 1, { type: 'a' }, []],
    ]);
    expect([receiver.accepted.size, receiver.forged.length]).toEqual([1, 1]);
  });

  test.each([
    ['another secret', { secrets: [other] }],
    ['no signature', { secrets: [] }],
    ['a timestamp of 301 seconds ago', { at: new Date(Date.now() - 302_000) }],
  ])('answers 401 to %s, with any behaviour', async (_, sending) => {
    const receiver = await opened(startWebhookReceiver({ secrets: [secret] }));
    receiver.behave(always({ status: 500 }));
    expect((await send(receiver.url, sending)).status).toBe(401);
    expect(receiver.accepted.size).toBe(0);
  });

  test('compares timestamps with a given clock', async () => {
    let now = Date.now() + 86_400_000;
    const receiver = await opened(startWebhookReceiver({ secrets: [secret], now: () => now }));
    expect((await send(receiver.url, { at: new Date(now) })).status).toBe(200);
    expect((await send(receiver.url, { at: new Date(now), secrets: [other] })).status).toBe(401);
    now += 302_000;
    expect((await send(receiver.url, { at: new Date(now - 302_000) })).status).toBe(401);
  });

  test('reacts in turn to each message, and fails the same calls for the same seed', async () => {
    const receiver = await opened(startWebhookReceiver({ secrets: [secret] }));
    receiver.behave(inTurn({ status: 500 }, { status: 429, headers: { 'retry-after': '7' } }));
    const answers = [await send(receiver.url), await send(receiver.url), await send(receiver.url)];
    expect(answers.map(({ status }) => status)).toEqual([500, 429, 200]);
    expect(answers[1]?.headers.get('retry-after')).toBe('7');
    const half = failing(0.5, 42);
    const statuses = Array.from({ length: 1_000 }, (_, n) => half({ id: `m${n}`, nth: 0 }));
    const failed = statuses.filter((reaction) => (reaction as { status: number }).status === 500).length;
    expect(failed).toBeGreaterThan(400);
    expect(failed).toBeLessThan(600);
    expect(Array.from({ length: 1_000 }, (_, n) => failing(0.5, 42)({ id: `m${n}`, nth: 0 }))).toEqual(
      statuses,
    );
  });

  test.each<Reaction>(['garbage', 'disconnect'])(
    '%s makes the request fail without an answer',
    async (reaction) => {
      const receiver = await opened(startWebhookReceiver({ secrets: [secret] }));
      receiver.behave(always(reaction));
      await expect(send(receiver.url)).rejects.toThrow();
      expect([receiver.received.length, receiver.accepted.size]).toEqual([1, 0]);
    },
  );

  test('hangs until it is released, and drips without an end', async () => {
    const receiver = await opened(startWebhookReceiver({ secrets: [secret] }));
    receiver.behave(inTurn('hang', 'drip'));
    const hanging = send(receiver.url);
    const stop = new AbortController();
    while (receiver.received.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const dripping = await send(receiver.url, { signal: stop.signal });
    expect([receiver.unanswered(), dripping.status]).toEqual([2, 200]);
    receiver.release();
    expect((await hanging).status).toBe(200);
    expect(await dripping.text()).toMatch(/^\.*$/);
    expect(receiver.unanswered()).toBe(0);
  });
});

describe('Slack', () => {
  const post = (
    slack: { apiUrl: string; token: string },
    body: Record<string, string>,
    token = slack.token,
  ) =>
    fetch(`${slack.apiUrl}chat.postMessage`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: new URLSearchParams(body),
    });

  test('accepts a message to a known channel, and extracts mentions and links from its texts', async () => {
    const slack = await opened(startSlack());
    const blocks = [
      { type: 'section', text: { type: 'mrkdwn', text: '<!channel> &lt;!here&gt; <https://a.example|a>' } },
    ];
    const answer = await post(slack, { channel: 'C0000000001', text: 'Hi', blocks: JSON.stringify(blocks) });
    expect(await answer.json()).toMatchObject({ ok: true, channel: 'C0000000001' });
    expect(slack.messages).toMatchObject([
      { text: 'Hi', blocks, mentions: ['!channel'], links: ['https://a.example|a'] },
    ]);
  });

  test('answers with Slack’s error codes', async () => {
    const slack = await opened(startSlack());
    const errors = [
      await post(slack, { channel: 'C0000000001', text: 'Hi' }, 'xoxb-wrong'),
      await post(slack, { channel: 'C9', text: 'Hi' }),
      await post(slack, { channel: 'C0000000001' }),
    ].map(async (answer) => [answer.status, ((await answer.json()) as { error: string }).error]);
    expect(await Promise.all(errors)).toEqual([
      [200, 'invalid_auth'],
      [200, 'channel_not_found'],
      [200, 'no_text'],
    ]);
    expect(slack.messages).toEqual([]);
  });

  test('accepts one message per interval and channel, and answers others 429 with Retry-After', async () => {
    const slack = await opened(startSlack({ channels: ['C1', 'C2'], intervalMs: 60_000 }));
    const answers = [];
    for (const channel of ['C1', 'C1', 'C2']) answers.push(await post(slack, { channel, text: 'Hi' }));
    expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
      [200, null],
      [429, '60'],
      [200, null],
    ]);
    expect(slack.calls.map(({ error }) => error)).toEqual([null, 'ratelimited', null]);
  });
});

describe('Teams', () => {
  test('accepts an Adaptive Card, and refuses another body, a too large body, and a wrong address', async () => {
    const teams = await opened(startTeams());
    const card = (text: string) =>
      JSON.stringify({
        type: 'message',
        attachments: [
          {
            contentType: 'application/vnd.microsoft.card.adaptive',
            content: { type: 'AdaptiveCard', version: '1.4', body: [{ type: 'TextBlock', text }] },
          },
        ],
      });
    const statuses = [];
    for (const [url, body] of [
      [teams.webhookUrl, card('Hi')],
      [teams.webhookUrl, '{"text":"Hi"}'],
      [teams.webhookUrl, card('x'.repeat(29_000))],
      [teams.url, card('Hi')],
    ] as const)
      statuses.push((await fetch(url, { method: 'POST', body })).status);
    expect(statuses).toEqual([202, 400, 413, 401]);
    expect(teams.received[0]?.card?.body).toEqual([{ type: 'TextBlock', text: 'Hi' }]);
  });
});

describe('the mail server', () => {
  /** Sends the lines, each after the answer to the previous one; returns the codes of the answers. */
  async function converse(url: string, lines: string[]): Promise<string[]> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const codes: string[] = [];
    let text = '';
    const done = once(socket, 'close');
    socket.on('data', (part: Buffer) => {
      text += part.toString();
      for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
        const answer = text.slice(0, end);
        text = text.slice(end + 2);
        if (answer[3] === '-') continue;
        codes.push(answer.slice(0, 3));
        socket.write(`${lines.shift() ?? 'QUIT'}\r\n`);
      }
    });
    await done;
    return codes;
  }
  const mail = [
    'EHLO sender.example',
    'MAIL FROM:<scores@example.com>',
    'RCPT TO:<sam@example.org>',
    'DATA',
    'Subject: =?utf-8?q?Caf=C3=A9?=\r\nTo: sam@example.org\r\n\r\nHello\r\n.',
  ];

  test('accepts a message and parses it', async () => {
    const server = await opened(startMailServer());
    expect(await converse(server.url, [...mail])).toEqual(['220', '250', '250', '250', '354', '250', '221']);
    expect(server.received).toMatchObject([
      { from: 'scores@example.com', to: ['sam@example.org'], message: { subject: 'Café', text: 'Hello\n' } },
    ]);
  });

  test('defers or refuses at the step that the test sets', async () => {
    const server = await opened(startMailServer());
    server.behave(({ at, nth }) =>
      at === 'message' && nth === 0
        ? { reply: 451 }
        : at === 'recipient' && nth === 1
          ? { reply: 550 }
          : 'accept',
    );
    expect(await converse(server.url, [...mail])).toContain('451');
    expect(await converse(server.url, mail.slice(0, 3))).toContain('550');
    expect(server.received).toEqual([]);
    expect((await converse(server.url, [...mail])).at(-2)).toBe('250');
    expect(server.received).toHaveLength(1);
  });
});
