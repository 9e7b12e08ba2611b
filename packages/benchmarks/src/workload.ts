// The events that every contender gets, the rules that score them, and the expected scores. The same plan gives the same events in
// every process: the load generator sends them, and the benchmark computes their totals.
import { eventTypeKey, nameBasedId, type AttributeFilterForm } from '@lead-scoring/contracts';
import { seededRandom } from '@lead-scoring/start/random';

/** The parameters from which all events of a workload are generated. */
export interface WorkloadPlan {
  /** Part of every alias, so that the leads of two plans are different leads; [a-z0-9]{1,12}. */
  name: string;
  seed: number;
  leads: number;
  events: number;
  eventsPerRequest: number;
  /**
   * even: every lead has as many events as every other (events must be a multiple of leads), in random order;
   * skewed: every lead has one, and the rest are distributed unevenly, so that few leads have many, as with real visits.
   */
  distribution: 'even' | 'skewed';
  /** Epoch milliseconds of the first event. */
  firstEventAt: number;
  /** Milliseconds from each event to the next; absent: 1. */
  eventEveryMs?: number;
  /** The type of every event; absent: the types of the visits, of which three of five are page views. */
  eventType?: string;
  /** The kind of every alias; absent: email. */
  aliasKind?: string;
  /** segment: the bodies are batches of Segment's tracking API; absent: of POST /ingest. */
  form?: 'segment';
  /** Whether each event of POST /ingest has an event_id. */
  withIds?: boolean;
}

/** The content of an event, without its lead and its time. */
interface Visit {
  event_type: string;
  path: string;
  country: string;
  minutes: number;
}

/** A rule as the API takes it. */
export interface RuleForm {
  event_type: string;
  weight: number;
  label: string;
  attribute_filters: AttributeFilterForm[];
}

/** A rule as the API takes it, and an independent implementation of it, from which the expected scores are computed. */
interface WorkloadRule {
  form: RuleForm;
  matches: (visit: Visit) => boolean;
}

export const eventBytes = 250;

export const eventTypes = [
  'Page View',
  'Email Open',
  'Email Click',
  'Form Submit',
  'Webinar Attended',
  'Demo Requested',
  'Trial Started',
  'Ad Click',
  'Chat Started',
  'Document Download',
] as const;
const countries = ['AT', 'CH', 'DE', 'DK', 'FR', 'GB', 'NL', 'US'] as const;
const areas = 16;
const pages = 14;
const visitCount = 256;

/** The visits of which each event has a random one; three of five are page views. */
const visits: readonly Visit[] = Array.from({ length: visitCount }, (_, index) => ({
  event_type: index % 5 < 3 ? eventTypes[0] : pickFrom(eventTypes, 1 + (index % (eventTypes.length - 1))),
  path: `/area-${String(index % areas).padStart(2, '0')}/page-${String((index * 5) % pages).padStart(2, '0')}`,
  country: pickFrom(countries, index * 3 + (index >> 4)),
  minutes: (index * 7) % 60,
}));

/** 50 rules with filters. An event matches 0 to 4 of them, on average 2. */
export const workloadRules: readonly WorkloadRule[] = [
  ...Array.from({ length: areas }, (_, area): WorkloadRule => {
    const value = `/area-${String(area).padStart(2, '0')}/`;
    return {
      form: {
        event_type: 'Page View',
        weight: 1 + (area % 5),
        label: `Area ${area}`,
        attribute_filters: [{ field: 'path', operator: 'starts_with', value }],
      },
      matches: (visit) => visit.event_type === 'Page View' && visit.path.startsWith(value),
    };
  }),
  ...Array.from({ length: pages }, (_, page): WorkloadRule => {
    const value = `/page-${String(page).padStart(2, '0')}`;
    return {
      form: {
        event_type: 'page_view',
        weight: 2,
        label: `Page ${page} at home`,
        attribute_filters: [
          { field: 'path', operator: 'ends_with', value },
          { field: 'country', operator: 'in', value: ['AT', 'CH', 'DE', 'DK'] },
        ],
      },
      matches: (visit) =>
        visit.event_type === 'Page View' &&
        visit.path.endsWith(value) &&
        ['AT', 'CH', 'DE', 'DK'].includes(visit.country),
    };
  }),
  ...eventTypes.map((type, index): WorkloadRule => ({
    form: {
      event_type: type,
      weight: 3 + index,
      label: `${type}, a market of ours`,
      attribute_filters: [{ field: 'country', operator: 'in', value: ['DE', 'FR', 'GB', 'NL', 'US'] }],
    },
    matches: (visit) => visit.event_type === type && ['DE', 'FR', 'GB', 'NL', 'US'].includes(visit.country),
  })),
  ...eventTypes.map((type): WorkloadRule => ({
    form: {
      event_type: type,
      weight: 1,
      label: `${type}, stayed`,
      attribute_filters: [{ field: 'minutes', operator: 'gte', value: 30 }],
    },
    matches: (visit) => visit.event_type === type && visit.minutes >= 30,
  })),
];

/** 20 of them, all for page views. An event of a page view matches one or two of them. */
export const pageViewRules: readonly WorkloadRule[] = workloadRules
  .filter(({ form }) => eventTypeKey(form.event_type) === eventTypeKey(eventTypes[0]))
  .slice(0, 20);

/** Rules for types that no event of a workload has, 20 for each type. They are like the others, so that they could match. */
export function rulesOfOtherTypes(count: number): RuleForm[] {
  return Array.from({ length: count }, (_, index) => ({
    event_type: `Other Event ${Math.floor(index / 20)}`,
    weight: 1,
    label: `Other rule ${index}`,
    attribute_filters: [{ field: 'path', operator: 'starts_with', value: `/area-${index % 20}/` }],
  }));
}

/** The points of the naive wiring: fixed by event type, without rules. */
export const fixedPoints: Readonly<Record<string, number>> = Object.fromEntries(
  eventTypes.map((type, index) => [type, 1 + index]),
);

/** By `workloadRules`, by `pageViewRules`, or by `fixedPoints`. */
export type Scoring = 'rules' | 'page-view-rules' | 'fixed-points';

export interface Workload {
  plan: WorkloadPlan;
  /** Bodies in the order of the events, in the form of the plan: JSON arrays, every event of `eventBytes` bytes; or batches of Segment. */
  bodies(): Buffer[];
  /** The same events as NDJSON, in parts of as many events. */
  lines(): Buffer[];
  /** The points and the number of events of each lead, after the first `events` events; default: all. */
  expected(scoring: Scoring, events?: number): { scores: Int32Array; counts: Int32Array };
  aliasOf(lead: number): string;
}

/** @throws RangeError when the events cannot be distributed as the plan says */
export function createWorkload(plan: WorkloadPlan): Workload {
  if (plan.distribution === 'even' ? plan.events % plan.leads !== 0 : plan.events < plan.leads)
    throw new RangeError(
      `${plan.events} events cannot be given to ${plan.leads} leads (distribution ${plan.distribution})`,
    );
  const random = seededRandom(plan.seed).next;
  const leadOf = new Uint32Array(plan.events);
  const visitOf = new Uint8Array(plan.events);
  for (let event = 0; event < plan.events; event += 1) {
    leadOf[event] =
      plan.distribution === 'even' || event < plan.leads
        ? event % plan.leads
        : Math.floor(random() ** 2 * plan.leads);
    visitOf[event] = Math.floor(random() * visitCount);
  }
  shuffle(leadOf, random);
  const { eventType } = plan;
  const sent =
    eventType === undefined ? visits : visits.map((visit) => ({ ...visit, event_type: eventType }));
  const aliasOf = (lead: number) => `lead-${String(lead).padStart(7, '0')}.${plan.name}@bench.example`;
  /** The texts of the events of each request. */
  const parts = () => {
    const all: string[][] = [];
    for (let first = 0; first < plan.events; first += plan.eventsPerRequest) {
      const texts: string[] = [];
      for (let event = first; event < Math.min(first + plan.eventsPerRequest, plan.events); event += 1)
        texts.push(
          textOf(plan, {
            alias: aliasOf(leadOf[event] ?? 0),
            visit: pickFrom(sent, visitOf[event] ?? 0),
            at: plan.firstEventAt + event * (plan.eventEveryMs ?? 1),
            ...(plan.withIds === true && { id: `${plan.name}-${event}` }),
          }),
        );
      all.push(texts);
    }
    return all;
  };
  return {
    plan,
    aliasOf,
    bodies: () => parts().map((events) => bodyOf(plan, events)),
    lines: () => parts().map((events) => Buffer.from(`${events.join('\n')}\n`)),
    expected: (scoring, events = plan.events) => {
      const points = sent.map((visit) => pointsOf(visit, scoring));
      const scores = new Int32Array(plan.leads);
      const counts = new Int32Array(plan.leads);
      for (let event = 0; event < events; event += 1) {
        const lead = leadOf[event] ?? 0;
        scores[lead] = (scores[lead] ?? 0) + (points[visitOf[event] ?? 0] ?? 0);
        counts[lead] = (counts[lead] ?? 0) + 1;
      }
      return { scores, counts };
    },
  };
}

/** The text of one event in the form of the plan. */
function textOf(
  { form, aliasKind }: WorkloadPlan,
  { alias, visit, at, id }: { alias: string; visit: Visit; at: number; id?: string },
): string {
  return form === 'segment' ? messageText(alias, visit, at) : eventText(alias, visit, at, aliasKind, id);
}

/** The body of a request in the form of the plan. */
function bodyOf({ form, firstEventAt }: WorkloadPlan, events: readonly string[]): Buffer {
  const list = `[${events.join(',')}]`;
  return Buffer.from(
    form === 'segment' ? `{"batch":${list},"sentAt":"${new Date(firstEventAt).toISOString()}"}` : list,
  );
}

/**
 * The body of a probe: a single event of a new lead, sent to measure how long it takes to become readable.
 * @param eventType default: the type of the first visit
 */
export function probeBody(alias: string, at: number, eventType?: string): Buffer {
  const visit = visitAt(0);
  return Buffer.from(`[${eventText(alias, { ...visit, event_type: eventType ?? visit.event_type }, at)}]`);
}

/** The points of a probe. */
export function probePoints(scoring: Scoring): number {
  return pointsOf(visitAt(0), scoring);
}

function pointsOf(visit: Visit, scoring: Scoring): number {
  if (scoring === 'fixed-points') return fixedPoints[visit.event_type] ?? 0;
  let points = 0;
  for (const rule of scoring === 'rules' ? workloadRules : pageViewRules)
    if (rule.matches(visit)) points += rule.form.weight;
  return points;
}

function eventText(alias: string, visit: Visit, at: number, aliasKind = 'email', id?: string): string {
  const text =
    `{${id === undefined ? '' : `"event_id":"${id}",`}"alias_kind":"${aliasKind}","alias":"${alias}","event_type":"${visit.event_type}",` +
    `"timestamp":"${new Date(at).toISOString()}","metadata":{"path":"${visit.path}","country":"${visit.country}",` +
    `"minutes":${visit.minutes},` +
    // The company that a form submits becomes a field of the lead, by which reads search.
    (visit.event_type === 'Form Submit' ? `"company":"${companyOf(alias)}",` : '') +
    '"agent":"';
  const end = '"}}';
  return `${text.padEnd(eventBytes - end.length, 'browser ')}${end}`;
}

/** The event as a client of Segment's tracking API sends it, with an id of its own and what such a client says of itself. */
function messageText(userId: string, { event_type, ...properties }: Visit, at: number): string {
  const timestamp = new Date(at).toISOString();
  return JSON.stringify({
    type: 'track',
    messageId: `node-next-${at}-${nameBasedId(messageNamespace, `${userId} ${at}`)}`,
    userId,
    event: event_type,
    properties,
    context: { library: { name: '@segment/analytics-node', version: '2.3.0' } },
    integrations: {},
    timestamp,
    originalTimestamp: timestamp,
  });
}

const messageNamespace = '6ba7b811-9dad-11d1-80b4-00c04fd430c8';

/** The company of an alias; 1,000 leads share one. */
export function companyOf(alias: string): string {
  return `Company ${alias.slice(5, 9)}`;
}

function visitAt(index: number): Visit {
  return pickFrom(visits, index);
}

function pickFrom<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length];
  if (item === undefined) throw new RangeError('nothing to pick from');
  return item;
}

function shuffle(values: Uint32Array, random: () => number): void {
  for (let index = values.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    const value = values[index] ?? 0;
    values[index] = values[other] ?? 0;
    values[other] = value;
  }
}
