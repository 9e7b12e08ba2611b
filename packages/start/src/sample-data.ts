// Sample data: believable visits of a few hundred people to the website of a software company, made by a seeded
// generator, so that every first start shows the same leads. None of the people is real.
import type { AttributeFilterForm, JsonObject, routeDeclarations } from '@lead-scoring/contracts';
import { seededRandom, type Random } from './random.js';

export interface SampleEvent {
  alias_kind: 'email';
  alias: string;
  event_type: string;
  timestamp: string;
  event_id: string;
  metadata: JsonObject;
}

export interface SampleRule {
  event_type: string;
  weight: number;
  label: string;
  attribute_filters?: AttributeFilterForm[];
}

export interface SampleRuleset {
  name: string;
  rules: SampleRule[];
}

export const sampleLevels: readonly Omit<routeDeclarations.EngagementLevel, 'id'>[] = [
  { name: 'Cold', min_score: null, max_score: 9, color: '#4c6ef5' },
  { name: 'Warm', min_score: 10, max_score: 49, color: '#f59f00' },
  { name: 'Hot', min_score: 50, max_score: null, color: '#e8590c' },
];

export const sampleRulesets: readonly SampleRuleset[] = [
  {
    name: 'Buying intent',
    rules: [
      pageRule('Demo', 15, '/demo'),
      pageRule('Contact', 12, '/contact'),
      pageRule('Pricing', 10, '/pricing'),
      pageRule('Case studies', 8, '/case-studies'),
      {
        event_type: 'Form Submit',
        weight: 20,
        label: 'Asked for a demo',
        attribute_filters: [{ field: 'form', operator: 'contains', value: 'demo' }],
      },
      { event_type: 'Trial Started', weight: 25, label: 'Started a trial' },
    ],
  },
  {
    name: 'Attention',
    rules: [
      { event_type: 'Email Open', weight: 1, label: 'Opened an e-mail' },
      { event_type: 'Email Click', weight: 3, label: 'Followed a link in an e-mail' },
      {
        event_type: 'Webinar Attended',
        weight: 6,
        label: 'Stayed in a webinar',
        attribute_filters: [{ field: 'minutes', operator: 'gte', value: 20 }],
      },
      pageRule('Product', 4, '/product'),
      pageRule('Blog', 1, '/blog'),
    ],
  },
  {
    name: 'Not a buyer',
    rules: [
      pageRule('Careers', -5, '/careers'),
      { event_type: 'Email Unsubscribe', weight: -15, label: 'Wants no more e-mail' },
    ],
  },
];

function pageRule(label: string, weight: number, path: string): SampleRule {
  return {
    event_type: 'Page View',
    weight,
    label,
    attribute_filters: [{ field: 'path', operator: 'contains', value: path }],
  };
}

const firstNames = [
  'Ada',
  'Amara',
  'Björn',
  'Chen',
  'Dilan',
  'Elif',
  'Femi',
  'Grace',
  'Hana',
  'Ines',
  'Jonas',
  'Kofi',
  'Lea',
  'Mateo',
  'Nadia',
  'Omar',
  'Priya',
  'Quinn',
  'Rosa',
  'Sven',
  'Tariq',
  'Uma',
  'Vera',
  'Wanjiru',
  'Yuki',
  'Zoë',
];
const lastNames = [
  'Almeida',
  'Bauer',
  'Costa',
  'Dubois',
  'Eriksen',
  'Fischer',
  'Garcia',
  'Haddad',
  'Ivanova',
  'Jensen',
  'Kimura',
  'Lindqvist',
  'Mbeki',
  'Nowak',
  'Okafor',
  'Petrov',
  'Rossi',
  'Singh',
  'Tanaka',
  'Weber',
];
const companies = [
  'Northwind Logistics',
  'Fjord Analytics',
  'Halden Foods',
  'Brightwater Energy',
  'Kestrel Robotics',
  'Lumen Health',
  'Monsun Travel',
  'Orchard Bank',
  'Pinecone Software',
  'Quarry Steel',
  'Riverside School',
  'Solstice Media',
];
const titles = [
  'Head of Sales',
  'Marketing Manager',
  'CTO',
  'Operations Lead',
  'Founder',
  'Student',
  'Analyst',
  'Procurement Officer',
];
const owners = ['Sam Rivera', 'Kim Novak', 'Alex Osei'];

/** A kind of visitor. */
interface Visitor {
  /** The part of all people that are of this kind. */
  share: number;
  /** The fewest and the most events of one person. */
  visits: [number, number];
  /** The events of a person, each with its relative frequency. */
  events: [weight: number, event: (pick: Pick) => { event_type: string; metadata: JsonObject }][];
}

type Pick = Random['pick'];

const page =
  (...paths: string[]) =>
  (pick: Pick) => ({
    event_type: 'Page View',
    metadata: { path: pick(paths), referrer: pick(['search', 'newsletter', 'direct', 'partner']) },
  });
const mail = (event_type: string) => (pick: Pick) => ({
  event_type,
  metadata: { campaign: pick(['spring-launch', 'product-news', 'event-invite']) },
});

const visitors: Visitor[] = [
  {
    share: 0.12,
    visits: [12, 40],
    events: [
      [5, page('/pricing', '/pricing/enterprise', '/demo', '/contact', '/case-studies/halden-foods')],
      [4, page('/product', '/product/scoring', '/product/integrations')],
      [3, mail('Email Click')],
      [1, () => ({ event_type: 'Form Submit', metadata: { form: 'book-demo' } })],
      [0.5, () => ({ event_type: 'Trial Started', metadata: { plan: 'team' } })],
      [1, (pick) => ({ event_type: 'Webinar Attended', metadata: { minutes: pick([5, 25, 45, 60]) } })],
    ],
  },
  {
    share: 0.55,
    visits: [2, 12],
    events: [
      [6, page('/', '/blog/what-is-lead-scoring', '/blog/five-mistakes', '/product')],
      [3, mail('Email Open')],
      [1, mail('Email Click')],
      [0.6, page('/pricing')],
      [0.2, mail('Email Unsubscribe')],
    ],
  },
  {
    share: 0.33,
    visits: [1, 5],
    events: [
      [3, page('/', '/about', '/careers', '/careers/engineer')],
      [1, mail('Email Open')],
    ],
  },
];

/**
 * @param count how many events, in order of time
 * @param until the time of the last event, in milliseconds; visits spread over the four weeks before
 * @param seed the same seed gives the same people doing the same things
 */
export function sampleEvents(count: number, until: number, seed = 7): SampleEvent[] {
  const random = seededRandom(seed);
  const { pick } = random;
  const span = 28 * 24 * 3_600_000;
  const events: SampleEvent[] = [];
  for (let person = 0; events.length < count; person += 1) {
    const first = pick(firstNames);
    const last = pick(lastNames);
    const company = pick(companies);
    const profile: JsonObject = {
      first_name: first,
      last_name: last,
      company,
      title: pick(titles),
      owner: pick(owners),
    };
    const address = `${plain(first)}.${plain(last)}${String(person)}@${plain(company)}.example`;
    const visitor = pickWeighted(
      visitors.map((kind) => [kind.share, kind] as const),
      random,
    );
    const visits = random.between(...visitor.visits);
    const begins = until - span * random.next();
    for (let visit = 0; visit < visits && events.length < count; visit += 1) {
      const { event_type, metadata } = pickWeighted(visitor.events, random)(pick);
      events.push({
        alias_kind: 'email',
        alias: address,
        event_type,
        timestamp: new Date(
          begins + (until - begins) * (visit / visits) + random.next() * 600_000 - 600_000,
        ).toISOString(),
        event_id: `sample-${String(seed)}-${String(person)}-${String(visit)}`,
        metadata: visit === 0 ? { ...metadata, ...profile } : metadata,
      });
    }
  }
  return events.sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
}

function pickWeighted<Item>(items: readonly (readonly [number, Item])[], random: Random): Item {
  let left = random.next() * items.reduce((sum, [share]) => sum + share, 0);
  for (const [share, item] of items) {
    left -= share;
    if (left <= 0) return item;
  }
  const last = items.at(-1);
  if (!last) throw new Error('nothing to choose from');
  return last[1];
}

function plain(text: string): string {
  return text
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^a-z]+/g, '');
}
