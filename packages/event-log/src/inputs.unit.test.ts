// Input tables: an incomplete table does not compile, and taken records are discriminated by type.
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
    EventsCounted: 'ignored',
    AliasesRefused: 'ignored',
    AliasUnlinked: 'ignored',
    LeadConflicted: 'ignored',
    LeadDivided: 'ignored',
    LeadMetadataPatched: 'ignored',
    EventTypeVisibilityChanged: 'ignored',
    EventsOfTypeDeleted: 'ignored',
    RecountBegun: 'ignored',
    EventTypesRecounted: 'ignored',
    DeletedEventsCleared: 'ignored',
    JobStarted: 'ignored',
    JobAdvanced: 'ignored',
    JobEnded: 'ignored',
    JobCancelled: 'ignored',
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

test('a table that omits a declared type, or ignores a command, does not compile', () => {
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

test('a record is taken by topic and type, only when the table itself names the type', () => {
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

test('a type that the table does not name has no use, also when it is named like an inherited property', () => {
  expect(useOf(inputs, 'ingest.events', 'EventsIngested')).toBe('taken');
  expect(useOf(inputs, 'ingest.events', 'LeadDeleted')).toBe('ignored');
  for (const name of ['RebuildReadModel', 'constructor', '__proto__'])
    expect(useOf(inputs, 'share.commands', name)).toBeUndefined();
  expect(useOf(inputs, 'scoring.events', 'LeadScored')).toBeUndefined();
});

test('takingAll takes every declared type', () => {
  const table = takingAll('scoring.events');
  for (const { type } of recordsOf('scoring.events'))
    expect(useOf(table, 'scoring.events', type)).toBe('taken');
});
