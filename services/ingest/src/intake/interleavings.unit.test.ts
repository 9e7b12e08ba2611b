// The model's partitions, decided in any order and with any batches. For every interleaving: no event is lost or doubled, forwarding
// ends, and deleted leads are gone.
import { describe, expect, test } from '@jest/globals';
import { lawRuns } from '@lead-scoring/testing/full-size';
import fc from 'fast-check';
import { ingest, leadOf, ouId, type SentEvent } from '../testing/builders.js';
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
): { model: Model; sent: Map<string, SentEvent> } {
  const sentEvents = new Map<string, SentEvent>();
  for (const one of actions) {
    if (one.do === 'delete') {
      model.delete(one.name);
      continue;
    }
    if (one.do === 'send') {
      model.send(one.event);
      const id = ingest([one.event]).payload.events[0]?.id;
      if (id !== undefined) sentEvents.set(id, one.event);
      continue;
    }
    const partition = model.partitions[one.partition];
    if (!partition) continue;
    if (one.do === 'step') model.step(partition, one.size);
    else model.restart(partition);
  }
  model.drain();
  return { model, sent: sentEvents };
}

/** Every event is kept once; only an event that waited for the past of a visitor may be gone, with its lead that was deleted meanwhile. */
function expectKept(model: Model, sent: ReadonlyMap<string, SentEvent>): void {
  const kept = model.keptIds();
  expect(kept.length).toBe(new Set(kept).size);
  const ever = model.everKeptIds();
  for (const id of ever) expect(sent.has(id)).toBe(true);
  for (const [id, { aliases }] of sent)
    if (!aliases.some((name) => name.startsWith('cookie:')) || aliases.length === 1)
      expect(ever.has(id)).toBe(true);
}

const manyRuns = { numRuns: Math.max(2_000, lawRuns) };

describe('any interleaving of partitions, batches, repeats, claims and crashes', () => {
  test('keeps every sent event exactly once', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const { model, sent } = run(actions);
        expect(model.keptIds().sort()).toEqual([...sent.keys()].sort());
      }),
      manyRuns,
    );
  });

  test('leaves no past of a visitor behind: a visitor whom an event has linked to a person has no events under an id of their own', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), fc.boolean(), (actions, isBehind) => {
        const { model } = run(actions, new Model(partitionCount, Infinity, isBehind));
        for (const name of names.filter((one) => one.startsWith('cookie:'))) {
          const lead = leadOf(name);
          const redirect = model.partitionOf(lead).state.redirects.get(lead);
          if (redirect && model.named.has(`${lead} ${redirect.lead_id}`))
            expect(model.recordsOf(lead)).toEqual([]);
        }
      }),
      manyRuns,
    );
  });

  test('leaves no ring of redirects that an event has passed: from each lead, redirects end at a lead that keeps the events', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const { model } = run(actions);
        // One event of each alias finds and ends the rings that are left; the next event is forwarded without a ring.
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
      { numRuns: Math.max(500, lawRuns) },
    );
  });

  test('two leads that claim each other at the same time settle at the smaller id', () => {
    const model = new Model(partitionCount);
    model.send({ aliases: ['a', 'b'], event_id: '1' });
    model.send({ aliases: ['b', 'a'], event_id: '1' });
    // Each is decided before the other's claim has arrived.
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

  test('with deletions: every event is still kept exactly once, and every deletion answered once', () => {
    fc.assert(
      fc.property(fc.array(anyAction, { maxLength: 60 }), fc.boolean(), (actions, isBehind) => {
        const { model, sent } = run(actions, new Model(partitionCount, Infinity, isBehind));
        expectKept(model, sent);
        expect([...model.answers.values()].every((answers) => answers.length === 1)).toBe(true);
        expect(model.answers.size).toBe(model.deletions);
      }),
      manyRuns,
    );
  });

  test('an event that is being forwarded to a lead which is deleted and linked to another lead meanwhile is returned, and its repeat is dropped', () => {
    const model = new Model(partitionCount);
    const claims = { aliases: ['cookie:1', 'cookie:2'], event_id: '1' };
    model.send(claims);
    model.step(model.partitionOf(leadOf('cookie:1')), 1);
    model.delete('cookie:2');
    for (const aliases of [['cookie:2', 'a'], ['a', 'cookie:1'], ['cookie:2']])
      model.send({ aliases, event_id: aliases[0] === 'a' ? '1' : '4' });
    model.drain();
    expect(model.keptIds().length).toBe(new Set(model.keptIds()).size);
  });

  test('once all commands are decided, deleting a lead leaves nothing of it: repeats do nothing, new events begin a new lead', () => {
    fc.assert(
      fc.property(fc.array(anyAction, { maxLength: 40 }), (actions) => {
        const { model, sent } = run(actions);
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
        expectKept(model, sent);
        for (const name of names) model.send({ aliases: [name], event_id: 'anew' });
        model.drain();
        for (const name of names)
          expect(model.recordsOf(leadOf(name))).toMatchObject([
            { payload: { events: [{ event_id: 'anew' }] } },
          ]);
      }),
      { numRuns: Math.max(1_000, lawRuns) },
    );
  });

  test('folding alias events twice, or again from the beginning, gives the same state', () => {
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

  test('with a limit of aliases: it is never exceeded, for any deletions, and every event is still kept once', () => {
    fc.assert(
      fc.property(
        fc.array(anyAction, { maxLength: 60 }),
        fc.integer({ min: 0, max: 3 }),
        (actions, share) => {
          const { model, sent } = run(actions, new Model(partitionCount, share));
          expectKept(model, sent);
          for (const { log, state } of model.partitions) {
            const replayed = emptyAliasState();
            for (const event of log) {
              evolveAliases(replayed, event);
              evolveAliases(replayed, event);
              expect(replayed.counts.get(ouId) ?? 0).toBeLessThanOrEqual(share);
              expect(replayed.counts.get(ouId) ?? 0).toBe(claimsIn(replayed));
            }
            expect(replayed).toEqual(state);
          }
        },
      ),
      { numRuns: Math.max(500, lawRuns) },
    );
  });

  test('with a limit of aliases: any division into batches gives the same claims and the same number of refusals', () => {
    const command = fc.oneof(
      { weight: 4, arbitrary: sent },
      { weight: 1, arbitrary: fc.constantFrom(...names) },
    );
    fc.assert(
      fc.property(
        fc.array(command, { maxLength: 30 }),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 10 }),
        fc.integer({ min: 0, max: 4 }),
        (commands, sizes, share) => {
          const decided = [sizes, [1]].map((cut) => {
            // Without events that wait: a repeat may come before such an event returns.
            const model = new Model(1, share, true);
            for (const one of commands)
              if (typeof one === 'string') model.delete(one);
              else model.send(one);
            return aliasEventsOf(model, cut, commands.length);
          });
          expect(decided[0]).toEqual(decided[1]);
        },
      ),
      { numRuns: Math.max(500, lawRuns) },
    );
  });

  test("the model's leads are spread over its partitions", () => {
    const model = new Model(partitionCount);
    expect(new Set(names.map((name) => model.partitionOf(leadOf(name)))).size).toBeGreaterThan(1);
    expect(ouId).toHaveLength(36);
  });
});

function claimsIn({ claims }: ReturnType<typeof emptyAliasState>): number {
  return [...claims.values()].reduce((sum, { size }) => sum + size, 0);
}

/** Decides the first commands in batches of these sizes, without the commands that follow from them; returns the alias events. */
function aliasEventsOf(model: Model, sizes: readonly number[], count: number) {
  const [partition] = model.partitions;
  if (!partition) throw new Error('one partition');
  for (let done = 0, round = 0; done < count; round += 1) {
    const size = Math.min(sizes[round % sizes.length] ?? 1, count - done);
    model.step(partition, size);
    done += size;
  }
  const claimed = partition.log.flatMap((event) => (event.type === 'AliasClaimed' ? [event.payload] : []));
  const refused = partition.log.reduce(
    (sum, event) => (event.type === 'AliasesRefused' ? sum + event.payload.count : sum),
    0,
  );
  return { claimed, refused };
}
