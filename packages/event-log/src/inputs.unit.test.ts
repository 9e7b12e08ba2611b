// Tables of what services read: what they leave out does not compile, and what they take is told by its type.
import { expect, test } from '@jest/globals';
import { recordsOf } from '@lead-scoring/contracts';
import { takenOf, takingAll, useOf, type InputTable } from './inputs.js';
import type { IncomingRecord } from './records.js';

const inputs = {
  'share.commands': { CreateShare: 'taken', RevokeShare: 'taken' },
  'ingest.events': {
    EventsIngested: 'taken',
    LeadDeleted: 'ignored',
    AliasClaimed: 'ignored',
    AliasLinked: 'ignored',
    EventsRemembered: 'ignored',
    RepeatsDropped: 'ignored',
    AliasesRefused: 'ignored',
  },
} as const satisfies InputTable;

const recordOf = (topic: IncomingRecord['topic'], type: string): IncomingRecord => ({
  topic,
  type,
  partition: 0,
  offset: 0n,
  key: null,
  payload: {},
  headers: { type, id: '', time: '' },
});

test('a table that leaves a declared type out, or ignores a command, does not compile', () => {
  // @ts-expect-error RevokeShare is declared for the topic.
  const incomplete: InputTable = { 'share.commands': { CreateShare: 'taken' } };
  // @ts-expect-error A command cannot be ignored.
  const ignoring: InputTable = { 'share.commands': { CreateShare: 'taken', RevokeShare: 'ignored' } };
  const unknown: InputTable = {
    // @ts-expect-error No such type is declared for the topic.
    'share.commands': { CreateShare: 'taken', RevokeShare: 'taken', ExtendShare: 'taken' },
  };
  expect([incomplete, ignoring, unknown]).toHaveLength(3);
});

test('a record is taken by its topic and its type, and by what a table itself names', () => {
  const taken = takenOf(
    'share.commands',
    inputs['share.commands'],
    recordOf('share.commands', 'CreateShare'),
  );
  const type: 'CreateShare' | 'RevokeShare' | undefined = taken?.type;
  expect(type).toBe('CreateShare');
  const other = recordOf('ingest.events', 'CreateShare');
  expect(takenOf('share.commands', inputs['share.commands'], other)).toBeNull();
  for (const name of ['LeadDeleted', 'toString', '__proto__'])
    expect(takenOf('ingest.events', inputs['ingest.events'], recordOf('ingest.events', name))).toBeNull();
});

test('what a table does not name has no use, whatever the type is called', () => {
  expect(useOf(inputs, 'ingest.events', 'EventsIngested')).toBe('taken');
  expect(useOf(inputs, 'ingest.events', 'LeadDeleted')).toBe('ignored');
  for (const name of ['RebuildReadModel', 'constructor', '__proto__'])
    expect(useOf(inputs, 'share.commands', name)).toBeUndefined();
  expect(useOf(inputs, 'scoring.events', 'LeadScored')).toBeUndefined();
});

test('a table for tests takes all that is declared', () => {
  const table = takingAll('scoring.events');
  for (const { type } of recordsOf('scoring.events'))
    expect(useOf(table, 'scoring.events', type)).toBe('taken');
});
