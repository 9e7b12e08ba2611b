// The ledger that tests keep outside of the system: the events that were sent, and those that were answered 202. An audit compares
// it with the public topics, the API and the stored events: no event is lost, doubled or invented, and every score is right.
import { leadIdOf, namedEventIdOf, type routeDeclarations } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import type { Random } from '@lead-scoring/start/random';
import { MongoClient, type Binary } from 'mongodb';
import { readTopic } from './public-topics.js';
import { referenceScores, type ReferenceEvent, type ReferenceRule } from './reference.js';
import { liveCollection } from './stored-documents.js';
import type { TestSystem } from './test-system.js';

export interface LedgerEvent extends ReferenceEvent {
  timestamp: string;
}

/** The answer of POST /ingest. */
interface PostAnswer {
  status: number;
  headers: Headers | null;
  body: { accepted?: number; position?: string };
}

export interface Ledger {
  /** By the event's id in the system. */
  readonly sent: ReadonlyMap<string, LedgerEvent>;
  readonly acknowledged: ReadonlySet<string>;
  /** The position of every 202. */
  readonly positions: readonly string[];
  /** The number of answers by status; 0 stands for no answer. */
  readonly answers: ReadonlyMap<number, number>;
  /** Posts the events and records the answer; its status is 0 if there was none. */
  post(events: readonly LedgerEvent[], timeoutMs?: number): Promise<PostAnswer>;
  /** Notes that events were sent elsewhere, and with which position they were acknowledged, if they were. */
  note(events: readonly LedgerEvent[], position?: string): void;
  /** Posts the events until they are acknowledged. */
  deliver(events: readonly LedgerEvent[], withinMs: number): Promise<void>;
}

export function createLedger(system: TestSystem): Ledger {
  const sent = new Map<string, LedgerEvent>();
  const acknowledged = new Set<string>();
  const positions: string[] = [];
  const answers = new Map<number, number>();
  const idOf = (event: LedgerEvent) => namedEventIdOf(system.ouId, 'email', event.alias, event.event_id);
  const note: Ledger['note'] = (events, position) => {
    for (const event of events) {
      sent.set(idOf(event), event);
      if (position !== undefined) acknowledged.add(idOf(event));
    }
    if (position !== undefined) positions.push(position);
  };
  const post: Ledger['post'] = async (events, timeoutMs = 60_000) => {
    note(events);
    const answer: PostAnswer = await system
      .request<PostAnswer['body']>('/ingest', { body: events.map(sentFormOf), timeoutMs })
      .catch(() => ({ status: 0, headers: null, body: {} }));
    answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1);
    if (answer.status === 202) {
      if (answer.body.accepted !== events.length)
        throw new Error(`202 for ${events.length} events says accepted: ${String(answer.body.accepted)}`);
      for (const event of events) acknowledged.add(idOf(event));
      if (answer.body.position !== undefined) positions.push(answer.body.position);
    }
    return answer;
  };
  return {
    sent,
    acknowledged,
    positions,
    answers,
    note,
    post,
    deliver: async (events, withinMs) => {
      await eventually(
        'the events are acknowledged',
        async () => {
          const { status, body } = await post(events);
          if (status >= 400 && status < 500 && status !== 429)
            throw new Error(`POST /ingest answered ${status}: ${JSON.stringify(body).slice(0, 500)}`);
          return status === 202;
        },
        withinMs,
        200,
      );
    },
  };
}

/** The event as a request has it. */
export function sentFormOf({ path, ...event }: LedgerEvent): routeDeclarations.IngestedEvent {
  return { ...event, alias_kind: 'email', metadata: { path } };
}

/** Rules that `referenceScores` can apply; `createRules` creates them in the system. */
export const ledgerRules: readonly ReferenceRule[] = [
  { event_type: 'Page View', weight: 1 },
  { event_type: 'Page View', weight: 10, path_contains: '/pricing' },
  { event_type: 'Form Submit', weight: 25 },
  { event_type: 'Email Unsubscribe', weight: -15 },
];

export async function createRules(
  system: TestSystem,
  rules: readonly ReferenceRule[] = ledgerRules,
): Promise<void> {
  const ruleset = await system.request<{ id: string }>('/rulesets', {
    body: { name: 'Behaviour', score_type: 'engagement', active: true },
  });
  if (ruleset.status !== 201)
    throw new Error(`POST /rulesets: ${ruleset.status} ${JSON.stringify(ruleset.body)}`);
  for (const { event_type, weight, path_contains } of rules) {
    const rule = await system.request('/rules', {
      body: {
        ruleset_id: ruleset.body.id,
        event_type,
        weight,
        ...(path_contains !== undefined && {
          attribute_filters: [{ field: 'path', operator: 'contains', value: path_contains }],
        }),
      },
    });
    if (rule.status !== 201) throw new Error(`POST /rules: ${rule.status} ${JSON.stringify(rule.body)}`);
  }
}

export interface TrafficOptions {
  random: Random;
  events: number;
  leads: number;
  /** The share of events that repeat an earlier event, with the same event_id. */
  repeats: number;
  /** The bounds of the number of events in a request. */
  batch: [low: number, high: number];
  /** The prefix of the event ids, to distinguish several runs of traffic over the same leads. */
  name?: string;
}

/** Batches of events: few leads have many events, many leads have few. */
export function traffic({
  random,
  events,
  leads,
  repeats,
  batch,
  name = 'traffic',
}: TrafficOptions): LedgerEvent[][] {
  const types = [
    'Page View',
    'Page View',
    'Page View',
    'Form Submit',
    'Email Open',
    'Email Unsubscribe',
    'Webinar Attended',
  ];
  const paths = ['/', '/pricing', '/pricing/enterprise', '/blog/scoring', '/careers'];
  const end = Date.now();
  const all: LedgerEvent[] = [];
  for (let n = 0; n < events; n += 1)
    all.push(
      n > 0 && random.next() < repeats
        ? random.pick(all)
        : {
            alias: `person-${Math.floor(leads * random.next() ** 2)}@example.com`,
            event_type: random.pick(types),
            event_id: `${name}-${n}`,
            path: random.pick(paths),
            timestamp: new Date(end - random.between(0, 7 * 24 * 3_600_000)).toISOString(),
          },
    );
  const batches: LedgerEvent[][] = [];
  for (let from = 0; from < all.length;) {
    const size = random.between(...batch);
    batches.push(all.slice(from, from + size));
    from += size;
  }
  return batches;
}

/** Batches without an end; each ten thousand events have their own prefix of event ids. */
export function* endlessTraffic({
  name = 'traffic',
  ...options
}: Omit<TrafficOptions, 'events'>): Generator<LedgerEvent[], never> {
  for (let round = 0; ; round += 1)
    yield* traffic({ ...options, events: 10_000, name: `${name}-${String(round)}` });
}

/** Calls `work` with each item, started in order, at most `atOnce` at a time. */
export async function inParallel<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
    }),
  );
}

/** Waits until everything that was acknowledged is visible: a read with the position of each 202 answers 200. */
export async function untilVisible(system: TestSystem, ledger: Ledger, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (const position of ledger.positions)
    await eventually(
      'what was acknowledged is visible',
      async () => {
        const answer = await system.request(`/leads?limit=1&min_position=${encodeURIComponent(position)}`);
        if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
        return true;
      },
      Math.max(deadline - Date.now(), 1_000),
    );
}

/** The faults that an audit found; every list is empty if it found none. */
export interface Findings {
  lost: string[];
  doubled: string[];
  invented: string[];
  scores: string[];
  counts: string[];
  history: string[];
}

export const nothingWrong: Findings = {
  lost: [],
  doubled: [],
  invented: [],
  scores: [],
  counts: [],
  history: [],
};

interface EventsIngested {
  ou_id: string;
  lead_id: string;
  events: { id: string; event_id?: string }[];
}
interface LeadScored {
  lead_id: string;
  previous_score: number;
  score: number;
  event_count: number;
  scored_events: { event_id: string; matches: { points: number }[] }[];
  adjustments?: { points: number }[];
}
type ScoreAdjusted = Pick<LeadScored, 'lead_id' | 'previous_score' | 'score'> & {
  adjustments: { points: number }[];
};
interface LeadAnswer {
  id: string;
  score: number;
  event_count: number;
}

/**
 * Compares the ledger with the public topics, the API and the stored events. An event that was never acknowledged may be
 * recorded at most once; scores must be those of the recorded events.
 */
export async function audit(
  system: TestSystem,
  ledger: Pick<Ledger, 'sent' | 'acknowledged'>,
  rules: readonly ReferenceRule[] = ledgerRules,
): Promise<Findings> {
  const findings: Findings = { lost: [], doubled: [], invented: [], scores: [], counts: [], history: [] };
  const taken = new Map<string, LedgerEvent>();

  const ingested = await readTopic(system.endpoints, `${system.namespace}.ingest.events`);
  for (const { type, payload, partition, offset } of ingested) {
    if (type !== 'EventsIngested') continue;
    const { lead_id, events } = payload as EventsIngested;
    for (const { id } of events) {
      const event = ledger.sent.get(id);
      if (!event) findings.invented.push(`event ${id} in ingest.events:${partition}:${offset}`);
      else if (taken.has(id))
        findings.doubled.push(`event ${event.event_id} in ingest.events:${partition}:${offset}`);
      else {
        taken.set(id, event);
        if (lead_id !== leadIdOf(system.ouId, 'email', event.alias))
          findings.history.push(`event ${event.event_id} of ${event.alias} is with lead ${lead_id}`);
      }
    }
  }
  for (const id of ledger.acknowledged)
    if (!taken.has(id))
      findings.lost.push(`event ${ledger.sent.get(id)?.event_id ?? id} is not in ingest.events`);

  const matching = new Set(
    [...taken].filter(([, event]) => rules.some((rule) => matches(rule, event))).map(([id]) => id),
  );
  const scored = new Set<string>();
  const chains = new Map<string, { score: number; events: number }>();
  for (const { type, payload, partition, offset } of await readTopic(
    system.endpoints,
    `${system.namespace}.scoring.events`,
  )) {
    if (type !== 'LeadScored' && type !== 'ScoreAdjusted') continue;
    const {
      lead_id,
      previous_score,
      score,
      adjustments = [],
      event_count,
      scored_events,
    } = {
      event_count: 0,
      scored_events: [],
      ...(payload as LeadScored | ScoreAdjusted),
    };
    const place = `scoring.events:${partition}:${offset}`;
    const known = chains.get(lead_id) ?? { score: 0, events: 0 };
    const points = [...scored_events.flatMap((event) => event.matches), ...adjustments].reduce(
      (sum, match) => sum + match.points,
      0,
    );
    if (previous_score !== known.score || score !== previous_score + points)
      findings.history.push(`${place}: ${known.score} before, says ${previous_score} + ${points} = ${score}`);
    chains.set(lead_id, { score, events: known.events + event_count });
    for (const { event_id, matches: found } of scored_events) {
      if (found.length === 0) continue;
      if (scored.has(event_id)) findings.doubled.push(`event ${event_id} in ${place}`);
      if (!matching.has(event_id)) findings.invented.push(`points for event ${event_id} in ${place}`);
      scored.add(event_id);
    }
  }
  for (const id of matching)
    if (!scored.has(id)) findings.lost.push(`points of event ${id} are not in scoring.events`);

  const expected = referenceScores(taken.values(), rules);
  const eventCounts = new Map<string, number>();
  for (const { alias } of taken.values()) eventCounts.set(alias, (eventCounts.get(alias) ?? 0) + 1);
  const leads = await allLeads(system);
  for (const [alias, score] of expected) {
    const id = leadIdOf(system.ouId, 'email', alias);
    const lead = leads.get(id);
    const count = eventCounts.get(alias);
    if (lead?.score !== score)
      findings.scores.push(`${alias}: GET /leads says ${String(lead?.score)}, right is ${score}`);
    if (lead?.event_count !== count)
      findings.counts.push(
        `${alias}: GET /leads says ${String(lead?.event_count)} events, right are ${String(count)}`,
      );
    if (chains.get(id)?.events !== count)
      findings.counts.push(
        `${alias}: scoring.events hold ${String(chains.get(id)?.events)} events, right are ${String(count)}`,
      );
  }
  if (leads.size !== expected.size)
    findings.invented.push(`GET /leads lists ${leads.size} leads, right are ${expected.size}`);

  const events = await system.request<{ total: number }>('/events?limit=1');
  if (events.body.total !== taken.size)
    findings.counts.push(`GET /events: total ${events.body.total}, right is ${taken.size}`);
  findings.counts.push(...(await storedCounts(system, taken)));
  return Object.fromEntries(
    Object.entries(findings).map(([kind, found]) => [kind, shortened(found as string[])]),
  ) as unknown as Findings;
}

/** Repeats the audit until it finds no fault; after the deadline, resolves with the last findings. */
export async function auditUntilRight(
  system: TestSystem,
  ledger: Ledger,
  timeoutMs: number,
): Promise<Findings> {
  let last: Findings | undefined;
  return eventually(
    'all is well',
    async () => {
      last = await audit(system, ledger);
      return Object.values(last).every((found: string[]) => found.length === 0) && last;
    },
    timeoutMs,
  ).catch((error: unknown) => {
    if (last) return last;
    throw error;
  });
}

/** Every lead of the OU by id, read page by page. @throws Error when a lead is on two pages */
async function allLeads(system: TestSystem): Promise<Map<string, LeadAnswer>> {
  const leads = new Map<string, LeadAnswer>();
  let cursor: string | undefined;
  do {
    const answer = await system.request<{ data: LeadAnswer[]; next_cursor?: string }>(
      `/leads?limit=100${cursor === undefined ? '' : `&cursor=${cursor}`}`,
    );
    if (answer.status !== 200) throw new Error(`GET /leads: ${answer.status} ${JSON.stringify(answer.body)}`);
    for (const lead of answer.body.data) {
      if (leads.has(lead.id)) throw new Error(`lead ${lead.id} is on two pages of GET /leads`);
      leads.set(lead.id, lead);
    }
    cursor = answer.body.next_cursor;
  } while (cursor !== undefined);
  return leads;
}

/** Compares the stored events and their counts by type, read from the database, with the recorded events. */
async function storedCounts(system: TestSystem, taken: ReadonlyMap<string, LedgerEvent>): Promise<string[]> {
  const client = await MongoClient.connect(system.endpoints.mongodbUri);
  try {
    const db = client.db(`${system.namespace}_ingest`);
    const found: string[] = [];
    let places = 0;
    const seconds = await liveCollection<{ count: number }>(db, 'event_seconds');
    for await (const { count } of seconds.find({})) places += count;
    if (places !== taken.size)
      found.push(`the event store holds ${places} places of events, right are ${taken.size}`);
    const grouped = new Map<string, number>();
    let documents = 0;
    const eventRecords = await liveCollection<{ json: Binary }>(db, 'event_records');
    for await (const { json } of eventRecords.find({}))
      for (const { event_type } of (
        JSON.parse(Buffer.from(json.value()).toString()) as { events: { event_type: string }[] }
      ).events) {
        documents += 1;
        grouped.set(event_type, (grouped.get(event_type) ?? 0) + 1);
      }
    if (documents !== taken.size)
      found.push(`the event store holds ${documents} events, right are ${taken.size}`);
    const right = new Map<string, number>();
    for (const { event_type } of taken.values()) right.set(event_type, (right.get(event_type) ?? 0) + 1);
    for (const [type, count] of right) {
      const stored = grouped.get(type) ?? 0;
      if (stored !== count)
        found.push(`the event store holds ${stored} events of type ${type}, right are ${count}`);
    }
    return found;
  } finally {
    await client.close();
  }
}

function matches(rule: ReferenceRule, event: LedgerEvent): boolean {
  return (
    rule.event_type === event.event_type &&
    (rule.path_contains === undefined || event.path.includes(rule.path_contains))
  );
}

function shortened(found: string[]): string[] {
  return found.length > 10 ? [...found.slice(0, 10), `… ${found.length} in all`] : found;
}
