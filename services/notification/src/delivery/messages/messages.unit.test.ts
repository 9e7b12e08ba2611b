// Promise 27: lead data in messages is inert on every kind of channel.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { FiredPayload, NotificationPayload } from '@lead-scoring/contracts';
import {
  accountPayload,
  firedPayload,
  idOf,
  levelPayload,
  notifiedAccount,
  ouId,
  quotaPayload,
  startTime,
} from '../../testing/delivery-builders.js';
import { noticeOf, type Notice } from '../notice.js';
import { oneLine } from '../text.js';
import { emailMessage, recipientsOf } from './email.js';
import { slackMessage } from './slack.js';
import { maximumCardBytes, teamsMessage } from './teams.js';

const hostileNames = [
  '<!channel> pay here',
  '<@U0123456789>',
  '<https://evil.example|invoice>',
  '*bold* _it_ ~no~ `code` :skull:',
  '[click](https://evil.example) **now** # title',
  'Ada\r\nBcc: everybody@example.com',
  'Ada\u2028Subject: x',
  '<script>alert(1)</script>',
  '" onmouseover="alert(1)',
  '\u202emoc.live\u202c',
  '<at>everybody</at>',
  '&lt;!here&gt;',
  '\u0000\u0007',
  '\ud800',
];
const anyName = fc.oneof(
  fc.constantFrom(...hostileNames),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 512 }),
);

const hostileAccount = (name: string) =>
  accountPayload({
    account: notifiedAccount('hostile', { name, account_kind: 'named', account_key: name.slice(0, 200) }),
    trigger: { id: idOf('trigger'), name: name.slice(0, 100), kind: 'milestone' },
  });

function hostile(name: string): FiredPayload {
  return firedPayload({
    lead: {
      id: idOf('lead'),
      name,
      company: name.slice(0, 200),
      title: name.slice(0, 200),
      owner: name.slice(0, 200),
      aliases: [],
    },
    trigger: { id: idOf('trigger'), name: name.slice(0, 100), kind: 'milestone' },
    top_drivers: Array.from({ length: 10 }, () => ({
      rule_id: idOf('rule'),
      event_type: name.slice(0, 100),
      count: 1,
      weight: 1,
      total: 1,
      filter_label: name.slice(0, 200),
    })),
    cause: { event_id: idOf('event'), event_type: name.slice(0, 100), rule_ids: [] },
    level: name.slice(0, 100),
    threshold_level: name.slice(0, 100),
  });
}

const mail = {
  notification_id: idOf('notification'),
  channel_id: idOf('channel'),
  from: 'leads@example.com',
};
const testPayload: NotificationPayload = {
  type: 'channel.test',
  timestamp: startTime,
  data: { channel: { id: idOf('channel'), name: 'Sales', type: 'slack' }, unit_id: ouId, message: 'A test.' },
};

/** The texts that Slack, Teams and e-mail get. */
function everyForm(notice: Notice): string[] {
  const { text, html } = emailMessage(notice, mail);
  return [JSON.stringify(slackMessage(notice)), JSON.stringify(teamsMessage(notice)), text, html];
}

describe('one line of text', () => {
  test('has no line break, control character or mark of direction, and at most the maximum length', () => {
    fc.assert(
      fc.property(anyName, fc.integer({ min: 1, max: 600 }), (name, maximum) => {
        const line = oneLine(name, maximum);
        // oxlint-disable-next-line no-control-regex
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/);
        expect(line.isWellFormed()).toBe(true);
        expect(Array.from(line).length).toBeLessThanOrEqual(maximum);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the title of a message', () => {
  test.each([
    ['trigger.milestone.fired', 'Ada Lovelace is up to 87 points'],
    ['trigger.sequence.fired', 'Ada Lovelace completed the sequence “Hot leads”'],
    ['trigger.surge.fired', 'Ada Lovelace is surging, now at 87 points'],
  ] as const)('of %s', (type, title) => {
    const notice = noticeOf({ ...firedPayload(), type } as FiredPayload);
    expect(notice.title).toBe(title);
    expect(notice.facts).toContainEqual({ label: 'Score', value: '87 (before: 62)' });
    for (const { label } of notice.facts) expect(['Title', 'Company', 'Owner']).not.toContain(label);
    expect(notice.reasons).toEqual([
      'Demo Requested: +25 (1×)',
      'Page View (path contains /pricing): +30 (3×)',
    ]);
  });

  test('is followed by the known fields of the lead', () => {
    const { lead } = firedPayload().data;
    const known = { ...lead, company: 'Analytical Engines', title: 'Analyst', owner: '\u202e' };
    expect(noticeOf(firedPayload({ lead: known })).facts.slice(0, 4)).toEqual([
      { label: 'Lead', value: 'Ada Lovelace' },
      { label: 'Title', value: 'Analyst' },
      { label: 'Company', value: 'Analytical Engines' },
      expect.objectContaining({ label: 'Score' }),
    ]);
  });

  test('of a reason whose points were limited', () => {
    const [, driver] = firedPayload().data.top_drivers;
    if (!driver) throw new Error('no driver');
    const limited = { ...driver, label: 'Pricing', count: 5, total: 50, counted: 3, counted_total: 30 };
    expect(
      noticeOf(
        firedPayload({
          top_drivers: [driver, { ...limited, limits: 'at most 3 a lead' }, limited],
        }),
      ).reasons,
    ).toEqual([
      'Page View (path contains /pricing): +30 (3×)',
      'Pricing: +30 (3 of 5 counted, at most 3 a lead)',
      'Pricing: +30 (3 of 5 counted)',
    ]);
  });

  test('of a fall below a milestone', () => {
    const notice = noticeOf(firedPayload({ score: 40, previous_score: 81, direction: 'down' }));
    expect(notice.title).toBe('Ada Lovelace is down to 40 points');
  });

  test('of a level that is reached or left, and the level of before', () => {
    const reached = noticeOf(levelPayload({ level: 'Hot', previous_level: 'Warm' }));
    expect(reached.title).toBe('Ada Lovelace reached Hot with 87 points');
    expect(reached.facts).toContainEqual({ label: 'Level', value: 'Hot (before: Warm)' });
    const down = { score: 40, previous_score: 81, direction: 'down' } as const;
    const cooled = noticeOf(levelPayload({ ...down, level: null, previous_level: 'Hot' }));
    expect(cooled.title).toBe('Ada Lovelace fell below Hot to 40 points');
    expect(cooled.facts).toContainEqual({ label: 'Level', value: 'none (before: Hot)' });
  });

  test('of a level that was reached before such messages had a type of their own', () => {
    const former = noticeOf(firedPayload({ threshold: 80, threshold_level: 'Hot', level: 'Hot' }));
    expect(former.title).toBe('Ada Lovelace reached Hot with 87 points');
    expect(former.facts).toContainEqual({ label: 'Level', value: 'Hot' });
  });

  test('of a level is on one line for every channel, whatever the level is named', () => {
    const named = noticeOf(
      levelPayload({ threshold_level: 'Hot\u2028<!channel>', previous_level: '\u0000' }),
    );
    expect(named.title).toBe('Ada Lovelace reached Hot <!channel> with 87 points');
    expect(slackMessage(named).text).toContain('Hot &lt;!channel&gt;');
    expect(teamsMessage(named).attachments[0].content.body[0]?.inlines[0]?.text).toBe(named.title);
    expect(emailMessage(named, mail).html).toContain('Hot &lt;!channel&gt;');
  });

  test('of an account names the account with its facts, and no lead', () => {
    const up = noticeOf(accountPayload());
    expect(up).toEqual({
      title: 'Acme Corporation is up to 1,287 account points',
      facts: [
        { label: 'Account', value: 'Acme Corporation' },
        { label: 'Domain', value: 'acme.com' },
        { label: 'Leads', value: '3' },
        { label: 'Account score', value: '1,287 (before: 962)' },
        { label: 'Trigger', value: 'Hot accounts' },
        { label: 'Cause', value: 'the scores of its leads changed' },
      ],
      reasons: [],
      link: null,
    });
    const account = notifiedAccount('crm', { name: 'Crm-17', account_kind: 'named', account_key: 'Crm-17' });
    const { cause } = accountPayload().data;
    const byRule = { ...cause, reason: 'account_rule' as const };
    const down = noticeOf(accountPayload({ account, score: 12, direction: 'down', cause: byRule }));
    expect(down.title).toBe('Crm-17 is down to 12 account points');
    expect(down.facts.map(({ label }) => label)).not.toContain('Key');
    expect(down.facts).toContainEqual({ label: 'Cause', value: 'rules over the account changed its points' });
    for (const text of everyForm(up)) {
      expect(text).toContain('Acme Corporation is up to 1,287 account points');
      expect(text).not.toMatch(/undefined|null<|Why this score/);
    }
  });

  test('of a warning names whose quota it is, how much is used and when it is whole again', () => {
    const ofToken = noticeOf(quotaPayload());
    expect(ofToken).toMatchObject({
      title: 'The token “Website”: 81 % of the events of the month are used',
      facts: [
        { label: 'Quota', value: '1,000,000 events a month (events_per_month)' },
        { label: 'Used', value: '812,345, with 187,655 left' },
        { label: 'Month (UTC)', value: '2026-02' },
        { label: 'Whole again', value: '2026-03-01T00:00:00.000Z' },
      ],
      link: null,
    });
    const ofAll = noticeOf(quotaPayload({ credential: null, quota: 'calls_per_day', limit: 10, used: 10 }));
    expect(ofAll.title).toBe(
      'All credentials of the organisation together: 100 % of the API calls of the day are used',
    );
    const account = { kind: 'service_account' as const, id: idOf('account'), name: '<!channel>\r\nBcc: x' };
    const hostileNotice = noticeOf(quotaPayload({ credential: account }));
    expect(hostileNotice.title).toMatch(/^The service account “<!channel> Bcc: x”: /);
    expect(slackMessage(hostileNotice).text).toContain('&lt;!channel&gt;');
    for (const text of everyForm(ofToken)) {
      expect(text).toContain('The token “Website”: 81 % of the events of the month are used');
      expect(text).toContain('refused with 429');
      expect(text).not.toMatch(/undefined|null<|Why this score/);
    }
  });

  test('of a test', () => {
    expect(noticeOf(testPayload)).toMatchObject({
      title: 'Test of the channel “Sales”',
      reasons: ['A test.'],
    });
  });

  test('is followed by a link only if that is http or https', () => {
    const linkOf = (share_url: string) => noticeOf(firedPayload({ share_url })).link;
    expect(linkOf('https://app.example.com/share/abc')).toBe('https://app.example.com/share/abc');
    expect(linkOf('javascript:alert(1)')).toBeNull();
    expect(linkOf('no address')).toBeNull();
  });
});

describe('a Slack message', () => {
  test('mentions nobody, links nothing and stays within Slack’s limits, whatever the name of the lead', () => {
    fc.assert(
      fc.property(anyName, fc.constantFrom(hostile, hostileAccount), (name, payloadOf) => {
        const { text, blocks } = slackMessage(noticeOf(payloadOf(name)));
        expect(text).not.toMatch(/[<>]/);
        for (const block of blocks) {
          const texts = 'fields' in block ? block.fields : [block.text];
          for (const one of texts) {
            expect(one.type).toBe('plain_text');
            expect(one.text).not.toMatch(/[<>]/);
            expect(one.text.length).toBeGreaterThan(0);
            expect(one.text.length).toBeLessThanOrEqual(
              block.type === 'header' ? 150 : 'fields' in block ? 2_000 : 3_000,
            );
          }
        }
        expect(blocks.length).toBeLessThanOrEqual(50);
      }),
      { numRuns: 500 },
    );
  });

  test('has the share link as its only markup', () => {
    const { blocks } = slackMessage(
      noticeOf(firedPayload({ share_url: 'https://app.example.com/share/a|b&c>d' })),
    );
    const marked = blocks.flatMap((block) =>
      block.type === 'section' && 'text' in block && block.text.type === 'mrkdwn' ? [block.text.text] : [],
    );
    expect(marked).toEqual(['<https://app.example.com/share/a%7Cb&amp;c%3Ed|Why this score>']);
  });
});

describe('a Teams card', () => {
  test('is at most 28 KB and has all text in text runs, in which no markdown is read', () => {
    fc.assert(
      fc.property(anyName, fc.constantFrom(hostile, hostileAccount), (name, payloadOf) => {
        const message = teamsMessage(noticeOf(payloadOf(name)));
        expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThanOrEqual(maximumCardBytes);
        const [{ content }] = message.attachments;
        for (const { type, inlines } of content.body) {
          expect(type).toBe('RichTextBlock');
          for (const inline of inlines) expect(inline.type).toBe('TextRun');
        }
        expect(content.actions).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  test('is at most 28 KB with all fields at their largest', () => {
    const message = teamsMessage(noticeOf(hostile('\u{1f600}'.repeat(256))));
    expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThanOrEqual(maximumCardBytes);
  });
});

describe('an e-mail', () => {
  test('has a subject of one line and no markup from lead data, whatever the name of the lead', () => {
    fc.assert(
      fc.property(anyName, fc.constantFrom(hostile, hostileAccount), (name, payloadOf) => {
        const { subject, html, headers, messageId } = emailMessage(noticeOf(payloadOf(name)), mail);
        for (const header of [subject, messageId, ...Object.values(headers)])
          // oxlint-disable-next-line no-control-regex
          expect(header).not.toMatch(/[\u0000-\u001f\u007f]/);
        expect(
          html.replaceAll(/<\/?(!doctype|html|head|meta|title|body|h1|table|tr|th|td|ul|li)\b[^<>]*>/g, ''),
        ).not.toMatch(/[<>]/);
      }),
      { numRuns: 500 },
    );
  });

  test('has its prefix, a List-Unsubscribe header, and the same Message-ID for every attempt', () => {
    const message = emailMessage(noticeOf(firedPayload()), { ...mail, subject_prefix: '[Sales]' });
    expect(message.subject).toBe('[Sales] Ada Lovelace is up to 87 points');
    expect(message.messageId).toBe(`<${mail.notification_id}@example.com>`);
    expect(message.headers['List-Unsubscribe']).toMatch(/^<mailto:leads@example\.com\?subject=Unsubscribe/);
    expect(message.headers['List-Id']).toBe(`<${mail.channel_id}.notifications.example.com>`);
    expect(message.text).toContain('Score: 87 (before: 62)');
    expect(message.html).toContain('<li>Demo Requested: +25 (1×)</li>');
  });

  test.each([
    'ada@example.com\r\nBcc: x@example.com',
    'Ada <ada@example.com>',
    'ada',
    '',
    'ada@example.com,',
    'a@b@c',
    'ada@example.com;grace@example.com',
  ])('is sent to nobody when its recipients are %j', (recipients) => {
    expect(() => recipientsOf(recipients)).toThrow(TypeError);
  });

  test('is sent to each of its recipients once', () => {
    expect(recipientsOf('ada@example.com, grace@example.com,ada@example.com')).toEqual([
      'ada@example.com',
      'grace@example.com',
    ]);
  });
});
