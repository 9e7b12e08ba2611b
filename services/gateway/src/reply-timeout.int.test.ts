// The time for which callers of commands wait for the owner's reply.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { records, SiteAnalysis } from '@lead-scoring/contracts';
import { startRig, type Rig } from './testing/rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ environment: { REPLY_TIMEOUT_MS: '1000' } });
}, 60_000);
afterAll(() => rig.stop(), 60_000);

const found: SiteAnalysis = {
  domain: 'example.com',
  fetched_url: 'https://example.com/',
  page_count: 1,
  skipped_urls: 0,
  source: 'sitemap',
  categories: [],
  proposed_rules: [],
};

test('a route that declares a longer wait is answered after others have got 504', async () => {
  let reply: (reply: records.CommandReplied) => void = () => undefined;
  const replied = new Promise<records.CommandReplied>((resolve) => (reply = resolve));
  const asked = new Promise<void>((resolve) => {
    rig.siteAnalysisReplies(() => {
      resolve();
      return replied;
    });
  });
  rig.scoringReplies(() => null);
  const analysis = rig.call('POST', '/site-scoring/analyze', { body: { url: 'example.com' } });
  await asked;
  // Sent after the other, and answered with 504 before it.
  const ruleset = { name: 'Intent', score_type: 'engagement' };
  expect((await rig.call('POST', '/rulesets', { body: ruleset })).status).toBe(504);
  reply({ outcome: 'done', result: { ...found } });
  expect(await analysis).toMatchObject({ status: 200, body: found });
}, 60_000);
