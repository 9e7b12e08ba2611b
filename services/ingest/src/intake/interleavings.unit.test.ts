// The model's partitions, decided in any order and with any batches. For every interleaving: no event is lost or doubled, forwarding
// ends, and deleted leads are gone.
import { describe, expect, test } from '@jest/globals';
import { leadIdOf, type records } from '@lead-scoring/contracts';
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

const merging = fc.oneof(
  fc.record({
    do: fc.constant('merge' as const),
    source: fc.constantFrom(...names),
    target: fc.constantFrom(...names),
    settled: fc.boolean(),
  }),
  fc.record({
    do: fc.constant('unmerge' as const),
    source: fc.constantFrom(...names),
    settled: fc.boolean(),
  }),
);
const deletion = fc.record({ do: fc.constant('delete' as const), name: fc.constantFrom(...names) });
const mergingAction = fc.oneof({ weight: 1, arbitrary: action }, { weight: 1, arbitrary: merging });
const anyAction = fc.oneof(
  { weight: 8, arbitrary: action },
  { weight: 1, arbitrary: deletion },
  { weight: 2, arbitrary: merging },
);
/** A caller may merge leads beyond the limit of aliases. */
const unmergedAction = fc.oneof({ weight: 8, arbitrary: action }, { weight: 1, arbitrary: deletion });
type Action = typeof anyAction extends fc.Arbitrary<infer One> ? One : never;

/** Whether an event may wait for the past of a visitor: it names one together with another alias. */
function mayWait({ aliases }: SentEvent): boolean {
  return aliases.length > 1 && aliases.some((name) => name.startsWith('cookie:'));
}

/** @returns the sent events by their ids: of one that was sent in several forms, a form that may wait where there is one */
function run(
  actions: readonly Action[],
  model = new Model(partitionCount),
): { model: Model; sent: Map<string, SentEvent> } {
  const sentEvents = new Map<string, SentEvent>();
  for (const one of actions) {
    if (one.do === 'delete') {
      model.delete(one.name);
      continue;
    }
    if (one.do === 'merge' || one.do === 'unmerge') {
      if (one.settled) model.drain();
      if (one.do === 'merge') model.merge(one.source, one.target);
      else model.unmerge(one.source);
      continue;
    }
    if (one.do === 'send') {
      model.send(one.event);
      const id = ingest([one.event]).payload.events[0]?.id;
      const known = id !== undefined && sentEvents.get(id);
      if (id !== undefined && !(known && mayWait(known))) sentEvents.set(id, one.event);
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
  for (const [id, event] of sent) if (!mayWait(event)) expect(ever.has(id)).toBe(true);
}

/** The events that a lead has. */
function idsOf(model: Model, name: string): string[] {
  return model
    .recordsOf(leadOf(name))
    .flatMap((event) => (event.type === 'EventsIngested' ? event.payload.events.map(({ id }) => id) : []))
    .sort();
}

/** Each known alias has its events where its links lead. An anonymous one that was linked to another keeps what it had before. */
function expectAtTheirLeads(model: Model): void {
  for (const name of names.filter((one) => !one.startsWith('cookie:'))) {
    const lead = leadOf(name);
    for (const partition of model.partitions)
      for (const other of names.map((one) => leadOf(one))) {
        if (model.partitionOf(other) !== partition || other === model.destinationOf(lead)) continue;
        for (const event of model.recordsOf(other))
          if (event.type === 'EventsIngested')
            expect(
              leadIdOf(
                ouId,
                event.payload.aliases[0]?.alias_kind ?? '',
                event.payload.aliases[0]?.alias ?? '',
              ),
            ).not.toBe(lead);
      }
  }
}

/** The number of repeats that all partitions have dropped. */
function droppedIn(model: Model): number {
  const dropped = model.partitions.flatMap(({ log }) =>
    log.flatMap(({ type, payload }) => (type === 'RepeatsDropped' ? [payload.count] : [])),
  );
  return dropped.reduce((total, count) => total + count, 0);
}

/** The counts of senders that all partitions have recorded. */
function countsIn(model: Model): records.EventsCounted[] {
  return model.partitions.flatMap(({ log }) =>
    log.flatMap(({ type, payload }) => (type === 'EventsCounted' ? [payload] : [])),
  );
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

  test('counts every sent event once for its sender: as recorded or as a repeat', () => {
    fc.assert(
      fc.property(fc.array(mergingAction, { maxLength: 60 }), fc.boolean(), (actions, isBehind) => {
        const { model, sent } = run(actions, new Model(partitionCount, Infinity, isBehind));
        const counted = countsIn(model);
        const sum = (part: 'events' | 'repeats') => counted.reduce((total, one) => total + one[part], 0);
        // An event that was on its way to another lead when the link ended, and was sent again, is recorded and counted at both leads. The one
        // that comes back from the other lead is dropped as a repeat, and counted for no sender.
        const countedTwice = droppedIn(model) - sum('repeats');
        expect(sum('events') - countedTwice).toBe(sent.size);
        expect(sum('events') + sum('repeats')).toBe(model.sends);
        const senders = counted.map(({ sent_by }) => sent_by);
        const ofFirst = counted.filter(({ sent_by }) => sent_by === 'service_account:two');
        expect(ofFirst.reduce((total, one) => total + one.events + one.repeats, 0)).toBe(
          Math.ceil(model.sends / 2),
        );
        expect(new Set(senders).size).toBe(Math.min(2, model.sends));
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

  test('two people whom events name together, each first, stay two: both conflicts are recorded', () => {
    const model = new Model(partitionCount);
    model.send({ aliases: ['a', 'b'], event_id: '1' });
    model.send({ aliases: ['b', 'a'], event_id: '1' });
    // Each is decided before the other's claim has arrived.
    for (const name of ['a', 'b']) {
      const partition = model.partitionOf(leadOf(name));
      if (partition.queue[0]?.type === 'IngestEvents') model.step(partition, 1);
    }
    model.drain();
    for (const name of ['a', 'b']) model.send({ aliases: [name], event_id: '2' });
    model.drain();
    for (const name of ['a', 'b']) {
      expect(model.linkOf(leadOf(name))).toBe(leadOf(name));
      expect(model.recordsOf(leadOf(name))).toHaveLength(2);
    }
    const conflicts = model.partitions.flatMap(({ log }) =>
      log.flatMap(({ type, payload }) => (type === 'LeadConflicted' ? [payload.alias_lead_id] : [])),
    );
    expect(conflicts.sort()).toEqual(['a', 'b'].map((name) => leadOf(name)).sort());
  });

  test('with merges, and merges that are taken back: every event is kept once, at the lead to which its alias leads', () => {
    let merges = 0;
    fc.assert(
      fc.property(
        fc.array(mergingAction, { minLength: 20, maxLength: 80 }),
        fc.boolean(),
        (actions, isBehind) => {
          const { model, sent } = run(actions, new Model(partitionCount, Infinity, isBehind));
          merges += model.merges;
          expect(model.keptIds().sort()).toEqual([...sent.keys()].sort());
          expectAtTheirLeads(model);
        },
      ),
      manyRuns,
    );
    expect(merges).toBeGreaterThan(manyRuns.numRuns / 2);
  });

  test('once all merges are taken back, each lead has the events that it would have without them', () => {
    const single = fc.record({
      aliases: fc.constantFrom(...names).map((name) => [name]),
      event_id: sent.map(({ event_id }) => event_id),
    });
    const sending = fc.record({ do: fc.constant('send' as const), event: single });
    const anything = fc.oneof(
      { weight: 4, arbitrary: sending },
      { weight: 3, arbitrary: mergingAction.filter((one) => one.do !== 'send') },
    );
    let merges = 0;
    fc.assert(
      fc.property(fc.array(anything, { minLength: 20, maxLength: 60 }), (actions) => {
        const { model } = run(actions);
        merges += model.merges;
        const { model: without } = run(actions.filter((one) => one.do !== 'merge' && one.do !== 'unmerge'));
        for (let round = 0; round < 2 * names.length; round += 1)
          for (const name of names) {
            model.unmerge(name);
            model.drain();
          }
        for (const name of names) expect([name, idsOf(model, name)]).toEqual([name, idsOf(without, name)]);
      }),
      manyRuns,
    );
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
        fc.array(unmergedAction, { maxLength: 60 }),
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
