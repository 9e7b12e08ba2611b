// The model's partitions, decided in any order and with any batches. Whatever the interleaving: no event is lost or
// doubled, forwarding comes to an end, and what is deleted is gone.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ingest, leadOf, ouId } from '../testing/builders.js';
import { Model } from '../testing/model.js';
import { emptyAliasState, evolveAliases } from '../testing/evolve.js';

const names = ['a', 'b', 'c', 'd', 'cookie:1', 'cookie:2'];
const partitionCount = 3;
const sent = fc.record({
  aliases: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }),
  event_id: fc.constantFrom('1', '2', '3', '4'),
});
const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('send' as const), event: sent }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('step' as const),
      partition: fc.nat(partitionCount - 1),
      size: fc.integer({ min: 1, max: 5 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('restart' as const), partition: fc.nat(partitionCount - 1) }),
  },
);

const deletion = fc.record({ do: fc.constant('delete' as const), name: fc.constantFrom(...names) });
const anyAction = fc.oneof({ weight: 8, arbitrary: action }, { weight: 1, arbitrary: deletion });

function run(
  actions: readonly (typeof anyAction extends fc.Arbitrary<infer Action> ? Action : never)[],
  model = new Model(partitionCount),
): { model: Model; sentIds: Set<string> } {
  const sentIds = new Set<string>();
  for (const one of actions) {
    if (one.do === 'delete') {
      model.delete(one.name);
      continue;
    }
    if (one.do === 'send') {
      model.send(one.event);
      const id = ingest([one.event]).payload.events[0]?.id;
      if (id !== undefined) sentIds.add(id);
      continue;
    }
    const partition = model.partitions[one.partition];
    if (!partition) continue;
    if (one.do === 'step') model.step(partition, one.size);
    else model.restart(partition);
  }
  model.drain();
  return { model, sentIds };
}

const manyRuns = { numRuns: 2_000 };

describe('any interleaving of partitions, batches, repeats, claims and crashes', () => {
  test('keeps every event that was sent exactly once', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const { model, sentIds } = run(actions);
        expect(model.keptIds().sort()).toEqual([...sentIds].sort());
      }),
      manyRuns,
    );
  });

  test('leaves no ring of redirects that an event has passed: each lead leads to one that keeps its events', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const { model } = run(actions);
        // One event of each alias finds what rings are left and ends them; the next goes straight on.
        for (const name of names) model.send({ aliases: [name], event_id: 'after' });
        model.drain();
        const before = model.hops;
        for (const name of names) model.send({ aliases: [name], event_id: 'again' });
        model.drain();
        expect(model.hops - before).toBeLessThanOrEqual(names.length * (names.length - 1));
        for (const name of names) {
          let lead = leadOf(name);
          const passed = new Set<string>();
          for (;;) {
            const next = model.partitionOf(lead).state.redirects.get(lead)?.lead_id;
            if (next === undefined || next === lead) break;
            expect(passed.has(next)).toBe(false);
            passed.add(lead);
            lead = next;
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  test('two leads that claim each other at the same time settle at the smaller id', () => {
    const model = new Model(partitionCount);
    model.send({ aliases: ['a', 'b'], event_id: '1' });
    model.send({ aliases: ['b', 'a'], event_id: '1' });
    // Each is decided before either has heard of the other's claim.
    for (const name of ['a', 'b']) {
      const partition = model.partitionOf(leadOf(name));
      if (partition.queue[0]?.type === 'IngestEvents') model.step(partition, 1);
    }
    model.drain();
    model.send({ aliases: ['a'], event_id: '2' });
    model.send({ aliases: ['b'], event_id: '2' });
    model.drain();
    const smaller = [leadOf('a'), leadOf('b')].sort()[0];
    const late = model.partitions
      .flatMap(({ log }) => log)
      .flatMap((event) =>
        event.type === 'EventsIngested' && event.payload.events.some(({ event_id }) => event_id === '2')
          ? [event.payload.lead_id]
          : [],
      );
    expect(new Set(late)).toEqual(new Set([smaller]));
  });

  test('deletions among them: every event is still kept exactly once, and every deletion answered once', () => {
    fc.assert(
      fc.property(fc.array(anyAction, { maxLength: 60 }), (actions) => {
        const { model, sentIds } = run(actions);
        expect(model.keptIds().sort()).toEqual([...sentIds].sort());
        expect([...model.answers.values()].every((answers) => answers.length === 1)).toBe(true);
        expect(model.answers.size).toBe(model.deletions);
      }),
      manyRuns,
    );
  });

  test('once all has come to rest, deleting a lead leaves nothing of it: repeats do nothing, new events begin anew', () => {
    fc.assert(
      fc.property(fc.array(anyAction, { maxLength: 40 }), (actions) => {
        const { model, sentIds } = run(actions);
        for (const name of names) {
          const before = model.recordsOf(leadOf(name)).length;
          model.delete(name);
          model.drain();
          if (before > 0) expect([...model.answers.values()].at(-1)).toEqual(['done']);
          expect(model.recordsOf(leadOf(name))).toEqual([]);
        }
        for (const { state } of model.partitions) expect(state).toEqual(emptyAliasState());
        run(
          actions.filter((one) => one.do === 'send'),
          model,
        );
        expect(model.keptIds().sort()).toEqual([...sentIds].sort());
        for (const name of names) model.send({ aliases: [name], event_id: 'anew' });
        model.drain();
        for (const name of names)
          expect(model.recordsOf(leadOf(name))).toMatchObject([
            { payload: { events: [{ event_id: 'anew' }] } },
          ]);
      }),
      { numRuns: 1_000 },
    );
  });

  test('applying alias events twice, or again from the beginning, gives the same state', () => {
    fc.assert(
      fc.property(fc.array(anyAction, { maxLength: 40 }), (actions) => {
        const { model } = run(actions);
        for (const { log, state } of model.partitions) {
          const replayed = emptyAliasState();
          for (const event of log) {
            evolveAliases(replayed, event);
            evolveAliases(replayed, event);
          }
          expect(replayed).toEqual(state);
        }
      }),
    );
  });

  test('the ids of the model are spread over its partitions', () => {
    const model = new Model(partitionCount);
    expect(new Set(names.map((name) => model.partitionOf(leadOf(name)))).size).toBeGreaterThan(1);
    expect(ouId).toHaveLength(36);
  });
});
