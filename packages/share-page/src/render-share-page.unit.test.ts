// The page contains the whole public form, adds up, stays small and loads nothing.
import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  cases,
  driver,
  hostileName,
  links,
  sharedAccountScore,
  sharedDeals,
  sharedExplanation,
  sharedProfile,
} from './testing/shared-explanations.js';
import { pageHeaders } from './headers.js';
import {
  renderExpiredPage,
  renderTooManyPage,
  renderUnavailablePage,
  renderUnknownPage,
} from './render-notice-pages.js';
import { renderSharePage } from './render-share-page.js';

const render = (changes: Parameters<typeof sharedExplanation>[0] = {}) =>
  renderSharePage(sharedExplanation(changes), links);

/** The visible text of the body, with spaces collapsed. */
const read = (page: string) =>
  page
    .slice(page.indexOf('<body>'))
    .replace(/<(?!\/?(b|bdi|span|time|a)[\s>])[^>]*>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .replaceAll('&#39;', "'")
    .replaceAll('&#34;', '"')
    .replace(/\s+/g, ' ');

const pages = Object.entries({
  ...Object.fromEntries(
    Object.entries(cases).map(([name, shared]) => [name, renderSharePage(shared, links)]),
  ),
  expired: renderExpiredPage('2026-11-21T12:00:00.000Z'),
  unknown: renderUnknownPage(),
  unavailable: renderUnavailablePage(),
  'too many': renderTooManyPage(30),
});

describe.each(pages)('the page “%s”', (_, page) => {
  test('is one request: nothing in it loads, runs or sends anything', () => {
    expect(page).not.toMatch(/<(script|img|iframe|object|embed|form|base|video|audio|source)\b/i);
    const names = page.replace(/="[^"]*"/g, '=');
    expect(names).not.toMatch(/<[^>]* (src|srcset|style|on\w+|ping|action)=/i);
    expect(page).not.toMatch(/<style>[^<]*(url\(|@import)/i);
    const loaded = [...page.matchAll(/<link [^>]*>/g)].map(([link]) => link);
    expect(loaded).toEqual([
      expect.stringMatching(/^<link rel="icon" href="data:image\/svg\+xml,[^"]*" \/>$/),
    ]);
  });

  test('is below 50 KB', () => {
    expect(Buffer.byteLength(page)).toBeLessThan(50_000);
  });

  test('says its language, is not to be listed and passes no address on', () => {
    expect(page).toMatch(/^<!doctype html>\n<html lang="en"/);
    expect(page).toContain('<meta name="robots" content="noindex, nofollow" />');
    expect(page).toContain('<meta name="referrer" content="no-referrer" />');
  });

  test('has one title, one heading of the first level, and ids that are there once', () => {
    expect(page.match(/<title>[^<]+<\/title>/g)).toHaveLength(1);
    expect(page.match(/<h1[ >]/g)).toHaveLength(1);
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(ids).toEqual([...new Set(ids)]);
    for (const [, id] of page.matchAll(/aria-labelledby="([^"]*)"/g)) expect(ids).toContain(id);
  });

  test('has the one style sheet that the policy allows', () => {
    const sheets = [...page.matchAll(/<style>([^]*?)<\/style>/g)].map(([, sheet]) =>
      createHash('sha256')
        .update(sheet ?? '')
        .digest('base64'),
    );
    expect(sheets).toHaveLength(1);
    expect(pageHeaders['Content-Security-Policy']).toContain(`style-src 'sha256-${sheets[0] ?? ''}'`);
  });
});

describe('a shared score', () => {
  const text = read(render({ level: { name: 'Hot', color: '#e8590c' } }));

  test.each([
    'The score of Ada Lovelace',
    '82 Level: Hot points',
    'Over the last 30 days, 105 points came in and 28 points went away.',
    'The largest single reason is Page View.',
    'Page View when path contains "/pricing" 3 times, 15 points each: 45 points3 × 15 = +45',
    '1 time, −20 points each: −20 points1 × −20 = −20',
    'Over the last 30 days the score rose from 8 to 82 (+74), and was as high as 85 and as low as 7 in between.',
    'Page View +15 or +2',
    '3 points have faded so far (−3).',
    'Computed 21 November 2026, 14:05 UTC',
    'The link works until 27 November 2026, 18:05 UTC, that is for another 6 days and 4 hours.',
  ])('is told: %s', (sentence) => {
    expect(text).toContain(sentence);
  });

  test('calls a driver by the label of its rule, where it has one, and says of what it is', () => {
    const labelled = { ...driver('Page View', 3, 15, 'path contains "/pricing"'), label: 'Pricing' };
    const shown = read(render({ score: 45, decay_applied: 0, top_drivers: [labelled] }));
    expect(shown).toContain('45 points came in over the last 30 days, all for Pricing.');
    expect(shown).toContain('Pricing Page View when path contains "/pricing" 3 times, 15 points each');
  });

  test('says what was held back where the score cannot go further', () => {
    const shown = read(
      render({
        score: 2_147_483_647,
        decay_applied: 0,
        top_drivers: [driver('Page View', 2, 10_000)],
        adjustments: [
          {
            reason: 'held_at_largest_score',
            points: -9_993,
            text: 'Held at the largest score that there is',
          },
        ],
      }),
    );
    expect(shown).toContain('Beyond the largest or smallest score that there is −9,993');
  });

  test('says what limits held back, rule by rule', () => {
    const shown = read(
      render({
        score: 30,
        decay_applied: 0,
        top_drivers: [{ ...driver('Page View', 5, 10), label: 'Pricing', counted_total: 30 }],
        adjustments: [
          { reason: 'capped_by_rule', points: -20, text: 'Pricing: 3 of 5 counted, at most 3 a lead' },
        ],
      }),
    );
    expect(shown).toContain(
      '50 points came in over the last 30 days, all for Pricing. Limits held 20 points back.',
    );
    expect(shown).toContain('Held back by limits −20');
    expect(shown).toContain('Pricing: 3 of 5 counted, at most 3 a lead −20');
  });

  test('says what limits kept from being taken away', () => {
    const shown = read(
      render({
        score: 0,
        decay_applied: 0,
        top_drivers: [driver('Unsubscribe', 2, -8)],
        adjustments: [
          {
            reason: 'held_by_ruleset',
            points: 16,
            text: 'Mail: 16 points not taken away, at least 0 a lead',
          },
        ],
      }),
    );
    expect(shown).toContain('Limits kept 16 points from being taken away.');
    expect(shown).toContain('Mail: 16 points not taken away, at least 0 a lead +16');
  });

  test('is without a level as long as there is none', () => {
    expect(read(render())).not.toContain('Level');
  });

  test('says what a score below zero means', () => {
    expect(read(render({ score: -4 }))).toContain('below zero means that more points were taken away');
  });

  test('says so when nothing happened', () => {
    const empty = read(render({ top_drivers: [], score: 0, decay_applied: 0, history: [], snapshot: [] }));
    expect(empty).toContain('Nothing that counts happened in the last 30 days.');
    expect(empty).toContain('no points have faded');
    expect(empty).toContain('No rule is switched on');
  });

  test('of many drivers shows the largest, and says how many more there are and what they make', () => {
    const drivers = Array.from({ length: 500 }, (_, index) =>
      driver(`Event ${String(index)}`, 1, 1_000 - index),
    );
    const page = render({ top_drivers: drivers });
    expect(page.match(/<div class="what">/g)).toHaveLength(12);
    expect(read(page)).toContain('And 488 smaller reasons not drawn here, together +363,316.');
  });

  test('links to its data', () => {
    expect(render()).toContain(`href="${links.json}"`);
    expect(render()).toContain(`href="${links.csv}"`);
  });

  test('has a preview that says no more than the page', () => {
    const page = render();
    const properties: Record<string, string> = Object.fromEntries(
      [...page.matchAll(/<meta (?:property|name)="((?:og|twitter):[^"]*)" content="([^"]*)" \/>/g)].map(
        ([, property = '', content = '']): [string, string] => [property, content],
      ),
    );
    expect(properties).toEqual({
      'og:type': 'website',
      'og:site_name': 'Lead score',
      'og:title': 'Lead score of \u2068Ada Lovelace\u2069',
      'og:description': '82 points, and where they come from. Read-only, open until 27 November 2026.',
      'og:url': links.page,
      'og:image': links.image,
      'og:image:type': 'image/png',
      'og:image:width': '1200',
      'og:image:height': '630',
      'og:image:alt': 'The score as a number, with its largest reasons as bars.',
      'twitter:card': 'summary_large_image',
    });
  });

  test('shows no rule id', () => {
    expect(render()).not.toContain('rule-');
  });

  test('isolates the direction of every name', () => {
    const page = renderSharePage({ ...sharedExplanation(), lead_name: 'عائشة' }, links);
    expect(page).toContain('<bdi>عائشة</bdi>');
    expect(page).toContain('<title>Lead score of \u2068عائشة\u2069</title>');
  });

  test('takes no colour that could refer to something', () => {
    for (const color of ['url(https://example.com/x)', '"/><script>', 'var(--x)', 'red;x'])
      expect(render({ level: { name: 'Hot', color } })).toContain('fill="gray"');
  });

  test('holds markup in names and labels as text', () => {
    const page = render({ lead_name: hostileName, top_drivers: [driver(hostileName, 1, 1, hostileName)] });
    expect(page).not.toContain('<img');
    expect(page).not.toContain('<script');
    expect(read(page)).toContain('The score of "&gt;&lt;img src=x onerror=');
  });
});

const anyText = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom('<', '&', '"', 'a', ' ', '漢', '🚀', 'ع'), maxLength });
const anyDriver = fc
  .record({
    rule_id: fc.uuid(),
    event_type: anyText(100),
    count: fc.integer({ min: 1, max: 1_000_000 }),
    weight: fc.integer({ min: -1_000, max: 1_000 }),
    filter_label: anyText(50_000),
    label: anyText(100),
  })
  .map((one) => ({ ...one, total: one.count * one.weight }));

test('the receipt adds up to the score, and the page stays small, whatever is shared', () => {
  fc.assert(
    fc.property(
      fc.record({
        lead_name: anyText(300),
        score: fc.integer({ min: -2_147_483_648, max: 2_147_483_647 }),
        decay_applied: fc.integer({ min: -1_000_000, max: 0 }),
        top_drivers: fc.array(anyDriver, { maxLength: 40 }),
        adjustments: fc.array(
          fc.record({
            reason: fc.constantFrom('held_at_largest_score', 'capped_by_rule', 'held_by_ruleset'),
            points: fc.integer(),
            text: anyText(1_000),
          }),
          { maxLength: 40 },
        ),
        range_hours: fc.integer({ min: 1, max: 100_000 }),
      }),
      (changes) => {
        const page = render(changes);
        const figures = [...page.matchAll(/<dd[^>]*>([^<]*)<\/dd>/g)].map(([, figure]) =>
          Number((figure ?? '').replaceAll(',', '').replace('−', '-')),
        );
        expect(figures.at(-1)).toBe(changes.score);
        expect(figures.slice(0, -1).reduce((sum, figure) => sum + figure, 0)).toBe(changes.score);
        expect(Buffer.byteLength(page)).toBeLessThan(50_000);
      },
    ),
    { numRuns: 30 },
  );
});

test('a long course is thinned without losing its highest and lowest score', () => {
  const history = Array.from({ length: 20_000 }, (_, index) => ({
    at: new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString(),
    score: index === 7_777 ? 5_000 : index === 12_345 ? -5_000 : index % 7,
  }));
  const page = render({ history });
  expect(Buffer.byteLength(page)).toBeLessThan(50_000);
  const line = /<path class="path" d="M0 ([^"]*)"/.exec(page)?.[1] ?? '';
  const levels = [...line.matchAll(/V([\d.]+)/g)].map(([, level]) => Number(level));
  expect([Math.min(...levels), Math.max(...levels)]).toEqual([0, 100]);
});

describe('a page that shows no score', () => {
  test.each([
    [
      'that it has ended and when',
      renderExpiredPage('2026-11-21T12:00:00.000Z'),
      '21 November 2026, 12:00 UTC',
    ],
    ['what to do about an unknown link', renderUnknownPage(), 'ask the sender for a new link'],
    ['that the link is fine', renderUnavailablePage(), 'your link is fine'],
    ['how long to wait', renderTooManyPage(29.2), 'in 30 seconds'],
    ['how many minutes to wait', renderTooManyPage(600), 'in 10 minutes'],
  ])('says %s', (_, page, sentence) => {
    expect(read(page)).toContain(sentence);
  });
});

describe('a shared deal score', () => {
  const page = renderSharePage(sharedDeals(), links);
  const text = read(page);

  test.each([
    'The deal score of Ada Lovelace',
    'The present state of the deals gives 80 points and takes 40 points away. The largest single reason is Won deal. Limits held 5 points back.',
    'A deal score shows how promising the deals are that somebody takes part in.',
    'For what is promising +80 For what is not promising −40 For deals as a whole +20 Held back by limits −5 Score 55',
    'Won deal when stage is "won" 50 points+50',
    'amount is at least 10000 30 points+30',
    'Deals: 5 points held back, at most 75 a deal −5',
    '-40: deal D-2 began to meet "Lost deal" (stage is "lost"). 12 November 2026',
    'And 1 earlier change.',
    '3 rules about deals, each worth between −40 and +50, as long as it holds. Points of deals do not fade with time.',
  ])('is told: %s', (sentence) => {
    expect(text).toContain(sentence);
  });

  test('is called so in titles, and nothing of it is told as activity or as a profile', () => {
    expect(page).toContain('<title>Deal score of \u2068Ada Lovelace\u2069</title>');
    expect(text).not.toMatch(/Lead score of|profile|activity|opening a page|time, |×|faded/i);
  });

  test('without deals that count is told too', () => {
    const none = cases['deals-of-nothing'];
    if (!none) throw new Error('there is such a case');
    const shown = read(renderSharePage(none, links));
    for (const sentence of [
      'No deal adds points or takes any away at the moment.',
      'No deal meets a rule at the moment.',
      'Nothing in the last 30 days.',
      'No rule about deals is switched on at the moment.',
    ])
      expect(shown).toContain(sentence);
  });
});

describe('a shared profile score', () => {
  const page = renderSharePage(sharedProfile(), links);
  const text = read(page);

  test.each([
    'The profile score of Ada Lovelace',
    '30 Level: Good fit points',
    'What is known gives 45 points and takes 10 points away. The largest single reason is Decides. Limits held 5 points back.',
    'A profile score shows how well somebody fits.',
    'For what fits +45 For what does not fit −10 Held back by limits −5 Score 30',
    'Each row is a rule that holds now, the weightiest first.',
    'Decides when title is one of "VP", "Director" 25 points+25',
    'employees is at least 50 20 points+20',
    'Private address when email_domain is one of "gmail.com", "gmx.de" −10 points−10',
    'Limits make sure that no group of rules decides the score alone.',
    'Fit: 5 points held back, at most 40 a lead −5',
    '+25: the profile began to meet "Decides" (title is one of "VP", "Director"). 3 November 2026',
    'And 2 earlier changes.',
    '4 rules about profiles, each worth between −10 and +25, as long as it holds. Points of a profile do not fade with time.',
  ])('is told: %s', (sentence) => {
    expect(text).toContain(sentence);
  });

  test('is called so in titles, and nothing of it is told as activity', () => {
    expect(page).toContain('<title>Profile score of \u2068Ada Lovelace\u2069</title>');
    expect(page).toContain('<meta property="og:title" content="Profile score of');
    expect(text).not.toMatch(/Lead score of|activity|opening a page|time, |×|faded/);
  });

  test('says how many reasons and changes are not drawn', () => {
    const long = cases['profile-long'];
    if (!long) throw new Error('there is such a case');
    const shown = read(renderSharePage(long, links));
    expect(shown).toMatch(/And \d+ smaller reasons not drawn here, together \+[\d,]+\./);
    expect(shown).toMatch(/And 2,3\d\d earlier changes\./);
  });

  test('without anything known is told too', () => {
    const none = cases['profile-of-nothing'];
    if (!none) throw new Error('there is such a case');
    const shown = read(renderSharePage(none, links));
    for (const sentence of [
      'Nothing that is known at the moment adds points or takes any away.',
      'No rule holds at the moment.',
      'Nothing in the last 30 days.',
      'No rule about profiles is switched on at the moment.',
    ])
      expect(shown).toContain(sentence);
  });
});

describe('a shared account score', () => {
  const page = renderSharePage(sharedAccountScore(), links);
  const text = read(page);

  test.each([
    'The account score of Ada Lovelace',
    'This lead belongs to Analytical Engines Ltd. What counts for the account gives 132 points and takes 15 points away. The largest single reason is The scores of its leads. Limits held 5 points back.',
    'An account score shows how promising a whole company is.',
    'From 3 leads +102 For what is promising +30 For what is not promising −15 Held back by limits −5 Score 112',
    'Each row is a rule that holds now, or what all leads give together, the weightiest first.',
    'The scores of its leads the sum of the 2 highest scores of its 3 leads 102 points+102',
    'Several people when leads is at least 2 20 points+20',
    'Companies: 5 points held back, at most 10 an account. −5',
    '3 leads belong to the account: +102, the sum of the 2 highest scores of its 3 leads. This page tells nothing else of them.',
    '4 rules about accounts, each worth between −15 and +20, as long as it holds.',
  ])('is told: %s', (sentence) => {
    expect(text).toContain(sentence);
  });

  test('is called so in titles, and nothing of it is told as activity, as a profile or as a course', () => {
    expect(page).toContain('<title>Account score of \u2068Ada Lovelace\u2069</title>');
    expect(text).not.toMatch(
      /Lead score of|profile|activity|opening a page|time, |×|faded|How the score moved/i,
    );
  });

  test('of a lead without an account is told too', () => {
    const none = cases['account-of-none'];
    if (!none) throw new Error('there is such a case');
    const shown = read(renderSharePage(none, links));
    for (const sentence of [
      'This lead belongs to no account yet. Nothing adds points to it or takes any away at the moment.',
      'No rule holds, and no lead gives points, at the moment.',
      'As soon as an account of this lead is known, what makes the score of that account is shown here.',
    ])
      expect(shown).toContain(sentence);
  });
});
