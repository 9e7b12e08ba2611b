// Shared explanations for tests: a realistic one, and ones that are hard to display.
import type { SharedDriver, SharedExplanation, ShareLinks } from '../shared-explanation.js';

const computedAt = Date.UTC(2026, 10, 21, 14, 5);
const hour = 3_600_000;

export const links: ShareLinks = {
  page: 'https://app.example.com/share/tok',
  json: '/public/score-explain/tok',
  csv: '/public/score-explain/tok/csv',
  image: 'https://app.example.com/public/score-explain/tok/preview.png',
};

export function driver(
  event_type: string,
  count: number,
  weight: number,
  filter_label?: string,
): SharedDriver {
  return {
    rule_id: `rule-${event_type}-${String(weight)}`,
    event_type,
    count,
    weight,
    total: count * weight,
    ...(filter_label !== undefined && { filter_label }),
  };
}

/** An explanation with defaults. Its history is a random walk that ends at the score. */
export function sharedExplanation(changes: Partial<SharedExplanation> = {}): SharedExplanation {
  const score = changes.score ?? 82;
  return {
    lead_name: 'Ada Lovelace',
    score,
    top_drivers: [
      driver('Page View', 3, 15, 'path contains "/pricing"'),
      driver('Demo Requested', 1, 30),
      driver('Careers Visit', 1, -20, 'path starts with "/careers"'),
      driver('Email Open', 14, 1, 'campaign is one of "Spring Launch", "Autumn Review"'),
      driver('Form Submit', 1, 10, 'form is "newsletter" and country is not "US"'),
      driver('Unsubscribe', 1, -8),
      driver('Webinar Attended', 1, 6),
    ],
    snapshot: [
      { event_type: 'Page View', weight: 15 },
      { event_type: 'Page View', weight: 2 },
      { event_type: 'Demo Requested', weight: 30 },
      { event_type: 'Careers Visit', weight: -20 },
      { event_type: 'Email Open', weight: 1 },
      { event_type: 'Form Submit', weight: 10 },
      { event_type: 'Unsubscribe', weight: -8 },
      { event_type: 'Webinar Attended', weight: 6 },
    ],
    decay_applied: -3,
    range_hours: 720,
    history: walk(
      [8, 9, 10, 25, 26, 27, 7, 8, 9, 39, 40, 46, 47, 62, 54, 56, 66, 67, 68, 83, 85, 85, 82, 82],
      score,
    ),
    computed_at: new Date(computedAt).toISOString(),
    expires_at: new Date(computedAt + 7 * 24 * hour - 20 * hour).toISOString(),
    ...changes,
  };
}

function walk(scores: number[], last: number, hours = 720): SharedExplanation['history'] {
  const start = computedAt - hours * hour;
  return [...scores.slice(0, -1), last].map((score, index) => ({
    at: new Date(
      index === scores.length - 1
        ? computedAt
        : start + hours * hour * ((index / (scores.length - 1)) ** 1.4 * 0.96),
    ).toISOString(),
    score,
  }));
}

export const script = '<script>document.title="ran"</script>';
export const hostileName = `"><img src=x onerror="document.title='ran'">${script}`;

const long =
  'Maximiliane Theodora von und zu Hohenzollern-Sigmaringen, Leiterin der Abteilung für Absatz und Vertrieb, ';

/** A rule over profiles that holds. */
export function profileDriver(total: number, filter_label: string, label?: string): SharedDriver {
  return {
    ...driver('Profile', 1, total, filter_label),
    rule_id: `rule-${filter_label}`,
    ...(label !== undefined && { label }),
  };
}

/** The explanation of a deal score. */
export function sharedDeals(changes: Partial<SharedExplanation> = {}): SharedExplanation {
  const ofRule = (total: number, filter_label: string, label?: string): SharedDriver => ({
    ...profileDriver(total, filter_label, label),
    event_type: 'Deal',
  });
  return sharedExplanation({
    score_type: 'deal',
    score: 55,
    top_drivers: [
      ofRule(50, 'stage is "won"', 'Won deal'),
      ofRule(30, 'amount is at least 10000'),
      ofRule(-40, 'stage is "lost"', 'Lost deal'),
    ],
    adjustments: [
      {
        reason: 'held_by_ruleset',
        points: -5,
        label: 'Deals',
        text: 'Deals: 5 points held back, at most 75 a deal',
      },
      { reason: 'deal', points: 20, text: 'Points of deals as a whole' },
    ],
    snapshot: [50, 30, -40].map((weight) => ({ event_type: 'Deal', weight })),
    decay_applied: 0,
    history: walk([0, 50, 75, 55], 55),
    deal_entries: [
      {
        points: -40,
        decided_at: '2026-11-12T09:00:00.000Z',
        words: '-40: deal D-2 began to meet "Lost deal" (stage is "lost").',
      },
      {
        points: 50,
        decided_at: '2026-11-03T09:00:00.000Z',
        words: '+50: deal D-1 began to meet "Won deal" (stage is "won").',
      },
    ],
    entries_total: 3,
    ...changes,
  });
}

/** The explanation of a profile score. */
export function sharedProfile(changes: Partial<SharedExplanation> = {}): SharedExplanation {
  return sharedExplanation({
    score_type: 'profile',
    score: 30,
    level: { name: 'Good fit', color: '#2b8a3e' },
    top_drivers: [
      profileDriver(25, 'title is one of "VP", "Director"', 'Decides'),
      profileDriver(20, 'employees is at least 50'),
      profileDriver(-10, 'email_domain is one of "gmail.com", "gmx.de"', 'Private address'),
    ],
    adjustments: [
      {
        reason: 'held_by_ruleset',
        points: -5,
        label: 'Fit',
        text: 'Fit: 5 points held back, at most 40 a lead',
      },
    ],
    snapshot: [25, 20, 15, -10].map((weight) => ({ event_type: 'Profile', weight })),
    decay_applied: 0,
    history: walk([0, 0, 20, 20, 35, 30, 30], 30),
    profile_entries: [
      {
        points: -10,
        decided_at: '2026-11-12T09:00:00.000Z',
        words:
          '-10: the profile began to meet "Private address" (email_domain is one of "gmail.com", "gmx.de").',
      },
      {
        points: 25,
        decided_at: '2026-11-03T09:00:00.000Z',
        words: '+25: the profile began to meet "Decides" (title is one of "VP", "Director").',
      },
    ],
    entries_total: 4,
    ...changes,
  });
}

/** The explanation of an account score. */
export function sharedAccountScore(changes: Partial<SharedExplanation> = {}): SharedExplanation {
  const ofRule = (total: number, filter_label: string, label?: string): SharedDriver => ({
    ...profileDriver(total, filter_label, label),
    event_type: 'Account',
  });
  return sharedExplanation({
    score_type: 'account',
    score: 112,
    top_drivers: [
      ofRule(20, 'leads is at least 2', 'Several people'),
      ofRule(10, 'industry is "software"'),
      ofRule(-15, 'country is "Atlantis"', 'Out of reach'),
    ],
    snapshot: [20, 10, 5, -15].map((weight) => ({ event_type: 'Account', weight })),
    decay_applied: 0,
    history: [],
    account: {
      name: 'Analytical Engines Ltd',
      leads: 3,
      reasons: [
        { reason: 'leads', points: 102, words: '+102: the sum of the 2 highest scores of its 3 leads.' },
        {
          reason: 'account_rule',
          points: 20,
          words: '+20: the account meets "Several people" (leads is at least 2).',
        },
        {
          reason: 'account_rule',
          points: -15,
          words: '-15: the account meets "Out of reach" (country is "Atlantis").',
        },
        {
          reason: 'account_rule',
          points: 10,
          words: '+10: the account meets the rule (industry is "software").',
        },
        {
          reason: 'held_by_ruleset',
          points: -5,
          words: '-5: Companies: 5 points held back, at most 10 an account.',
        },
      ],
    },
    ...changes,
  });
}

/** The hard cases, by the name of their screenshots. */
export const cases: Record<string, SharedExplanation> = {
  usual: sharedExplanation({ level: { name: 'Hot', color: '#e8590c' } }),
  'many-drivers': sharedExplanation({
    score: 3_914,
    level: { name: 'Customer', color: 'teal' },
    top_drivers: Array.from({ length: 500 }, (_, index) =>
      driver(
        `${index % 3 === 0 ? 'Page View' : index % 3 === 1 ? 'Email Click' : 'Form Submit'} ${String(index + 1)}`,
        1 + (index % 5),
        Math.round(60 / (1 + index / 20)) * (index % 4 === 2 ? -1 : 1),
        index % 2 === 0
          ? `path contains "/section-${String(index)}" and country is one of "DE", "AT", "CH"`
          : undefined,
      ),
    ).sort((a, b) => Math.abs(b.total) - Math.abs(a.total)),
    snapshot: Array.from({ length: 500 }, (_, index) => ({
      event_type: `Kind ${String(index)}`,
      weight: 60 - (index % 90),
    })),
    history: walk(
      Array.from({ length: 2_000 }, (_, index) => Math.round(2 * index + 300 * Math.sin(index / 70))),
      3_914,
    ),
  }),
  'one-driver': sharedExplanation({
    lead_name: 'Grace',
    score: 10,
    top_drivers: [driver('Form Submit', 1, 10)],
    snapshot: [{ event_type: 'Form Submit', weight: 10 }],
    decay_applied: 0,
    history: walk([0, 0, 0, 10, 10], 10),
  }),
  'no-drivers': sharedExplanation({
    lead_name: 'lead-4711@example.com',
    score: 0,
    top_drivers: [],
    snapshot: [],
    decay_applied: 0,
    range_hours: 24,
    history: walk([0, 0], 0, 24),
  }),
  'negative-score': sharedExplanation({
    lead_name: 'Charles Babbage',
    score: -43,
    level: { name: 'Cold', color: '#4c6ef5' },
    top_drivers: [driver('Unsubscribe', 2, -20), driver('Careers Visit', 1, -8), driver('Page View', 5, 1)],
    decay_applied: 0,
    history: walk([0, 5, -15, -14, -34, -42, -43], -43),
  }),
  'long-names': sharedExplanation({
    lead_name: long.repeat(4).slice(0, 300),
    score: -2_147_483_648,
    level: { name: 'Level '.repeat(20), color: 'url(https://example.com/x)' },
    top_drivers: Array.from({ length: 20 }, (_, index) =>
      driver(
        'Event'.repeat(20),
        100_000 - index,
        index % 2 === 0 ? 1_000 : -1_000,
        `field is "${'value '.repeat(2_000)}"`,
      ),
    ),
    snapshot: Array.from({ length: 40 }, (_, index) => ({
      event_type: `${'W'.repeat(99)}${String(index)}`,
      weight: 1_000_000 - index,
    })),
  }),
  profile: sharedProfile(),
  deals: sharedDeals(),
  account: sharedAccountScore(),
  'account-of-none': sharedAccountScore({
    score: 0,
    top_drivers: [],
    account: undefined,
  }),
  'account-long': sharedAccountScore({
    score: 30,
    top_drivers: Array.from({ length: 400 }, (_, index) =>
      profileDriver(40 - Math.floor(index / 10), `${'field '.repeat(20)} is "${'value '.repeat(2_000)}"`),
    ),
    account: {
      name: 'Aktiengesellschaft '.repeat(27),
      leads: 100_000,
      reasons: [
        { reason: 'leads', points: -30, words: '-30: the mean of the scores of its 100000 leads.' },
        ...Array.from({ length: 200 }, () => ({
          reason: 'held_by_ruleset' as const,
          points: 1,
          words: `+1: ${'Ruleset '.repeat(100)}: 1 points not taken away.`,
        })),
      ],
    },
  }),
  'deals-of-nothing': sharedDeals({
    score: 0,
    top_drivers: [],
    adjustments: undefined,
    snapshot: [],
    history: walk([0, 0], 0),
    deal_entries: [],
    entries_total: 0,
  }),
  'profile-of-nothing': sharedProfile({
    score: 0,
    top_drivers: [],
    adjustments: undefined,
    snapshot: [],
    history: walk([0, 0], 0),
    profile_entries: [],
    entries_total: 0,
  }),
  'profile-long': sharedProfile({
    top_drivers: Array.from({ length: 400 }, (_, index) =>
      profileDriver(40 - Math.floor(index / 10), `${'field '.repeat(20)} is "${'value '.repeat(2_000)}"`),
    ),
    snapshot: Array.from({ length: 1_000 }, (_, index) => ({ event_type: 'Profile', weight: 1 + index })),
    profile_entries: Array.from({ length: 1_000 }, (_, index) => ({
      points: 1,
      decided_at: new Date(computedAt - index * hour).toISOString(),
      words: `+1: the profile began to meet the rule (${'WWW'.repeat(300)}).`,
    })),
    entries_total: 2_345,
  }),
  'right-to-left': sharedExplanation({
    level: { name: 'ساخن', color: '#e8590c' },
    lead_name: 'عائشة بنت محمد ⭐️ 🚀',
    top_drivers: [
      driver('زيارة صفحة', 4, 12, 'الصفحة contains "/الأسعار"'),
      driver('ביקור בדף', 3, -5),
      driver('🎉 Webinar 👩🏽‍💻', 2, 6, 'room is "🦄"'),
    ],
  }),
  markup: sharedExplanation({
    lead_name: hostileName,
    level: { name: script, color: '"/><script>document.title="ran"</script>' },
    top_drivers: [driver(hostileName, 3, 10, `path is "${script}" and x is "&lt;b&gt;"`)],
    snapshot: [{ event_type: hostileName, weight: 10 }],
  }),
};
