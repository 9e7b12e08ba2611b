// The cycle of a process, with a fake clock and in-memory partitions.
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TopicName } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { pino } from 'pino';
import { asError } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { createProcessingMetrics } from './metrics.js';
import { ProcessCycle, type CycleMember, type CycleOptions } from './process-cycle.js';
import type { InputArrival, Session } from './session.js';
import { createSessionLease } from './session-lease.js';
import { fakeTopics } from './testing/fake-topics.js';
import { pause } from './timing.js';

const logger = pino({ level: 'silent' });
const metrics = createProcessingMetrics('scoring');
const commands: TopicName = 'scoring.commands';
const events: TopicName = 'ingest.events';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

interface Handled {
  partition: number;
  arrivals: readonly InputArrival[];
}

class Feeding {
  readonly topics = fakeTopics();
  /** The handled records, one list per round. */
  readonly rounds: Handled[][] = [];
  readonly touched: number[] = [];
  readonly flushed: number[] = [];
  readonly rested: number[] = [];
  readonly ended = new Map<number, 'left' | Error>();
  readonly cycle: ProcessCycle<Session>;
  readonly #leave = new Map<number, AbortController>();
  /** The end of the members' leases. */
  leasedUntil = Infinity;

  constructor(
    private readonly handle: (partition: number) => void | Promise<void> = () => undefined,
    options: Partial<CycleOptions<Session>> = {},
  ) {
    const log = {
      [internals]: {
        wire: (topic: string) => topic,
        connect: () => this.topics.connection,
        schemas: { declarationOf: () => ({ mayWait: true }) },
      },
    } as unknown as EventLog;
    this.cycle = new ProcessCycle<Session>({
      log,
      inputs: [commands, events],
      metrics,
      logger,
      maxBytesPerBatch: 80,
      takesAll: true,
      eventsEveryMs: 0,
      patienceMs: () => 0,
      round: { begin: () => this.rounds.push([]), ended: () => undefined },
      ...options,
    });
  }

  join(...partitions: number[]): void {
    for (const partition of partitions) {
      const leave = new AbortController();
      this.#leave.set(partition, leave);
      const session: Session = {
        positions: new Map(),
        handle: async (arrivals) => {
          this.rounds.at(-1)?.push({ partition, arrivals });
          await this.handle(partition);
        },
        flush: () => Promise.resolve(void this.flushed.push(partition)),
        rest: () => Promise.resolve(void this.rested.push(partition)),
        close: () => Promise.resolve(),
      };
      const member: CycleMember = {
        partition,
        session,
        lease: createSessionLease(() => this.leasedUntil),
        touch: () => this.touched.push(partition),
        succeeded: () => undefined,
      };
      this.cycle.run(member, leave.signal).then(
        () => this.ended.set(partition, 'left'),
        (error: unknown) => this.ended.set(partition, asError(error)),
      );
    }
  }

  /** Joins, and waits until the waiting fetch covers all partitions. */
  async joined(...partitions: number[]): Promise<void> {
    this.join(...partitions);
    await pass(300);
  }

  leave(partition: number): void {
    this.#leave.get(partition)?.abort();
  }

  append(partition: number, value: string, topic: TopicName = commands): void {
    this.topics.append(topic, partition, value);
  }

  handledOf(partition: number): string[] {
    return this.rounds
      .flat()
      .filter((one) => one.partition === partition)
      .flatMap(({ arrivals }) =>
        arrivals.flatMap(({ records }) => records.map(({ value }) => String(value))),
      );
  }

  async stop(): Promise<void> {
    for (const leave of this.#leave.values()) leave.abort();
    const stopped = this.cycle.stop();
    await pass(60_000);
    await stopped;
  }
}

test('a large batch waits without polling for two that outlast their round, and is handled after them', async () => {
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const feeding = new Feeding((partition) => (partition < 2 ? finished : undefined));
  await feeding.joined(0, 1, 2);
  for (const partition of [0, 1, 2]) feeding.append(partition, 'x'.repeat(40));
  await pass(5_000);
  expect(feeding.handledOf(2)).toEqual([]);
  // Each is an iteration of the cycle: a busy loop would make many.
  expect(feeding.rounds.length).toBeLessThan(30);
  finish();
  await pass(1_000);
  expect(feeding.handledOf(2)).toHaveLength(1);
  await feeding.stop();
});

describe('the partitions of a process', () => {
  test('are handled in one round', async () => {
    const feeding = new Feeding();
    await feeding.joined(0, 1, 2);
    for (const partition of [0, 1, 2]) feeding.append(partition, `a${partition}`);
    await pass(500);
    const rounds = feeding.rounds.filter((round) => round.length > 0);
    expect(rounds.map((round) => round.map(({ partition }) => partition))).toEqual([[0, 1, 2]]);
    await feeding.stop();
  });

  test('continue when one fails, leaves or is added', async () => {
    const feeding = new Feeding((partition) => {
      if (partition === 1) throw new Error('it cannot be handled');
    });
    feeding.join(0, 1, 2);
    for (const partition of [0, 1, 2]) feeding.append(partition, 'a');
    await pass(500);
    expect(feeding.ended.get(1)).toMatchObject({ message: 'it cannot be handled' });
    feeding.leave(2);
    await pass(50);
    expect(feeding.ended.get(2)).toBe('left');
    for (const partition of [0, 1, 2, 3]) feeding.append(partition, 'b');
    feeding.join(3);
    await pass(1_000);
    expect([0, 1, 2, 3].map((partition) => feeding.handledOf(partition))).toEqual([
      ['a', 'b'],
      ['a'],
      ['a'],
      ['b'],
    ]);
    expect([...feeding.ended.keys()].sort()).toEqual([1, 2]);
    await feeding.stop();
  });

  test('a partition that leaves during its batch has left when the batch is done', async () => {
    const feeding = new Feeding(() => pause(1_000));
    feeding.append(0, 'a');
    feeding.join(0);
    await pass(500);
    feeding.leave(0);
    await pass(100);
    expect(feeding.ended.has(0)).toBe(false);
    await pass(1_000);
    expect(feeding.ended.get(0)).toBe('left');
    await feeding.stop();
  });

  test('a partition whose topic cannot be read fails with the error; the others continue', async () => {
    const feeding = new Feeding();
    feeding.join(0, 1);
    await pass(10);
    feeding.topics.partition(commands, 1).code = 29;
    feeding.append(1, 'a');
    feeding.append(0, 'a');
    await pass(1_000);
    expect(feeding.ended.get(1)).toMatchObject({ type: 'TOPIC_AUTHORIZATION_FAILED' });
    expect(feeding.handledOf(0)).toEqual(['a']);
    await feeding.stop();
  });

  test('a partition whose lease has ended fails without being handled', async () => {
    const feeding = new Feeding();
    feeding.join(0);
    await pass(100);
    feeding.leasedUntil = -Infinity;
    feeding.append(0, 'a');
    await pass(100);
    expect(feeding.ended.get(0)).toMatchObject({ code: 'lease_ended' });
    expect(feeding.handledOf(0)).toEqual([]);
    await feeding.stop();
  });

  test('that wait for a slow one count its progress as theirs', async () => {
    const feeding = new Feeding((partition) => pause(partition === 0 ? 20_000 : 1));
    await feeding.joined(0, 1);
    for (const partition of [0, 1]) feeding.append(partition, 'a');
    await pass(200);
    feeding.touched.length = 0;
    feeding.cycle.moved(1);
    expect(feeding.touched).toEqual([]);
    feeding.cycle.moved(0);
    // A working partition does not wait: its own lack of progress must be noticed.
    expect(feeding.touched).toEqual([1]);
    await feeding.stop();
  });

  test('continue while one is slow, which gets no second batch meanwhile', async () => {
    const feeding = new Feeding((partition) => pause(partition === 0 ? 20_000 : 1));
    await feeding.joined(0, 1);
    for (const partition of [0, 1]) feeding.append(partition, 'a');
    await pass(100);
    for (const partition of [0, 1]) feeding.append(partition, 'b');
    await pass(6_000);
    expect([0, 1].map((partition) => feeding.handledOf(partition))).toEqual([['a'], ['a', 'b']]);
    feeding.leave(1);
    await pass(1);
    expect(feeding.ended.get(1)).toBe('left');
    await pass(20_000);
    expect(feeding.handledOf(0)).toEqual(['a', 'b']);
    await feeding.stop();
  });

  test('a slow partition leaves the round once, when the round ends without it', async () => {
    const inRound = new Set<number>();
    const feeding = new Feeding((partition) => pause(partition === 0 ? 20_000 : 1), {
      round: {
        begin: (members) => {
          for (const { partition } of members) {
            expect(inRound.has(partition)).toBe(false);
            inRound.add(partition);
          }
        },
        ended: ({ partition }) => expect(inRound.delete(partition)).toBe(true),
      },
    });
    await feeding.joined(0, 1);
    for (const partition of [0, 1]) feeding.append(partition, 'a');
    await pass(10_000);
    expect([...inRound]).toEqual([]);
    await pass(20_000);
    await feeding.stop();
    expect([...inRound]).toEqual([]);
  });

  test('store their state while the inputs are idle', async () => {
    const feeding = new Feeding();
    feeding.join(0, 1);
    await pass(1_000);
    expect(feeding.flushed).toContain(0);
    expect(feeding.flushed).toContain(1);
    await feeding.stop();
  });
});

describe('a partition at rest beside a busy one', () => {
  test('has turns of its own, fewer than there are rounds', async () => {
    const feeding = new Feeding();
    await feeding.joined(0, 1);
    feeding.append(1, 'a');
    await pass(50);
    feeding.flushed.length = 0;
    for (let at = 0; at < 100; at += 1) {
      feeding.append(0, 'b');
      await pass(50);
    }
    await feeding.stop();
    expect(feeding.flushed).toEqual([]);
    expect(new Set(feeding.rested)).toEqual(new Set([1]));
    // Not in each of the rounds.
    expect(feeding.rested.length).toBeGreaterThan(5);
    expect(feeding.rested.length).toBeLessThan(30);
  });
});

describe('a round', () => {
  const large = 'x'.repeat(20);

  test('takes at most two partitions with large batches, and all with small ones', async () => {
    const feeding = new Feeding();
    await feeding.joined(0, 1, 2, 3, 4, 5);
    for (const partition of [0, 1, 2, 3, 4, 5]) feeding.append(partition, partition < 4 ? large : 'small');
    await pass(1_000);
    const rounds = feeding.rounds.filter((round) => round.length > 0);
    expect(rounds.map((round) => round.map(({ partition }) => partition).sort())).toEqual([
      [0, 1, 4, 5],
      [2, 3],
    ]);
    await feeding.stop();
  });

  test('counts the batches of all inputs of a partition together', async () => {
    const feeding = new Feeding();
    await feeding.joined(0, 1, 2, 3);
    for (const partition of [0, 1, 2, 3]) {
      feeding.append(partition, 'small', commands);
      feeding.append(partition, large, events);
    }
    await pass(1_000);
    for (const round of feeding.rounds) {
      const largeOnes = round.filter(({ arrivals }) =>
        arrivals.some(({ records }) => records.some(({ value }) => String(value) === large)),
      );
      expect(largeOnes.length).toBeLessThanOrEqual(2);
    }
    for (const partition of [0, 1, 2, 3]) expect(feeding.handledOf(partition)).toHaveLength(2);
    await feeding.stop();
  });

  test('takes only the due input, unless takesAll is set', async () => {
    for (const takesAll of [true, false]) {
      const feeding = new Feeding(() => undefined, { takesAll, patienceMs: () => 10_000 });
      await feeding.joined(0, 1);
      feeding.append(0, 'event', events);
      feeding.append(1, 'event', events);
      feeding.append(0, 'command', commands);
      await pass(1_000);
      expect([0, 1].map((partition) => feeding.handledOf(partition).sort())).toEqual(
        takesAll ? [['command', 'event'], ['event']] : [['command'], []],
      );
      await feeding.stop();
    }
  });

  const step = fc.record({
    partition: fc.nat(5),
    length: fc.integer({ min: 1, max: 30 }),
    topic: fc.constantFrom(commands, events),
    ms: fc.nat(60),
  });

  test.each([true, false])(
    'handles every buffered record within a few rounds, whatever the others bring: takesAll %p',
    async (takesAll) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (all) => {
          const feeding = new Feeding(() => pause(20), { takesAll });
          /** For each value the round before which it was appended. */
          const appendedBefore = new Map<string, number>();
          feeding.join(0, 1, 2, 3, 4, 5);
          await pass(1);
          let count = 0;
          for (const { partition, length, topic, ms } of all) {
            const value = `${count++}:`.padEnd(length, 'x');
            feeding.append(partition, value, topic);
            appendedBefore.set(value, feeding.rounds.length);
            await pass(ms);
          }
          await pass(5_000);
          const waited = new Map<string, number>();
          feeding.rounds.forEach((round, at) => {
            for (const { arrivals } of round)
              for (const { records } of arrivals)
                for (const { value } of records)
                  waited.set(String(value), at - (appendedBefore.get(String(value)) ?? 0));
          });
          expect([...waited.keys()].sort()).toEqual([...appendedBefore.keys()].sort());
          // Six partitions of two inputs, two large ones per round, and one round that was running.
          for (const rounds of waited.values()) expect(rounds).toBeLessThanOrEqual(12);
          await feeding.stop();
        }),
        { numRuns: 25 },
      );
    },
    60_000,
  );
});
