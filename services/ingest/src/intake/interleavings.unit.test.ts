// A small model of the running system: partitions with queues, each decided by its own state, in any order and with
// any batches. Whatever the interleaving: no event is lost or doubled, and forwarding comes to an end.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ingest, leadOf, ouId, type SentEvent } from '../testing/builders.js';
import { decideIntake, possibleRepeats } from './decide.js';
import type { IntakeCommand, IntakeEvent } from './events.js';
import { evolveAliases } from './evolve.js';
import { emptyAliasState, eventKey, type AliasState } from './state.js';

const names = ['a', 'b', 'c', 'd', 'cookie:1', 'cookie:2'];
const partitionCount = 3;

interface Partition {
  queue: IntakeCommand[];
  state: AliasState;
  log: IntakeEvent[];
}

class Model {
  readonly partitions: Partition[] = Array.from({ length: partitionCount }, () => ({
    queue: [],
    state: emptyAliasState(),
    log: [],
  }));
  /** The event store: what repeats are looked up in. */
  readonly stored = new Set<string>();
  hops = 0;

  partitionOf(leadId: string): Partition {
    const partition = this.partitions[parseInt(leadId.slice(0, 8), 16) % partitionCount];
    if (!partition) throw new Error('no such partition');
    return partition;
  }

  send(event: SentEvent): void {
    this.partitionOf(leadOf(event.aliases[0] ?? '')).queue.push(ingest([event]));
  }

  /** One batch of one partition, as a processor does it: decide, commit, fold. */
  step(partition: Partition, size: number): void {
    const commands = partition.queue.splice(0, size);
    const repeats = possibleRepeats(commands)
      .map(({ lead_id, id }) => eventKey(lead_id, id))
      .filter((key) => this.stored.has(key));
    const decision = decideIntake(commands, partition.state, new Set(repeats));
    for (const { lead_id, command } of decision.commands) {
      if (command.type === 'IngestEvents') this.hops += 1;
      this.partitionOf(lead_id).queue.push(command);
    }
    for (const event of decision.events) this.fold(partition, event);
  }

  private fold(partition: Partition, event: IntakeEvent): void {
    partition.log.push(event);
    evolveAliases(partition.state, event);
    if (event.type !== 'EventsIngested') return;
    for (const { id } of event.payload.events) this.stored.add(eventKey(event.payload.lead_id, id));
  }

  /** A crash: the state is thrown away and folded anew from the partition's own events. */
  restart(partition: Partition): void {
    partition.state = emptyAliasState();
    for (const event of partition.log) evolveAliases(partition.state, event);
  }

  drain(): void {
    for (let rounds = 0; this.partitions.some(({ queue }) => queue.length > 0); rounds += 1) {
      if (rounds > 10_000) throw new Error('forwarding does not end');
      for (const partition of this.partitions) if (partition.queue.length > 0) this.step(partition, 3);
    }
  }

  keptIds(): string[] {
    return this.partitions.flatMap(({ log }) =>
      log.flatMap((event) =>
        event.type === 'EventsIngested' ? event.payload.events.map(({ id }) => id) : [],
      ),
    );
  }
}

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

function run(actions: readonly (typeof action extends fc.Arbitrary<infer Action> ? Action : never)[]): {
  model: Model;
  sentIds: Set<string>;
} {
  const model = new Model();
  const sentIds = new Set<string>();
  for (const one of actions) {
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
    const model = new Model();
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

  test('applying alias events twice, or again from the beginning, gives the same state', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
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
    const model = new Model();
    expect(new Set(names.map((name) => model.partitionOf(leadOf(name)))).size).toBeGreaterThan(1);
    expect(ouId).toHaveLength(36);
  });
});
