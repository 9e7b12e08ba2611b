// No record is dropped silently: a service decides, answers or ignores it by declaration, or parks it with a reason.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  leadIdOf,
  nameBasedId,
  problemTypes,
  recordDeclarations,
  records,
  serviceNames,
  topics,
  type RecordDeclaration,
  type ServiceName,
  type TopicName,
} from '@lead-scoring/contracts';
import {
  listDeadLetters,
  retryDeadLetters,
  tail,
  waitUntilConsumed,
  type DeadLetter,
  type EventLog,
} from '@lead-scoring/event-log';
import { eventually } from '@lead-scoring/platform/waiting';
import { badRecords, type GoodRecord } from './bad-records.js';
import { isFullSize } from './full-size.js';
import {
  inWireFormat,
  leastPayload,
  registeredSchemaIds,
  startRawWriter,
  type RawMessage,
  type RawWriter,
} from './raw-records.js';
import { openSystemLog } from './system-log.js';
import { checkout, startTestSystem, type TestSystem } from './test-system.js';

let system: TestSystem;
let log: EventLog;
let writer: RawWriter;
let schemaIds: Map<RecordDeclaration, number>;
let pids: (number | undefined)[];

beforeAll(async () => {
  // Its records name the ids that its own schemas have.
  system = await startTestSystem({ registersSchemas: true });
  log = openSystemLog(system);
  writer = await startRawWriter(system);
  schemaIds = await registeredSchemaIds(system);
  pids = system.system.services.map((service) => service.process.pid);
}, 120_000);

afterAll(async () => {
  await writer.stop();
  await log.close();
  await system.stop();
}, 60_000);

/** Services whose processors read the topic besides their commands, and park its unreadable records. */
const followedBy: Partial<Record<TopicName, readonly ServiceName[]>> = {
  'ingest.events': ['scoring', 'notification'],
};
/** A schema id that no registry assigns. */
const unknownSchema = 2_147_483_647;
const instance = randomUUID();

interface Written {
  title: string;
  topic: TopicName;
  partition: number;
  offset: number;
  correlationId: string;
}

/** Writes a record of each declared type, with the type and the schema that `as` makes of its own. */
async function writeEach(
  topic: TopicName,
  declarations: readonly RecordDeclaration[],
  as: (declaration: RecordDeclaration) => { type: string; schemaId: number },
): Promise<Written[]> {
  const sent = declarations.map((declaration) => {
    const { type, schemaId } = as(declaration);
    const id = randomUUID();
    const correlationId = randomUUID();
    const json = JSON.stringify({ ...(leastPayload(declaration, id) as object), ...sampled(declaration) });
    const message: RawMessage = {
      partition: log.partitionOf(id),
      key: id,
      value: inWireFormat(schemaId, json),
      headers: { type, 'reply-to': instance, 'correlation-id': correlationId },
    };
    return { title: `${type} of ${declaration.topic} on ${topic}`, correlationId, message };
  });
  const offsets = await writer.write(
    topic,
    sent.map(({ message }) => message),
  );
  return sent.map(({ title, correlationId, message: { partition } }, at) => {
    return { title, topic, partition, offset: offsets[at] ?? NaN, correlationId };
  });
}

/** Fields with which deciding a record causes no request to the network. */
function sampled({ type }: RecordDeclaration): object {
  return type === 'AnalyzeSite' ? { url: 'ftp://example.com' } : {};
}

const own = (declaration: RecordDeclaration) => schemaIds.get(declaration) ?? 0;
const placeOf = ({
  topic,
  partition,
  offset,
}: {
  topic: string;
  partition: number;
  offset: number | bigint;
}) => `${topic}:${String(partition)}:${String(offset)}`;

async function lettersOf(service: ServiceName): Promise<Map<string, DeadLetter>> {
  const found = new Map<string, DeadLetter>();
  for await (const letter of listDeadLetters(log, service)) found.set(placeOf(letter.origin), letter);
  return found;
}

async function repliesOf(): Promise<Map<string, records.CommandReplied>> {
  const found = new Map<string, records.CommandReplied>();
  for await (const { headers, payload } of tail(log, 'replies', { from: 'beginning', follow: false }))
    if (headers['reply-to'] === instance)
      found.set(headers['correlation-id'] ?? '', payload as records.CommandReplied);
  return found;
}

/** The records that the service has not parked with a reason; and the commands among them that it has not refused. */
async function silentlyDropped(service: ServiceName, written: readonly Written[]): Promise<string[]> {
  let dropped: string[] = [];
  await eventually(
    `${service} has parked ${String(written.length)} records`,
    async () => {
      const [letters, replies] = await Promise.all([lettersOf(service), repliesOf()]);
      dropped = written.flatMap(({ title, correlationId, ...at }) => {
        const reason = letters.get(placeOf(at))?.reason ?? '';
        if (!/\w+ \w+/.test(reason)) return [`${title}: not parked`];
        const reply = replies.get(correlationId);
        if (at.topic.endsWith('.events')) return reply ? [`${title}: answered, and is an event`] : [];
        return reply?.outcome === 'rejected' && reply.code === 'command_parked'
          ? []
          : [`${title}: its caller got ${JSON.stringify(reply)}`];
      });
      return dropped.length === 0;
    },
    20_000,
    300,
  ).catch(() => undefined);
  return dropped;
}

const commandsOf = (service: ServiceName) =>
  recordDeclarations.filter(({ topic }) => topic === `${service}.commands`);

/** Commands without a reply: partitions send them to each other, and processes to themselves. */
const unanswered = new Set([
  'IngestEvents',
  'LinkAlias',
  'JoinLead',
  'MergeLead',
  'UnmergeLead',
  'DivideLead',
  'SendDivided',
  'CarryLeadMetadata',
  'UnlinkAlias',
  'RememberEvents',
  'RequestNotification',
  'RecordAttempt',
  'ForgetLead',
  'ForgetAccount',
  'BeginDelivery',
  'ContinueJob',
  'RecordDeal',
  'ForgetDealLead',
  'RecordDealScore',
  'ContributeToAccount',
  'MoveAccountLeads',
  'MoveLeadToAccount',
  'ContributeLead',
  'TellLevel',
  'ActivateScoringEpoch',
  'MarkEventsDeleted',
  'ClearDeletedEvents',
  'BeginRecount',
  'SetRecounted',
  'ScheduleDecays',
  'RunDecay',
  'RecordSiteAnalysis',
  // Answered when the message has been sent; an unknown channel is sent none.
  'TestChannel',
]);

describe.each(serviceNames)('commands of %s', (service) => {
  const topic: TopicName = `${service}.commands`;

  test('every declared type is decided and answered', async () => {
    const written = await writeEach(topic, commandsOf(service), (declaration) => ({
      type: declaration.type,
      schemaId: own(declaration),
    }));
    let open: string[] = [];
    let replies = new Map<string, records.CommandReplied>();
    await eventually(
      'each is answered',
      async () => {
        replies = await repliesOf();
        open = written.flatMap(({ title, correlationId }) =>
          replies.has(correlationId) || unanswered.has(title.slice(0, title.indexOf(' '))) ? [] : [title],
        );
        return open.length === 0;
      },
      20_000,
      300,
    ).catch(() => undefined);
    expect(open).toEqual([]);
    for (const { correlationId } of written) {
      const reply = replies.get(correlationId);
      if (reply?.outcome === 'rejected') expect(Object.keys(problemTypes)).toContain(reply.code);
    }
    const parked = await lettersOf(service);
    const reasons = written.flatMap((at) => parked.get(placeOf(at))?.reason ?? []);
    // Commands of the gateway are signed; RebuildReadModel alone is not among them.
    if (service === 'gateway')
      expect(new Set(reasons.map((reason) => reason.slice(0, 17)))).toEqual(new Set(['it is not signed ']));
    else expect(reasons).toEqual([]);
  }, 60_000);

  test('types of other topics, undeclared types and unregistered schemas are parked and refused', async () => {
    // Services share the commands of jobs: under one schema, a command of another service is one of this service too.
    const ownTypes = new Set(commandsOf(service).map(({ type }) => type));
    const others = recordDeclarations.filter(({ topic: of, type }) => of !== topic && !ownTypes.has(type));
    const written = [
      ...(await writeEach(
        topic,
        others.filter(({ type }) => type !== 'RebuildReadModel'),
        (declaration) => ({ type: declaration.type, schemaId: own(declaration) }),
      )),
      ...(await writeEach(topic, commandsOf(service), (declaration) => ({
        type: `${declaration.type}Anew`,
        schemaId: own(declaration),
      }))),
      ...(await writeEach(topic, commandsOf(service), ({ type }) => ({ type, schemaId: unknownSchema }))),
    ];
    expect(await silentlyDropped(service, written)).toEqual([]);
  }, 60_000);
});

/** The partition of the bad records of a topic; a well-formed record, which has to be processed, follows them. */
const badPartition = 0;
const titles = Object.keys(badRecords);
/** All bad records in `npm run test:chaos`; otherwise a part for each topic, so that each is tried once. */
const titlesFor = (at: number) =>
  isFullSize ? titles : titles.filter((_, index) => index % inputTopics.length === at);
const inputTopics: readonly TopicName[] = [
  ...serviceNames.map((service): TopicName => `${service}.commands`),
  'ingest.events',
];
const readersOf = (topic: TopicName): readonly ServiceName[] =>
  followedBy[topic] ?? serviceNames.filter((service) => topic === `${service}.commands`);

function goodRecordOf(topic: TopicName): GoodRecord {
  const [declaration, other] = recordDeclarations.filter((one) => one.topic === topic);
  if (!declaration || !other) throw new Error(`${topic} has too few record types`);
  return {
    type: declaration.type,
    schemaId: own(declaration),
    otherSchemaId: own(other),
    payload: leastPayload(declaration, randomUUID()) as Record<string, unknown>,
  };
}

async function attemptsOf(service: ServiceName, places: readonly string[]): Promise<number[]> {
  const attempts = new Map<string, number>();
  for await (const { origin, attempts: attempt } of listDeadLetters(log, service))
    attempts.set(placeOf(origin), Math.max(attempt, attempts.get(placeOf(origin)) ?? 0));
  return places.map((place) => attempts.get(place) ?? 0);
}

/** Bad records on a topic, parked by each of its readers. */
function describeBadRecordsOn(topic: TopicName): void {
  const tried = titlesFor(inputTopics.indexOf(topic));
  let places: string[] = [];

  test('each is parked with its place and a reason, and the partition moves on within 10 s', async () => {
    const good = goodRecordOf(topic);
    const messages = tried.map((title): RawMessage => {
      const made = badRecords[title]?.(good);
      if (!made) throw new Error(`no bad record ${title}`);
      return { partition: badPartition, key: 'bad', headers: { type: good.type }, ...made };
    });
    const offsets: number[] = [];
    // One by one: together they exceed the limit of a request.
    for (const message of messages) offsets.push(...(await writer.write(topic, [message])));
    places = offsets.map((offset) => placeOf({ topic, partition: badPartition, offset }));
    for (const service of readersOf(topic)) {
      const letters = await eventually(
        `${service} has parked ${String(places.length)} bad records`,
        async () => {
          const found = await lettersOf(service);
          return places.every((place) => found.has(place)) ? found : undefined;
        },
        10_000,
        200,
      );
      const reasons = places.map((place) => letters.get(place)?.reason);
      expect(reasons).toEqual(reasons.map(() => expect.stringMatching(/\w+ \w+/)));
    }
  }, 60_000);

  test('sent again, each is parked exactly once more', async () => {
    for (const service of readersOf(topic)) {
      const letters = await lettersOf(service);
      const ids = places.flatMap((place) => letters.get(place)?.id ?? []);
      const { retried } = await retryDeadLetters(log, service, { ids });
      expect(retried).toHaveLength(places.length);
      expect((await retryDeadLetters(log, service, { ids })).retried).toEqual([]);
      await eventually(
        'all are parked again',
        async () => (await attemptsOf(service, places)).every((attempts) => attempts === 2),
        20_000,
        200,
      );
    }
  }, 60_000);
}

describe.each(inputTopics.filter((topic) => topic.endsWith('.commands')))(
  'bad records on %s',
  describeBadRecordsOn,
);

describe('lead-scoring dead-letters retry reports the outcome of each letter', () => {
  const ou = randomUUID();
  const at = '2026-01-31T09:30:00.000Z';
  const ruleset = { ou_id: ou, ruleset_id: randomUUID(), name: 'Intent', requested_at: at };

  const cli = (...words: string[]) =>
    promisify(execFile)(process.execPath, [join(checkout, 'packages/cli/dist/main.js'), ...words], {
      cwd: tmpdir(),
      // Dead letters are listed with their records, and some of the bad records are large.
      maxBuffer: 64 * 1_024 * 1_024,
      env: {
        ...process.env,
        KAFKA_BROKERS: system.endpoints.kafkaBrokers.join(','),
        SCHEMA_REGISTRY_URL: system.endpoints.schemaRegistryUrl,
        NAMESPACE: system.namespace,
      },
    }).catch((error: unknown) => error as { code: number; stdout: string; stderr: string });

  /** Parks a record as a service would; returns the dead letter's id. */
  async function park(declaration: RecordDeclaration, json: string, offset: number): Promise<string> {
    const { topic, type } = declaration;
    const service = topic.slice(0, topic.indexOf('.')) as ServiceName;
    const partition = log.partitionOf(ou);
    const headers = {
      type,
      'dead-letter-topic': topic,
      'dead-letter-partition': String(partition),
      'dead-letter-offset': String(offset),
      'dead-letter-attempts': '1',
      'dead-letter-reason': 'it was not understood then',
    };
    const value = inWireFormat(own(declaration), json);
    const [letter] = await writer.write(`${service}.dead-letters`, [{ partition, key: ou, value, headers }]);
    return `${String(partition)}:${String(letter)}`;
  }

  test('it took effect, had no effect, was refused, or is parked again', async () => {
    const create = { ...ruleset, score_type: 'engagement', active: true };
    const update = { ...ruleset, ruleset_id: randomUUID() };
    const ids = [
      await park(records.createRuleset, JSON.stringify(create), 9_000_001),
      await park(records.createRuleset, JSON.stringify(create), 9_000_002),
      await park(records.updateRuleset, JSON.stringify(update), 9_000_003),
      await park(records.createRuleset, '{"name":', 9_000_004),
    ];
    const sent = await cli('dead-letters', 'retry', 'scoring', ...ids);
    expect(sent.stdout).toContain(
      '4 sent again: 1 took effect, 1 without effect, 1 refused, 1 parked again.',
    );
    expect(sent.stderr).toContain(`${ids[1] ?? ''} CreateRuleset had no effect: it came too late`);
    expect(sent.stderr).toMatch(new RegExp(`${ids[2] ?? ''} UpdateRuleset was refused: \\w+ \\w+`));
    expect(sent.stderr).toContain(`${ids[3] ?? ''} CreateRuleset is a dead letter again`);
    expect(sent).toMatchObject({ code: 1 });
    const listed = JSON.parse(
      (await cli('dead-letters', 'list', 'scoring', '--all', '--json')).stdout,
    ) as DeadLetter[];
    expect(ids.map((id) => listed.find((letter) => letter.id === id)?.outcome)).toEqual([
      'effect',
      'none',
      'refused',
      'parked',
    ]);
    const shown = await cli('dead-letters', 'show', 'scoring', ids[2] ?? '');
    expect(shown.stdout).toContain('reason: it was not understood then');
    expect(shown.stdout).toContain(JSON.stringify(update));
    const open = async () => (await cli('dead-letters', 'list', 'scoring', '--json')).stdout;
    const isOpen = (text: string) =>
      ids.map((id) => (JSON.parse(text) as DeadLetter[]).some((letter) => letter.id === id));
    expect(isOpen(await open())).toEqual([false, false, true, false]);
    expect((await cli('dead-letters', 'discard', 'scoring', ids[2] ?? '')).stdout).toBe('1 discarded.\n');
    expect(isOpen(await open())).toEqual([false, false, false, false]);
  }, 60_000);

  test('events that were accepted before have no effect', async () => {
    const lead = leadIdOf(ou, 'email', 'late@example.com');
    const event = {
      id: nameBasedId(lead, 'late'),
      event_id: 'late',
      may_repeat: true,
      lead_id: lead,
      aliases: [{ alias_kind: 'email', alias: 'late@example.com' }],
      event_type: 'Page View',
      timestamp: at,
    };
    const command = { ou_id: ou, source: 'ingest', fire_triggers: true, received_at: at, events: [event] };
    const park1 = (offset: number) =>
      park(records.ingestEvents, JSON.stringify({ ...command, batch_id: randomUUID() }), offset);
    const first = await cli('dead-letters', 'retry', 'ingest', await park1(9_000_001));
    expect(first.stdout).toContain('1 sent again: 1 took effect.');
    const second = await cli('dead-letters', 'retry', 'ingest', await park1(9_000_002));
    expect(second.stdout).toContain('1 sent again: 1 without effect.');
    expect(second.stderr).toContain('IngestEvents had no effect: it came too late');
  }, 60_000);
});

test('no process was restarted, and each is ready', async () => {
  expect(system.system.services.map((service) => service.process.pid)).toEqual(pids);
  await system.system.ready(20_000);
});

// From here on other records than its own are on ingest's topic. Ingest halts when it reads its topic again, after some seconds
// without work: a history that it cannot read is never passed over. Those that follow the topic go on.

describe.each(topics.filter(({ name }) => followedBy[name]).map(({ name }) => name))(
  'events on %s',
  (topic) => {
    const declared = recordDeclarations.filter((declaration) => declaration.topic === topic);
    /** Record types of the event log itself, which other services ignore. */
    const ofTheLog = new Set(['InputsRead', 'PositionsAccepted', 'RecordErased']);

    test('a record of an undeclared type or an unregistered schema is parked by each service that reads it', async () => {
      // Services share the events of jobs as they share their commands.
      const ownTypes = new Set(declared.map(({ type }) => type));
      const others = recordDeclarations.filter(
        ({ topic: of, type }) => of !== topic && !ofTheLog.has(type) && !ownTypes.has(type),
      );
      const declaredThere = declared.filter(({ type }) => !ofTheLog.has(type));
      const written = [
        ...(await writeEach(topic, others, (declaration) => ({
          type: declaration.type,
          schemaId: own(declaration),
        }))),
        ...(await writeEach(topic, declaredThere, (declaration) => ({
          type: `${declaration.type}Anew`,
          schemaId: own(declaration),
        }))),
        ...(await writeEach(topic, declaredThere, ({ type }) => ({ type, schemaId: unknownSchema }))),
      ];
      for (const service of followedBy[topic] ?? [])
        expect(await silentlyDropped(service, written)).toEqual([]);
    }, 60_000);

    test('a record of each declared type is decided or ignored, and not parked', async () => {
      const written = await writeEach(topic, declared, (declaration) => ({
        type: declaration.type,
        schemaId: own(declaration),
      }));
      const positions = written.map(({ partition, offset }) => ({ partition, offset: BigInt(offset) }));
      for (const service of followedBy[topic] ?? []) {
        expect(await waitUntilConsumed(log, service, topic, positions, { timeoutMs: 30_000 })).toBe(true);
        const letters = await lettersOf(service);
        expect(written.filter((at) => letters.has(placeOf(at))).map(({ title }) => title)).toEqual([]);
      }
    }, 60_000);
  },
);

describe('bad records on ingest.events', () => {
  describeBadRecordsOn('ingest.events');
});

test('an unreadable record of a followed topic halts the partition, is named by /readyz, and is not parked by the follower', async () => {
  const [at] = await writer.write('scoring.events', [
    { partition: badPartition, key: 'bad', value: '{}', headers: { type: 'LeadScored' } },
  ]);
  const place = placeOf({ topic: 'scoring.events', partition: badPartition, offset: at ?? NaN });
  for (const service of ['share', 'notification'] as const)
    await eventually(
      `${service} reports its halted partition`,
      async () => {
        const answer = await fetch(`${system.service(service).url}/readyz`);
        return answer.status === 503 && (await answer.text()).includes(`the record ${place} cannot be read`);
      },
      20_000,
      200,
    );
  // Notification's firings are decided from the same topic, and go on.
  expect((await lettersOf('notification')).get(place)?.reason).toMatch(/wire format/);
  expect((await lettersOf('share')).has(place)).toBe(false);
  expect(system.system.services.map((service) => service.process.pid)).toEqual(pids);
}, 60_000);
