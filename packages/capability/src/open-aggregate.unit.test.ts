// The commands that an aggregate sends in one transaction, and its replies to commands that it rejects.
import { expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import { outgoing, type IncomingRecord } from '@lead-scoring/event-log';
import type { ReadModel } from '@lead-scoring/read-model';
import type { AggregateDecision, AggregateShape } from './aggregate.js';
import type { PartitionScope } from './capability.js';
import { OpenAggregate } from './open-aggregate.js';

interface Echo extends AggregateShape {
  state: null;
  command: { type: 'ForgetDealLead'; payload: records.ForgetDealLead };
  event: { type: 'DealLeadRemoved'; payload: records.DealLeadRemoved };
}

const id = '00000000-0000-4000-8000-000000000000';
const payload = {
  ou_id: id,
  deal_key: id,
  lead_id: id,
  deletion_id: id,
  removed_at: '2026-01-01T00:00:00.000Z',
};
const sent = outgoing(records.forgetDealLead, { key: id, payload });

const scope: PartitionScope = {
  partition: 0,
  readModel: {} as ReadModel,
  eventsDecided: () => 0,
  opened: () => {
    throw new Error('no other capability is needed');
  },
};

/** An aggregate that sends two commands for each that it takes. */
const echoing = (maximumCommands?: number, decided: () => void = () => undefined) =>
  open(() => {
    decided();
    return { outcome: 'unanswered', events: [], commands: [sent, sent] };
  }, maximumCommands);

const open = (decide: () => AggregateDecision<Echo>, maximumCommands?: number) =>
  new OpenAggregate<Echo>(
    {
      name: 'echo',
      commands: { ForgetDealLead: records.forgetDealLead },
      events: { DealLeadRemoved: records.dealLeadRemoved },
      keyOf: () => id,
      initial: () => null,
      decide,
      evolve: () => null,
      stored: {
        collections: [],
        open: () => ({ load: () => Promise.resolve(new Map()), write: () => Promise.resolve() }),
      },
      ...(maximumCommands !== undefined && { maximumCommands }),
    },
    scope,
  );

const taken = (count: number): IncomingRecord[] =>
  Array.from({ length: count }, (_, offset) => ({
    topic: 'scoring.commands',
    partition: 0,
    offset: BigInt(offset),
    type: 'ForgetDealLead',
    payload,
    headers: {},
  })) as unknown as IncomingRecord[];

test('more commands than one transaction takes are sent in several, and those of one command always in one', async () => {
  const decide = (count: number, maximum?: number) => echoing(maximum).decide(taken(count), taken(count));
  expect(await decide(3, 6)).toMatchObject({ outcome: 'decided', commands: { length: 6 } });
  expect(await decide(3, 5)).toMatchObject({
    outcome: 'split',
    reason: expect.stringContaining('more than 5 commands'),
  });
  expect(await decide(1, 1)).toMatchObject({ outcome: 'decided', commands: { length: 2 } });
  expect(await decide(100)).toMatchObject({ outcome: 'decided', commands: { length: 200 } });
});

test('a batch that sends more commands than one transaction takes is decided no further', async () => {
  let decided = 0;
  const aggregate = echoing(5, () => (decided += 1));
  expect(await aggregate.decide(taken(100), taken(100))).toMatchObject({ outcome: 'split' });
  expect(decided).toBe(3);
});

test('the reply to a rejected command has the rejection and nothing else: it would not fit the schema of replies', async () => {
  const rejection = {
    outcome: 'rejected',
    code: 'lead_not_found',
    message: 'There is no such lead.',
  } as const;
  const decision = await open(() => ({ ...rejection, commands: [] })).decide(taken(1), taken(1));
  expect(decision).toMatchObject({ replies: [{ reply: rejection }] });
  expect((decision as { replies: { reply: object }[] }).replies[0]?.reply).toEqual(rejection);
});
