// Given the state of a partition, when commands come in, then these events and commands follow.
import { describe, expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import {
  aliasOf,
  deleteLead,
  ingest,
  leadOf,
  link,
  otherOuId,
  ouId,
  receivedAt,
} from '../testing/builders.js';
import { bodyOf } from '../repeats/body-model.js';
import { destinationOf } from './aliases-model.js';
import { decideIntake } from './decide.js';
import { possibleDeletions, possibleRepeats } from './lookups-model.js';
import { intakeCommands, intakeEvents, type IntakeCommand, type IntakeDecision } from './messages.js';
import {
  addClaim,
  eventKey,
  historyKey,
  type AliasState,
  type HistoryPage,
  type LookedUpAliases,
  type StoredLead,
  type StoredRepeats,
} from './state.js';
import { emptyAliasState } from '../testing/evolve.js';

const state = (redirects: [from: string, to: string][] = [], claims: [string, string][] = []): AliasState => {
  const known = emptyAliasState();
  for (const [from, to] of redirects)
    known.redirects.set(leadOf(from), { lead_id: leadOf(to), alias: aliasOf(from), linked_at: receivedAt });
  for (const [lead, alias] of claims) addClaim(known.claims, leadOf(lead), leadOf(alias));
  if (claims.length > 0) known.counts.set(ouId, claims.length);
  return known;
};

const lookedUp = (given: AliasState, visitors: ReadonlySet<string> = new Set()): LookedUpAliases => ({
  ...given,
  visitors,
  leads: new Map(),
  deletions: new Map(),
  keptSince: new Set(),
  eventful: new Map(),
  metadata: new Map(),
});

const decide = (
  commands: IntakeCommand[],
  given = emptyAliasState(),
  stored: StoredRepeats = new Map(),
  held: ReadonlyMap<string, StoredLead> = new Map(),
  aliasShare = Infinity,
  visitors: ReadonlySet<string> = new Set(),
) => decideIntake(commands, lookedUp(given, visitors), stored, held, aliasShare);

/** Leads with stored events. */
const holding = (...names: string[]): Map<string, StoredLead> =>
  new Map(names.map((name) => [leadOf(name), { ou_id: ouId, deletion_id: null, foreign: new Map() }]));

/** Events that were dropped as repeats. */
const droppedIn = ({ events }: IntakeDecision) =>
  events.reduce((sum, { type, payload }) => (type === 'RepeatsDropped' ? sum + payload.count : sum), 0);
const ingestedIn = (decision: IntakeDecision) =>
  decision.events.flatMap((event) => (event.type === 'EventsIngested' ? [event.payload] : []));

describe('accepting events', () => {
  test('events of one lead in one batch become one record, in the order in which they came', () => {
    const decision = decide([
      ingest([
        { aliases: ['a'], event_type: 'First' },
        { aliases: ['b'], event_type: 'Other' },
        { aliases: ['a'], event_type: 'Second' },
      ]),
      ingest([{ aliases: ['a'], event_type: 'Third' }]),
    ]);
    expect(
      ingestedIn(decision).map(({ lead_id, events }) => [
        lead_id,
        events.map(({ event_type }) => event_type),
      ]),
    ).toEqual([
      [leadOf('a'), ['First', 'Second', 'Third']],
      [leadOf('b'), ['Other']],
    ]);
    expect(decision.commands).toEqual([]);
  });

  test('a record with events of several requests has the batch and the time of receipt of each event', () => {
    const second = '99999999-9999-4999-8999-999999999999';
    const later = '2026-01-01T12:00:05.000Z';
    const [record] = ingestedIn(
      decide([
        ingest([{ aliases: ['a'] }]),
        ingest([{ aliases: ['a'] }], { batch_id: second, received_at: later }),
      ]),
    );
    expect(record).toMatchObject({
      received_at: later,
      events: [{ received_at: receivedAt }, { batch_id: second }],
    });
    expect(record?.events[0]).not.toHaveProperty('batch_id');
    expect(record?.events[1]).not.toHaveProperty('received_at');
  });

  test('live and imported events are never in one record, nor events that fire triggers and events that do not', () => {
    const decision = decide([
      ingest([{ aliases: ['a'] }]),
      ingest([{ aliases: ['a'] }], { source: 'import', fire_triggers: false }),
      ingest([{ aliases: ['a'] }], { source: 'import', fire_triggers: true }),
    ]);
    expect(ingestedIn(decision).map(({ source, fire_triggers }) => [source, fire_triggers])).toEqual([
      ['ingest', true],
      ['import', false],
      ['import', true],
    ]);
  });

  test("a record's fields have the latest value by event time, for any order of the events", () => {
    const late = {
      aliases: ['a'],
      timestamp: '2026-01-01T10:00:00.000Z',
      metadata: { name: 'Ada King', owner: 'Sam' },
    };
    const early = { aliases: ['a'], timestamp: '2026-01-01T09:00:00.000Z', metadata: { name: 'Ada Byron' } };
    const fields = (...events: (typeof late | typeof early)[]) =>
      ingestedIn(decide([ingest(events)]))[0]?.fields;
    expect(fields(late, early)).toEqual(fields(early, late));
    expect(fields(late, early)).toContainEqual({ field: 'name', value: 'Ada King', at: late.timestamp });
  });

  test('decisions are valid by the declared schemas', () => {
    const decision = decide(
      [
        ingest([{ aliases: ['a', 'x1'], event_id: 'x', metadata: { name: 'Ada' } }, { aliases: ['c'] }]),
        link('d', 'e'),
        deleteLead('a'),
        deleteLead('c'),
        { type: 'RememberEvents', payload: { ou_id: ouId, lead_id: leadOf('b'), event_ids: [leadOf('x')] } },
        {
          type: 'UnlinkAlias',
          payload: {
            ou_id: ouId,
            alias_lead_id: leadOf('g'),
            lead_id: leadOf('h'),
            deletion_id: ouId,
            deleted_by: ouId,
            deleted_at: receivedAt,
          },
        },
      ],
      state(
        [
          ['c', 'f'],
          ['g', 'h'],
        ],
        [['a', 'b']],
      ),
    );
    expect(new Set(decision.events.map(({ type }) => type)).size).toBe(5);
    expect(new Set(decision.commands.map(({ command }) => command.type)).size).toBe(4);
    for (const event of decision.events) {
      const { schema } = intakeEvents[event.type];
      expect(schema.safeParse(event.payload).error).toBeUndefined();
    }
    for (const { command } of decision.commands)
      expect(intakeCommands[command.type].schema.safeParse(command.payload).error).toBeUndefined();
  });

  test('large events are divided into records that the log accepts', () => {
    const metadata = { text: 'x'.repeat(90_000) };
    const records = ingestedIn(
      decide([ingest(Array.from({ length: 40 }, () => ({ aliases: ['a'], metadata })))]),
    );
    expect(records.reduce((sum, { events }) => sum + events.length, 0)).toBe(40);
    for (const record of records) expect(JSON.stringify(record).length).toBeLessThan(1_000_000);
  });

  test('very many small events of one lead are divided into several records', () => {
    const records = ingestedIn(decide([ingest(Array.from({ length: 2_500 }, () => ({ aliases: ['a'] })))]));
    expect(records.map(({ events }) => events.length)).toEqual([1_000, 1_000, 500]);
  });
});

describe('repeats', () => {
  const repeated = { aliases: ['a'], event_id: 'order-1' };

  test('an event_id that comes twice in one batch counts once', () => {
    const decision = decide([ingest([repeated, repeated]), ingest([repeated])]);
    expect(ingestedIn(decision)[0]?.events).toHaveLength(1);
    expect(droppedIn(decision)).toBe(2);
  });

  test('only an event that is stored is dropped', () => {
    const command = ingest([repeated, { aliases: ['a'], event_id: 'order-2' }]);
    const candidates = possibleRepeats([command]);
    expect(candidates).toHaveLength(2);
    const [first] = candidates;
    const decision = decide(
      [command],
      emptyAliasState(),
      new Map([[eventKey(first?.lead_id ?? '', first?.id ?? ''), null]]),
    );
    expect(ingestedIn(decision)[0]?.events.map(({ event_id }) => event_id)).toEqual(['order-2']);
  });

  test('the number of dropped events is recorded once for each batch', () => {
    const first = ingest([repeated, repeated, { aliases: ['b'], event_id: '2' }]);
    const second = ingest([{ aliases: ['b'], event_id: '2' }, repeated]);
    second.payload.batch_id = otherOuId;
    const { events } = decide([first, second]);
    expect(events.flatMap(({ type, payload }) => (type === 'RepeatsDropped' ? [payload] : []))).toEqual([
      { ou_id: ouId, lead_id: leadOf('a'), batch_id: first.payload.batch_id, count: 1 },
      { ou_id: ouId, lead_id: leadOf('b'), batch_id: otherOuId, count: 2 },
    ]);
  });

  test.each<[string, object, object, number]>([
    ['the same', { metadata: { a: 1, b: [2] } }, { metadata: { b: [2], a: 1 } }, 0],
    ['other metadata', { metadata: { a: 1 } }, { metadata: { a: 2 } }, 1],
    ['metadata of another type', { metadata: { a: 1 } }, { metadata: { a: '1' } }, 1],
    ['metadata, and none', { metadata: { a: 1 } }, {}, 1],
    ['another event type', {}, { event_type: 'Other' }, 1],
    ['another time', {}, { timestamp: '2026-01-01T11:00:01.000Z' }, 1],
    ['no time of its own', {}, { timestamp: receivedAt }, 0],
  ])(
    'a repeat with %s is counted as differing or not, in one batch and after it was stored',
    (_title, first, again, differing) => {
      const one = { ...repeated, ...first };
      const commands = [ingest([one]), ingest([{ ...repeated, ...again }])];
      const expected = { count: 1, ...(differing > 0 && { differing }) };
      const recorded = ({ events }: IntakeDecision) =>
        events.flatMap(({ type, payload }) => (type === 'RepeatsDropped' ? [payload] : []));
      expect(recorded(decide(commands))).toEqual([expect.objectContaining(expected)]);
      const kept = commands[0]?.payload.events[0];
      if (!kept) throw new Error('unreachable');
      const stored = new Map([[eventKey(kept.lead_id, kept.id), bodyOf(kept, receivedAt)]]);
      const later = recorded(decide(commands.slice(1), emptyAliasState(), stored));
      expect(later).toEqual([expect.objectContaining(expected)]);
      expect('differing' in (later[0] ?? {})).toBe(differing > 0);
    },
  );

  test('a repeat whose stored event was not read is dropped without a comparison', () => {
    const [first] = possibleRepeats([ingest([repeated])]);
    const stored = new Map([[eventKey(first?.lead_id ?? '', first?.id ?? ''), null]]);
    const { events } = decide([ingest([{ ...repeated, event_type: 'Other' }])], emptyAliasState(), stored);
    expect(events.map(({ payload }) => payload)).toEqual([expect.not.objectContaining({ differing: 1 })]);
  });

  test('events without an id of their own are not looked up', () => {
    expect(possibleRepeats([ingest([{ aliases: ['a'] }]), link('a', 'b')])).toEqual([]);
  });

  test('the same event_id of another alias is another event', () => {
    const decision = decide([ingest([repeated, { aliases: ['b'], event_id: 'order-1' }])]);
    expect(ingestedIn(decision)).toHaveLength(2);
  });

  test('a repeat of an event that was stored before its lead was redirected is dropped, not forwarded', () => {
    const decision = decide([ingest([repeated]), link('a', 'b'), ingest([repeated])]);
    expect(droppedIn(decision)).toBe(1);
    expect(decision.commands).toEqual([]);
  });
});

describe('further aliases', () => {
  test('a further alias of an event is claimed: a link command goes to the lead that the alias named', () => {
    const decision = decide([ingest([{ aliases: ['a', 'x1'] }])]);
    const claim = {
      ou_id: ouId,
      alias: aliasOf('x1'),
      alias_lead_id: leadOf('x1'),
      lead_id: leadOf('a'),
    };
    expect(decision.events).toContainEqual({
      type: 'AliasClaimed',
      payload: { ...claim, claimed_at: receivedAt },
    });
    expect(decision.commands).toEqual([
      {
        lead_id: leadOf('x1'),
        command: { type: 'LinkAlias', payload: { ...claim, linked_at: receivedAt } },
      },
    ]);
    expect(ingestedIn(decision)[0]?.aliases).toEqual([aliasOf('a'), aliasOf('x1')]);
  });

  test('a lead claims an alias once, within a batch and over several', () => {
    const event = { aliases: ['a', 'x1'] };
    expect(decide([ingest([event, event])]).commands).toHaveLength(1);
    expect(decide([ingest([event])], state([], [['a', 'x1']])).commands).toEqual([]);
  });

  test('an alias is linked to the first lead that claims it; later claims and repeated links change nothing', () => {
    const decision = decide([link('x', 'a'), link('x', 'b'), link('x', 'a')]);
    expect(decision.events).toEqual([
      {
        type: 'AliasLinked',
        payload: {
          ou_id: ouId,
          alias: aliasOf('x'),
          alias_lead_id: leadOf('x'),
          lead_id: leadOf('a'),
          linked_at: receivedAt,
        },
      },
    ]);
    expect(decide([link('x', 'b')], state([['x', 'a']])).events).toEqual([]);
  });

  test('an alias above the limit of its OU is not claimed: its event is kept, and refusals are recorded once for each batch', () => {
    const events = ['1', '2', '3', '2'].map((n) => ({ aliases: ['a', `x${n}`] }));
    const batches = [ingest(events), ingest(events.slice(2), { batch_id: leadOf('other batch') })];
    const given = state([], [['b', 'x4']]);
    const decision = decide(batches, given, new Map(), new Map(), 2);
    expect(decision.events).toMatchObject([
      { type: 'EventsIngested', payload: { events: { length: 6 } } },
      { type: 'AliasClaimed', payload: { alias: aliasOf('x1') } },
      {
        type: 'AliasesRefused',
        payload: { lead_id: leadOf('a'), batch_id: batches[0]?.payload.batch_id, count: 3 },
      },
      { type: 'AliasesRefused', payload: { batch_id: leadOf('other batch'), count: 2 } },
    ]);
    expect(decision.commands).toHaveLength(1);
    for (const event of decision.events)
      if (event.type === 'AliasesRefused')
        expect(records.aliasesRefused.schema.safeParse(event.payload).error).toBeUndefined();
  });

  test('an OU without aliases left does not affect another OU, and keeps the aliases that it has claimed', () => {
    const given = state([], [['a', 'cookie:1']]);
    const decision = decide(
      [
        ingest([{ aliases: ['a', 'cookie:1'] }]),
        ingest([{ aliases: ['x', 'cookie:1'] }], { ou_id: otherOuId }),
      ],
      given,
      new Map(),
      new Map(),
      1,
    );
    expect(
      decision.events.flatMap(({ type, payload }) => (type === 'AliasClaimed' ? [payload.ou_id] : [])),
    ).toEqual([otherOuId]);
    expect(decision.events.some(({ type }) => type === 'AliasesRefused')).toBe(false);
  });

  test('the claims of a deleted lead are free again in the same batch', () => {
    const given = state([], [['a', 'cookie:1']]);
    const decision = decide(
      [deleteLead('a'), ingest([{ aliases: ['b', 'cookie:2'] }, { aliases: ['b', 'cookie:3'] }])],
      given,
      new Map(),
      holding('a'),
      1,
    );
    expect(
      decision.events.flatMap(({ type, payload }) => (type === 'AliasClaimed' ? [payload.alias] : [])),
    ).toEqual([aliasOf('cookie:2')]);
    expect(decision.events.at(-1)).toMatchObject({ type: 'AliasesRefused', payload: { count: 1 } });
  });

  test('an alias is not linked to itself', () => {
    expect(decide([link('a', 'a')]).events).toEqual([]);
  });
});

describe('redirected leads', () => {
  test('an event of a redirected lead is forwarded to the redirect’s lead, with the leads that it has passed', () => {
    const decision = decide([ingest([{ aliases: ['x'] }, { aliases: ['y'] }])], state([['x', 'a']]));
    expect(ingestedIn(decision).map(({ lead_id }) => lead_id)).toEqual([leadOf('y')]);
    expect(decision.commands).toMatchObject([
      {
        lead_id: leadOf('a'),
        command: {
          type: 'IngestEvents',
          payload: { events: [{ lead_id: leadOf('a'), forwarded_by: [leadOf('x')] }] },
        },
      },
    ]);
  });

  test('a forwarded event keeps its alias, and does not claim it again', () => {
    const decision = decide(
      [ingest([{ aliases: ['x'], lead_id: leadOf('a'), forwarded_by: [leadOf('x')] }])],
      state([], [['a', 'x']]),
    );
    expect(ingestedIn(decision)).toMatchObject([{ lead_id: leadOf('a'), aliases: [aliasOf('x')] }]);
    expect(decision.commands).toEqual([]);
  });

  test('events under different aliases of one lead are in different records, so that each keeps its alias', () => {
    const decision = decide(
      [ingest([{ aliases: ['a'] }, { aliases: ['x'], lead_id: leadOf('a'), forwarded_by: [leadOf('x')] }])],
      state([], [['a', 'x']]),
    );
    expect(ingestedIn(decision).map(({ aliases }) => aliases[0])).toEqual([aliasOf('a'), aliasOf('x')]);
  });

  test('the lead with the smallest id of a ring keeps the event and takes its redirect back', () => {
    const [small = '', large = ''] = ['a', 'b'].sort((left, right) =>
      leadOf(left) < leadOf(right) ? -1 : 1,
    );
    const atLarge = decide(
      [ingest([{ aliases: [small], lead_id: leadOf(large), forwarded_by: [leadOf(small)] }])],
      state([[large, small]]),
    );
    expect(atLarge.commands).toMatchObject([{ lead_id: leadOf(small) }]);
    const atSmall = decide(
      [ingest([{ aliases: [small], lead_id: leadOf(small), forwarded_by: [leadOf(small), leadOf(large)] }])],
      state([[small, large]]),
    );
    expect(ingestedIn(atSmall)).toHaveLength(1);
    expect(atSmall.events).toContainEqual(
      expect.objectContaining({
        type: 'AliasLinked',
        payload: expect.objectContaining({ alias_lead_id: leadOf(small), lead_id: leadOf(small) }) as object,
      }),
    );
  });

  test('very many forwarded events are divided into commands that the log accepts, and none is lost', () => {
    const events = Array.from({ length: 3_000 }, () => ({
      aliases: ['x'],
      metadata: { text: 'y'.repeat(500) },
      forwarded_by: Array.from({ length: 19 }, (_, index) => leadOf(`hop${String(index)}`)),
    }));
    const { commands } = decide([ingest(events)], state([['x', 'a']]));
    const forwarded = commands.map(({ command }) =>
      command.type === 'IngestEvents' ? command.payload.events : [],
    );
    expect(new Set(forwarded.flat().map(({ id }) => id)).size).toBe(3_000);
    for (const part of forwarded) expect(JSON.stringify(part).length).toBeLessThan(1_000_000);
  });

  test('an event that was forwarded twenty times stays', () => {
    const forwardedBy = Array.from({ length: 20 }, (_, index) => leadOf(`hop${String(index)}`));
    const redirect = { lead_id: leadOf('b'), alias: aliasOf('a'), linked_at: receivedAt };
    expect(destinationOf(leadOf('a'), forwardedBy, redirect)).toEqual({ to: 'keep' });
  });
});

describe('deletions', () => {
  const done = { outcome: 'done' };
  const typesOf = (decision: IntakeDecision) => decision.events.map(({ type }) => type);

  test('a lead with events is deleted, and its stored data is looked up first', () => {
    const command = deleteLead('a');
    expect(possibleDeletions([ingest([{ aliases: ['b'] }]), command])).toEqual([leadOf('a')]);
    const decision = decide([command], emptyAliasState(), new Map(), holding('a'));
    expect(decision.events).toEqual([
      {
        type: 'LeadDeleted',
        payload: {
          ou_id: ouId,
          lead_id: leadOf('a'),
          deletion_id: command.payload.deletion_id,
          deleted_by: command.payload.requested_by,
          deleted_at: receivedAt,
        },
      },
    ]);
    expect(decision.replies).toEqual([{ to: command, reply: done }]);
    expect(decision.commands).toEqual([]);
  });

  test('an unknown lead, or one of another OU, is not found', () => {
    for (const command of [deleteLead('b'), deleteLead('a', { ou_id: otherOuId })]) {
      const decision = decide([command], emptyAliasState(), new Map(), holding('a'));
      expect(decision.events).toEqual([]);
      expect(decision.replies).toMatchObject([
        { to: command, reply: { outcome: 'rejected', code: 'lead_not_found' } },
      ]);
    }
  });

  test('events before, the deletion, and events after it in one batch stay in this order', () => {
    const event = { aliases: ['a'] };
    const decision = decide([ingest([event, event]), deleteLead('a'), ingest([event]), ingest([event])]);
    expect(typesOf(decision)).toEqual(['EventsIngested', 'LeadDeleted', 'EventsIngested']);
    expect(ingestedIn(decision).map(({ events }) => events.length)).toEqual([2, 2]);
  });

  test('a repeated deletion deletes nothing, also when there is a new lead with the id; another deletion does', () => {
    const command = deleteLead('a');
    const { deletion_id } = command.payload;
    const again = decide(
      [command],
      emptyAliasState(),
      new Map(),
      new Map([[leadOf('a'), { ou_id: ouId, deletion_id, foreign: new Map<string, string[]>() }]]),
    );
    expect(again).toMatchObject({ events: [], replies: [{ reply: done }] });
    const event = ingest([{ aliases: ['a'] }]);
    expect(typesOf(decide([event, command, event, command]))).toEqual([
      'EventsIngested',
      'LeadDeleted',
      'EventsIngested',
    ]);
    const another = deleteLead('a', { deletion_id: leadOf('another') });
    expect(
      typesOf(decide([event, command, event, another])).filter((type) => type === 'LeadDeleted'),
    ).toHaveLength(2);
    expect(decide([event, command, another]).replies).toMatchObject([
      { reply: done },
      { reply: { outcome: 'rejected' } },
    ]);
  });

  test('the deletion of a redirected lead is forwarded to the lead that has its events, and answered there', () => {
    const command = deleteLead('x');
    const decision = decide([command], state([['x', 'a']]), new Map(), holding('x'));
    expect(decision).toMatchObject({ events: [], replies: [] });
    expect(decision.commands).toEqual([
      {
        lead_id: leadOf('a'),
        command: {
          type: 'DeleteLead',
          payload: { ...command.payload, lead_id: leadOf('a'), forwarded_by: [leadOf('x')] },
        },
        answers: command,
      },
    ]);
  });

  test('every claimed alias gets an UnlinkAlias and is free: a later event claims it again', () => {
    const event = ingest([{ aliases: ['a', 'cookie:1'] }]);
    const decision = decide(
      [event, deleteLead('a'), event],
      state([], [['a', 'cookie:2']]),
      new Map(),
      holding('a'),
    );
    expect(decision.commands.map(({ lead_id, command }) => [lead_id, command.type])).toEqual([
      [leadOf('cookie:1'), 'LinkAlias'],
      [leadOf('cookie:2'), 'UnlinkAlias'],
      [leadOf('cookie:1'), 'UnlinkAlias'],
      [leadOf('cookie:1'), 'LinkAlias'],
    ]);
  });

  test('an alias that is linked to the lead loses its link and its own lead; one that is linked to another lead keeps both', () => {
    const unlink = (alias: string, lead: string): IntakeCommand => ({
      type: 'UnlinkAlias',
      payload: {
        ou_id: ouId,
        alias_lead_id: leadOf(alias),
        lead_id: leadOf(lead),
        deletion_id: leadOf('deletion'),
        deleted_by: leadOf('credential'),
        deleted_at: receivedAt,
      },
    });
    const given = state([['x', 'a']], [['x', 'y']]);
    const decision = decide([unlink('x', 'a'), ingest([{ aliases: ['x'] }])], given);
    expect(decision.events).toMatchObject([
      { type: 'LeadDeleted', payload: { lead_id: leadOf('x'), linked_to: leadOf('a') } },
      { type: 'EventsIngested', payload: { lead_id: leadOf('x') } },
    ]);
    expect(decision.commands).toMatchObject([
      { lead_id: leadOf('y'), command: { type: 'UnlinkAlias', payload: { lead_id: leadOf('x') } } },
    ]);
    for (const other of [unlink('x', 'b'), unlink('z', 'a')])
      expect(decide([other], given)).toMatchObject({ events: [], commands: [] });
  });

  test('the ids of events under linked aliases are sent to the leads where their repeats are searched', () => {
    const kept = ingest([
      { aliases: ['x'], event_id: '1', lead_id: leadOf('a'), forwarded_by: [leadOf('x')] },
      { aliases: ['x'], lead_id: leadOf('a'), forwarded_by: [leadOf('x')] },
      { aliases: ['a'], event_id: '1' },
    ]);
    const decision = decide([kept, deleteLead('a')], state([], [['a', 'x']]));
    const [remember] = decision.commands;
    expect(remember).toEqual({
      lead_id: leadOf('x'),
      command: {
        type: 'RememberEvents',
        payload: {
          ou_id: ouId,
          lead_id: leadOf('x'),
          // The second event has a random id, which cannot come again; in this test it is also name-based.
          event_ids: kept.payload.events.slice(0, 2).map(({ id }) => id),
        },
      },
    });
    const again = ingest([{ aliases: ['x'], event_id: '1' }]);
    expect(decide(remember ? [remember.command, again] : [])).toMatchObject({
      events: [{ type: 'EventsRemembered' }, { type: 'RepeatsDropped', payload: { count: 1 } }],
    });
  });

  test('a repeat that comes after the deletion is dropped', () => {
    const event = ingest([{ aliases: ['a'], event_id: '1' }]);
    const decision = decide([event, deleteLead('a'), event]);
    expect(droppedIn(decision)).toBe(1);
    expect(typesOf(decision)).toEqual(['EventsIngested', 'LeadDeleted', 'RepeatsDropped']);
  });

  test('an event that was forwarded to a lead which was deleted meanwhile is returned, and begins a lead of its own', () => {
    const late = ingest([{ aliases: ['x'], lead_id: leadOf('a'), forwarded_by: [leadOf('x')] }]);
    const { events, commands } = decide([late]);
    expect(events).toEqual([]);
    expect(commands).toMatchObject([
      {
        lead_id: leadOf('x'),
        command: { payload: { events: [{ lead_id: leadOf('x'), forwarded_by: [], returned: true }] } },
      },
    ]);
    const back = commands.map(({ command }) => command);
    for (const given of [emptyAliasState(), state([['x', 'a']])])
      expect(ingestedIn(decide(back, given))).toMatchObject([{ lead_id: leadOf('x') }]);
  });

  test('a deletion that was forwarded to a lead which was deleted meanwhile is returned, and decided where it came from', () => {
    const command = deleteLead('a', { forwarded_by: [leadOf('x')] });
    const { commands } = decide([command]);
    expect(commands).toMatchObject([{ lead_id: leadOf('x'), command: { payload: { returned: true } } }]);
    const back = commands.map((one) => one.command);
    expect(decide(back, emptyAliasState(), new Map(), holding('x')).replies).toMatchObject([{ reply: done }]);
    expect(decide(back).replies).toMatchObject([{ reply: { outcome: 'rejected' } }]);
  });
});

describe('the past of a visitor who says who they are', () => {
  const naming = ingest([{ aliases: ['cookie:x', 'a'], event_id: 'form' }]);
  const waiting = {
    ...naming.payload,
    events: naming.payload.events.map((event) => ({ ...event, linked_by: leadOf('cookie:x') })),
  };
  const joining: records.JoinLead = {
    ou_id: ouId,
    alias_lead_id: leadOf('cookie:x'),
    lead_id: leadOf('a'),
    linked_at: receivedAt,
    from: 0,
    waiting,
  };
  const linked = () => state([['cookie:x', 'a']]);
  const page = (more: Partial<HistoryPage> = {}): HistoryPage => ({
    records: ingestedIn(
      decide([ingest([{ aliases: ['cookie:x'], event_id: 'view' }, { aliases: ['cookie:x'] }])]),
    ),
    exists: true,
    next: null,
    ...more,
  });
  const join = (found: HistoryPage | null, given = linked(), payload = joining) =>
    decideIntake(
      [{ type: 'JoinLead', payload }],
      lookedUp(given),
      new Map(),
      new Map(),
      Infinity,
      new Map(found ? [[historyKey(payload), found]] : []),
    );
  /** Decides where it is known that the visitor has a past. */
  const decideKnowing = (commands: IntakeCommand[]) =>
    decide(
      commands,
      undefined,
      undefined,
      undefined,
      undefined,
      new Set([leadOf('cookie:x'), leadOf('cookie:y')]),
    );
  const sentIn = ({ commands }: IntakeDecision) =>
    commands.map(({ lead_id, command: { type, payload } }) => ({
      lead_id,
      type,
      events: type === 'IngestEvents' ? payload.events.map(({ event_id }) => event_id) : [],
    }));

  test('an event belongs to the known alias that it names, and waits for the past of the anonymous one', () => {
    const decision = decideKnowing([naming]);
    expect(decision.events).toMatchObject([
      { type: 'AliasClaimed', payload: { lead_id: leadOf('a'), alias_lead_id: leadOf('cookie:x') } },
    ]);
    expect(decision.commands).toMatchObject([
      { lead_id: leadOf('cookie:x'), command: { type: 'LinkAlias', payload: { waiting } } },
    ]);
  });

  test('an event does not wait where no past is known of; the link is made all the same', () => {
    const decision = decide([naming]);
    expect(ingestedIn(decision)).toHaveLength(1);
    expect(decision.commands).toMatchObject([{ command: { type: 'LinkAlias' } }]);
  });

  test('a link takes the past along at once, or in a step of its own where the visitor has events in the same batch', () => {
    const linking: IntakeCommand = {
      type: 'LinkAlias',
      payload: { ...link('cookie:x', 'a').payload, takes_past: true },
    };
    const found = new Map([[historyKey({ alias_lead_id: leadOf('cookie:x'), from: 0 }), page()]]);
    const decided = (commands: IntakeCommand[]) =>
      decideIntake(commands, lookedUp(emptyAliasState()), new Map(), new Map(), Infinity, found);
    const decision = decided([linking]);
    expect(decision.events.map(({ type }) => type)).toEqual(['AliasLinked', 'LeadDeleted']);
    expect(sentIn(decision)).toMatchObject([{ lead_id: leadOf('a'), events: ['view', undefined] }]);
    expect(sentIn(decided([ingest([{ aliases: ['cookie:x'] }]), linking]))).toMatchObject([
      { lead_id: leadOf('cookie:x'), type: 'JoinLead' },
    ]);
    expect(sentIn(decided([link('cookie:x', 'a')]))).toEqual([]);
  });

  test('a second event that names both does not wait', () => {
    const again = ingest([{ aliases: ['a', 'cookie:x'] }]);
    expect(ingestedIn(decideKnowing([naming, again]))).toHaveLength(1);
  });

  test('two known or two anonymous aliases do not make an event wait, and no past is taken', () => {
    for (const aliases of [
      ['a', 'b'],
      ['cookie:x', 'cookie:y'],
    ]) {
      const decision = decideKnowing([ingest([{ aliases }])]);
      expect(ingestedIn(decision)).toHaveLength(1);
      expect(decision.commands[0]?.command.payload).not.toHaveProperty('takes_past');
    }
  });

  test('its events go to the person without firing triggers, then its lead ends, and then the event follows that waited', () => {
    const decision = join(page());
    expect(sentIn(decision)).toEqual([
      { lead_id: leadOf('a'), type: 'IngestEvents', events: ['view', undefined] },
      { lead_id: leadOf('a'), type: 'IngestEvents', events: ['form'] },
    ]);
    expect(decision.commands[0]?.command.payload).toMatchObject({ fire_triggers: false });
    expect(decision.commands[1]?.command.payload).toMatchObject({ fire_triggers: true });
    expect(decision.events).toMatchObject([
      { type: 'LeadDeleted', payload: { lead_id: leadOf('cookie:x'), joined_to: leadOf('a') } },
    ]);
    for (const { command } of decision.commands)
      if (command.type === 'IngestEvents')
        expect(records.ingestEvents.schema.safeParse(command.payload).error).toBeUndefined();
    for (const { payload } of decision.events)
      expect(records.leadDeleted.schema.safeParse(payload).error).toBeUndefined();
  });

  test('many records of a past are few commands, and each event keeps its batch', () => {
    const batches = ['1', '2', '3'].map((digit) => digit.repeat(8) + '-9999-4999-8999-999999999999');
    const recorded = batches.flatMap((batch_id) =>
      ingestedIn(decide([ingest([{ aliases: ['cookie:x'] }], { batch_id })])),
    );
    const { commands } = join(page({ records: recorded }));
    const [past] = commands;
    expect(commands).toHaveLength(2);
    if (past?.command.type !== 'IngestEvents') throw new Error('the past is sent');
    expect(past.command.payload.events.map(({ batch_id }) => batch_id)).toEqual(batches);
    const [kept] = ingestedIn(decide([past.command], state([], [['a', 'cookie:x']])));
    expect(kept?.events.map(({ batch_id = kept.batch_id }) => batch_id)).toEqual(batches);
  });

  test('visitors who join persons in one batch end after its events, and an event that a visitor gets back after that is of a new lead', () => {
    const returned = ingest([{ aliases: ['cookie:x'], event_type: 'Returned' }]);
    const [event] = returned.payload.events;
    if (!event) throw new Error('there is an event');
    const decision = decideIntake(
      [
        { type: 'JoinLead', payload: joining },
        ingest([{ aliases: ['b'] }]),
        { ...returned, payload: { ...returned.payload, events: [{ ...event, returned: true }] } },
        ingest([{ aliases: ['b'] }]),
      ],
      lookedUp(linked()),
      new Map(),
      new Map(),
      Infinity,
      new Map([[historyKey(joining), page()]]),
    );
    expect(
      decision.events.map(({ type, payload }) => [type, 'lead_id' in payload && payload.lead_id]),
    ).toEqual([
      ['EventsIngested', leadOf('b')],
      ['LeadDeleted', leadOf('cookie:x')],
      ['EventsIngested', leadOf('cookie:x')],
      ['EventsIngested', leadOf('b')],
    ]);
  });

  test('a visitor without a past ends nothing', () => {
    const decision = join(page({ records: [], exists: false }));
    expect(decision.events).toEqual([]);
    expect(sentIn(decision)).toMatchObject([{ events: ['form'] }]);
  });

  test('a long past is sent in steps, and a page that is too much for a batch is read with a later one', () => {
    expect(sentIn(join(page({ next: 7 })))).toMatchObject([{ type: 'IngestEvents' }, { type: 'JoinLead' }]);
    expect(join(page({ next: 7 })).commands[1]?.command.payload).toMatchObject({ from: 7, waiting });
    expect(join(null).commands.map(({ command }) => command)).toEqual([
      { type: 'JoinLead', payload: joining },
    ]);
  });

  test('a second person on the same device starts afresh: the past stays with the first', () => {
    const { events, commands } = decide(
      [{ type: 'LinkAlias', payload: { ...link('cookie:x', 'b').payload, waiting } }],
      linked(),
    );
    expect(events).toEqual([]);
    expect(commands).toMatchObject([
      { lead_id: leadOf('b'), command: { type: 'IngestEvents', payload: waiting } },
    ]);
  });

  test('a visitor whose events named another person stays with that person', () => {
    const [record] = page().records;
    const named = page({
      records: record ? [{ ...record, aliases: [...record.aliases, aliasOf('b')] }] : [],
    });
    const decision = join(named);
    expect(decision.events).toEqual([]);
    expect(sentIn(decision)).toMatchObject([{ events: ['form'] }]);
  });

  test('a lead whose only event waits can be deleted, by its own organizational unit only', () => {
    const { replies, commands } = decideKnowing([naming, deleteLead('a')]);
    expect(replies).toMatchObject([{ reply: { outcome: 'done' } }]);
    expect(commands.map(({ command: { type } }) => type)).toEqual(['LinkAlias', 'UnlinkAlias']);
    const foreign = decideKnowing([naming, deleteLead('a', { ou_id: otherOuId })]);
    expect(foreign.replies).toMatchObject([{ reply: { code: 'lead_not_found' } }]);
  });

  test('after the deletion of the person, nothing of the past and no event that waited comes back', () => {
    // Should it come again, it is a repeat.
    const remembered = [
      {
        lead_id: leadOf('a'),
        command: { type: 'RememberEvents', payload: { event_ids: [waiting.events[0]?.id] } },
      },
    ];
    expect(join(page(), emptyAliasState())).toMatchObject({
      events: [],
      commands: [{ lead_id: leadOf('a'), command: { type: 'IngestEvents', payload: waiting } }],
    });
    const later = state([['cookie:x', 'a']]);
    later.redirects.set(leadOf('cookie:x'), {
      lead_id: leadOf('a'),
      alias: aliasOf('cookie:x'),
      linked_at: '2026-02-01T00:00:00.000Z',
    });
    expect(join(page(), later)).toMatchObject({ events: [], commands: remembered });
    const sent = { type: 'IngestEvents' as const, payload: waiting };
    expect(decide([sent])).toMatchObject({ events: [], commands: remembered });
    expect(ingestedIn(decide([sent], state([], [['a', 'cookie:x']])))).toHaveLength(1);
  });
});
