// Forbidden addresses of channels are refused in every spelling, and a secret address is not repeated in the refusal.
import { describe, expect, test } from '@jest/globals';
import { createOutbound } from '@lead-scoring/outbound';
import { refusedUrls } from '@lead-scoring/outbound/testing';
import { createSealing } from '@lead-scoring/service';
import { createDestinationCheck } from './destinations.js';

const sealing = createSealing('a secret of tests that is long enough');
const outbound = createOutbound({ userAgent: 'test/1.0', allowedPrivateTargets: [] });
const check = createDestinationCheck(outbound, sealing, { slack: false, email: true });
const channelId = '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e';

/** Addresses in plain text, which channels of earlier versions have, are checked like sealed ones. */
const webhook = (url: string) => {
  const sealed = { sealed: sealing.seal(url, channelId), origin: 'https://example.com', last_four: '' };
  const refusal = check.refusalOf({ type: 'webhook', config: { url: sealed } }, channelId);
  expect(check.refusalOf({ type: 'webhook', config: { url } }, channelId)).toEqual(refusal);
  return refusal;
};
const teams = (url: string) =>
  check.refusalOf(
    {
      type: 'teams',
      config: {
        webhook_url: { sealed: sealing.seal(url, channelId), last_four: url.slice(-4) },
        channel_name: 'Sales',
      },
    },
    channelId,
  );

describe('a channel with an address that is not public is refused', () => {
  test.each(refusedUrls(80))('%j is %s', (url, code) => {
    expect([webhook(url)?.code, teams(url)?.code]).toEqual([code, code]);
  });
});

test('a channel whose settings the service lacks is accepted with a warning that names the settings', () => {
  const slack = { type: 'slack', config: { channel_id: 'C0000000001', channel_name: '#sales' } } as const;
  const email = { type: 'email', config: { recipients: 'ada@example.com' } } as const;
  expect(check.warningsOf(slack)).toEqual([
    { code: 'channel_not_set_up', message: expect.stringContaining('SLACK_BOT_TOKEN') },
  ]);
  expect(check.warningsOf(email)).toEqual([]);
  const neither = createDestinationCheck(outbound, sealing, { slack: true, email: false });
  expect(neither.warningsOf(slack)).toEqual([]);
  expect(neither.warningsOf(email)).toEqual([
    { code: 'channel_not_set_up', message: expect.stringContaining('SMTP_URL and MAIL_FROM') },
  ]);
});

test('a public address is accepted', () => {
  for (const url of ['https://example.com/hook', 'http://example.com', 'https://93.184.215.14/hook'])
    expect([webhook(url), teams(url)]).toEqual([null, null]);
});

test('a refusal names the field and repeats no part of a secret address', () => {
  expect(webhook('http://127.0.0.1/x')?.errors).toMatchObject([{ path: 'body.config.url' }]);
  expect(JSON.stringify(webhook('https://[of-a-secret/of-a-secret'))).not.toContain('of-a-secret');
  const refusal = teams('http://sig-of-a-secret.internal/secret?sig=of-a-secret');
  expect(refusal?.errors).toMatchObject([{ path: 'body.config.webhook_url' }]);
  expect(JSON.stringify(refusal)).not.toContain('of-a-secret');
});
