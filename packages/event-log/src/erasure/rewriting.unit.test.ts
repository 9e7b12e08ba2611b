// What is erased of each topic, record by record.
import { expect, test } from '@jest/globals';
import { recordDeclarations, records as declarations, type RecordDeclaration } from '@lead-scoring/contracts';
import fc from 'fast-check';
import type { RawRecord } from '../kafka/record-batch.js';
import { ErasureMarks } from './marks.js';
import { erasedTypes, erasedTopics, type ErasedTopic } from './record-groups.js';
import { PartitionRewriting } from './rewriting.js';

const unit = '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e';
const channel = '11111111-7a0e-4c0b-9d8f-0b6f8a527a0e';

const encode = (_: RecordDeclaration, payload: unknown) =>
  Buffer.concat([Buffer.alloc(5), Buffer.from(JSON.stringify(payload))]);

function record(
  declaration: RecordDeclaration,
  key: string,
  offset: number,
  payload: unknown = {},
  headers: Record<string, string> = {},
): RawRecord {
  return {
    offset: BigInt(offset),
    timestamp: 1_000 + offset,
    key: Buffer.from(key),
    value: encode(declaration, payload),
    headers: Object.fromEntries(
      Object.entries({ type: declaration.type, ...headers }).map(([name, text]) => [name, Buffer.from(text)]),
    ),
  };
}

function rewritten(topic: ErasedTopic, log: readonly RawRecord[], endedUnits: readonly string[] = []) {
  const marks = new ErasureMarks();
  for (const one of log) marks.take(one);
  const rewriting = new PartitionRewriting({
    topic,
    partition: 2,
    marks,
    endedUnits: new Set(endedUnits),
    encode,
  });
  return log.map((one) => rewriting.of(one));
}

const typesOf = (log: ReturnType<typeof rewritten>) => log.map(({ headers }) => String(headers?.type));

/** A new type that is keyed by a lead is erased unless it is among those that stay. */
test('these types are erased with their lead, deal or account', () => {
  expect(Object.fromEntries(erasedTopics.map((topic) => [topic, [...erasedTypes(topic)].sort()]))).toEqual({
    'ingest.events': [
      'AliasClaimed',
      'AliasLinked',
      'AliasUnlinked',
      'EventsIngested',
      'LeadConflicted',
      'LeadMetadataPatched',
    ],
    'scoring.events': [
      'DealLeadRemoved',
      'DealScored',
      'DealsIgnored',
      'LeadContributed',
      'LeadLevelChanged',
      'LeadScored',
      'ScoreAdjusted',
    ],
    'notification.events': [
      'AccountMilestoneFired',
      'AccountTriggerRearmed',
      'AccountTriggerSuppressed',
      'ActivityObserved',
      'MilestoneFired',
      'SequenceFired',
      'SurgeFired',
      'TriggerRearmed',
      'TriggerSuppressed',
    ],
  });
});

test('records of a lead from before its deletion are erased, and later ones stay', () => {
  const log = [
    record(declarations.leadScored, 'ada', 0, {}, { positions: 'ingest.events:1', owner: 'me', actor: 'x' }),
    record(declarations.leadScored, 'bob', 1),
    record(declarations.leadRemoved, 'ada', 2),
    record(declarations.leadScored, 'ada', 3),
  ];
  const [first, ...others] = rewritten('scoring.events', log);
  expect(others).toEqual(log.slice(1));
  expect(first).toEqual({
    key: '2',
    value: encode(declarations.leadScored, {}),
    timestamp: 1_000,
    headers: { type: 'RecordErased', positions: 'ingest.events:1', owner: 'me' },
  });
});

test('of events, the name-based ids stay, by which repeats are known', () => {
  const [named, random] = ['22222222-7a0e-5c0b-9d8f-0b6f8a527a0e', '22222222-7a0e-4c0b-9d8f-0b6f8a527a0e'];
  const events = (...ids: string[]) => ({
    ou_id: unit,
    lead_id: 'ada',
    aliases: [{ alias_kind: 'email', alias: 'ada@example.com' }],
    events: ids.map((id) => ({ id, metadata: { note: 'secret' } })),
  });
  const log = [
    record(declarations.eventsIngested, 'ada', 0, events(named, random)),
    record(declarations.eventsIngested, 'ada', 1, events(random)),
    record(declarations.leadDeleted, 'ada', 2),
  ];
  const after = rewritten('ingest.events', log);
  expect(typesOf(after)).toEqual(['EventsRemembered', 'RecordErased', 'LeadDeleted']);
  expect(after[0]?.value).toEqual(
    encode(declarations.eventsRemembered, { ou_id: unit, lead_id: 'ada', event_ids: [named] }),
  );
  expect(after[0]?.key).toEqual(Buffer.from('ada'));
});

test('of notifications, what was caused before the deletion is erased, by the topic of the cause', () => {
  const source = (topic: string, offset: number) => ({ source: { topic, partition: 2, offset } });
  const requested = (id: string, lead: string, position: string) => ({
    ou_id: unit,
    channel_id: channel,
    notification_id: id,
    payload: { type: 'lead.milestone', data: { lead: { id: lead }, position } },
  });
  const attempted = (id: string) => ({
    ou_id: unit,
    channel_id: channel,
    notification_id: id,
    detail: 'It answered 500.',
    response: 'ada@example.com?',
  });
  const log = [
    record(declarations.milestoneFired, 'ada', 0, source('scoring.events', 7)),
    record(declarations.sequenceFired, 'ada', 1, source('ingest.events', 7)),
    record(declarations.notificationRequested, channel, 2, requested('one', 'ada', 'scoring.events:2:7')),
    record(declarations.notificationRequested, channel, 3, requested('two', 'bob', 'scoring.events:2:6')),
    record(declarations.notificationAttempted, channel, 4, attempted('one')),
    record(declarations.notificationAttempted, channel, 5, attempted('two')),
    record(declarations.leadForgotten, 'ada', 6, source('scoring.events', 9)),
    record(declarations.milestoneFired, 'ada', 7, source('scoring.events', 12)),
    record(declarations.notificationsForgotten, channel, 8, {
      ou_id: unit,
      channel_id: channel,
      lead_id: 'ada',
      before: { topic: 'scoring.events', partition: 2, offset: 9 },
    }),
  ];
  const after = rewritten('notification.events', log);
  expect(typesOf(after).map((type, offset) => [offset, type])).toEqual(
    log.map(({ headers }, offset) => [
      offset,
      [0, 2].includes(offset) ? 'RecordErased' : String(headers.type),
    ]),
  );
  const { response: answered, ...withoutAnswer } = attempted('one');
  expect(answered).toBeDefined();
  expect(after[4]?.value).toEqual(encode(declarations.notificationAttempted, withoutAnswer));
  expect(after[5]).toEqual(log[5]);
});

test('of a lead that has joined another its events are erased, and its links stay until it is deleted', () => {
  const log = [
    record(declarations.eventsIngested, 'ada', 0, { events: [] }),
    record(declarations.aliasClaimed, 'ada', 1),
    record(declarations.aliasLinked, 'ada', 2),
    record(declarations.leadDeleted, 'ada', 3, { joined_to: 'bea' }),
  ];
  expect(typesOf(rewritten('ingest.events', log))).toEqual([
    'RecordErased',
    'AliasClaimed',
    'AliasLinked',
    'LeadDeleted',
  ]);
  const deleted = [...log, record(declarations.leadDeleted, 'ada', 4)];
  expect(typesOf(rewritten('ingest.events', deleted)).slice(0, 3)).toEqual(Array(3).fill('RecordErased'));
});

test('of a lead that is divided its events of before are erased once all have been sent again', () => {
  const log = [
    record(declarations.eventsIngested, 'ada', 0, { events: [] }),
    record(declarations.leadDeleted, 'ada', 1, { joined_to: 'ada' }),
    record(declarations.eventsIngested, 'ada', 2, { events: [] }),
  ];
  expect(rewritten('ingest.events', log)).toEqual(log);
  const [before, , after] = rewritten('ingest.events', [...log, record(declarations.leadDivided, 'ada', 3)]);
  expect([String(before?.headers?.type), after]).toEqual(['RecordErased', log[2]]);
});

test('what was notified of a lead that has joined another stays', () => {
  const caused = (offset: number) => ({ source: { topic: 'scoring.events', partition: 2, offset } });
  const log = [
    record(declarations.milestoneFired, 'ada', 0, caused(7)),
    record(declarations.leadForgotten, 'ada', 1, { ...caused(9), joined_to: 'bea' }),
  ];
  expect(rewritten('notification.events', log)).toEqual(log);
});

test('every record of an ended unit is erased, and no record of another one', () => {
  const other = '33333333-7a0e-4c0b-9d8f-0b6f8a527a0e';
  const log = [
    record(declarations.ruleCreated, unit, 0, { ou_id: unit }),
    record(declarations.ruleCreated, other, 1, { ou_id: other, label: `"ou_id":"${unit}"` }),
    record(declarations.leadRemoved, 'ada', 2, { lead_id: 'ada', ou_id: unit }),
  ];
  const after = rewritten('scoring.events', log, [unit]);
  expect(typesOf(after)).toEqual(['RecordErased', 'RuleCreated', 'RecordErased']);
});

test('erasing a second time changes nothing, whatever the log', () => {
  const types = recordDeclarations.filter(({ topic }) => topic === 'scoring.events');
  const anyLog = fc.array(fc.tuple(fc.constantFrom(...types), fc.constantFrom('ada', 'bob')), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(anyLog, (written) => {
      const log = written.map(([declaration, key], offset) => record(declaration, key, offset));
      const once = rewritten('scoring.events', log);
      const again = once.map((one, offset): RawRecord => ({
        ...(one as RawRecord),
        offset: BigInt(offset),
        key: Buffer.from(String(one.key)),
      }));
      expect(rewritten('scoring.events', again)).toEqual(again);
      const lastDeletion = new Map<string, number>();
      for (const [offset, [{ type }, key]] of written.entries())
        if (type === 'LeadRemoved' || type === 'DealRemoved') lastDeletion.set(key, offset);
      for (const [offset, [{ type }, key]] of written.entries())
        expect(String(once[offset]?.headers?.type)).toBe(
          erasedTypes('scoring.events').has(type) && offset < (lastDeletion.get(key) ?? 0)
            ? 'RecordErased'
            : type,
        );
    }),
  );
});
