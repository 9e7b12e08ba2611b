// The clock of a tick, with a fake index and a fake writer.
import { expect, test } from '@jest/globals';
import type { RecordDeclaration } from '@lead-scoring/contracts';
import type { IncomingRecord, OutgoingRecord } from '@lead-scoring/event-log';
import { z } from 'zod';
import type { PartitionScope } from './capability.js';
import { tick } from './tick.js';

const declaration: RecordDeclaration<'Expire'> = {
  type: 'Expire',
  topic: 'scoring.commands',
  key: 'partition',
  description: 'Expire what is due.',
  schema: z.strictObject({ as_of: z.string(), keys: z.array(z.string()) }),
};

interface Expire {
  as_of: string;
  keys: string[];
}

/** A service that expires keys: a map has the keys that are due, one look finds at most four of them, and one command names at most two. */
function opened(due: Map<string, string>, { failing = 0 } = {}) {
  const sent: { record: OutgoingRecord; offset: bigint }[] = [];
  const errors: unknown[] = [];
  const looks: boolean[] = [];
  const scope = { events: 0, eventsDecided: () => scope.events };
  let failures = failing;
  const capability = tick({
    name: 'expiry',
    commands: { Expire: declaration },
    events: {},
    collections: [],
    now: () => new Date('2026-01-02T00:00:05.000Z'),
    lookEveryMs: 1,
    settleMs: 5_000,
    onError: (error) => errors.push(error),
    writer: {
      write: (records) => {
        if ((failures -= 1) >= 0) return Promise.reject(new Error('the brokers are away'));
        const positions = records.map((record) => {
          const offset = BigInt(sent.length);
          sent.push({ record, offset });
          return { topic: declaration.topic, partition: 0, offset };
        });
        return Promise.resolve(positions);
      },
    },
    open: () => ({
      due: (asOf, { besideEvents }) => {
        looks.push(besideEvents);
        const keys = [...due]
          .filter(([, at]) => at <= asOf)
          .map(([key]) => key)
          .slice(0, 4);
        const pairs = [keys.slice(0, 2), keys.slice(2)].filter((pair) => pair.length > 0);
        return Promise.resolve(
          pairs.map((pair) => {
            const payload: Expire = { as_of: asOf, keys: pair };
            return { declaration, key: '0', partition: 0, payload };
          }),
        );
      },
      decide: (records) => {
        const keys = records.flatMap(({ payload }) => (payload as Expire).keys).filter((key) => due.has(key));
        const events = keys.map((key) => ({ declaration, key, payload: {} }));
        return Promise.resolve({ outcome: 'decided', events });
      },
    }),
  });
  const partition = scope as unknown as PartitionScope;
  const [clock, other] = [capability.open(partition), capability.open(partition)];
  /** Decides the commands from an offset on, folds them, and asks for the replies, as the event log does. */
  const process = async (from: number) => {
    const records = sent
      .slice(from)
      .map(({ record, offset }) => ({ ...record, offset }) as unknown as IncomingRecord);
    for (const one of [clock, other]) {
      const decision = await one.decide?.(records, records);
      if (decision?.outcome !== 'decided') throw new Error('nothing was decided');
      for (const { key } of decision.events) due.delete(key);
      if (typeof decision.replies === 'function') await decision.replies();
    }
  };
  return { clock, other, sent, errors, looks, scope, process };
}

async function until(holds: () => boolean): Promise<void> {
  const giveUpAt = Date.now() + 5_000;
  while (!holds()) {
    if (Date.now() > giveUpAt) throw new Error('the condition has not come to hold within 5 s');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 30));
const midnight = '2026-01-02T00:00:00.000Z';

test('what is due is sent in bounded commands with their time, each after the one before is decided and folded', async () => {
  const due = new Map(['a', 'b', 'c', 'd', 'e'].map((key) => [key, midnight]));
  due.set('later', '2026-01-02T00:00:00.001Z');
  const { clock, sent, process } = opened(due);
  await aWhile();
  expect(sent).toEqual([]);
  await clock.caughtUp?.();
  for (let step = 0; step < 3; step += 1) {
    await until(() => sent.length === step + 1);
    await aWhile();
    expect(sent).toHaveLength(step + 1);
    await process(step);
  }
  await aWhile();
  expect(sent.map(({ record }) => record.payload)).toEqual([
    { as_of: midnight, keys: ['a', 'b'] },
    { as_of: midnight, keys: ['c', 'd'] },
    { as_of: midnight, keys: ['e'] },
  ]);
  await clock.close?.();
});

test('a look is told whether the partition has decided on events since the one before', async () => {
  const { clock, looks, scope } = opened(new Map());
  await clock.caughtUp?.();
  await until(() => looks.length >= 2);
  expect(looks).not.toContain(true);
  scope.events += 1;
  await until(() => looks.includes(true));
  const after = looks.indexOf(true) + 1;
  await until(() => looks.length > after);
  expect(looks.slice(after)).not.toContain(true);
  await clock.close?.();
});

test('a look that fails is reported and repeated', async () => {
  const { clock, sent, errors, process } = opened(new Map([['a', midnight]]), { failing: 2 });
  await clock.caughtUp?.();
  await until(() => sent.length === 1);
  expect(errors).toHaveLength(2);
  await process(0);
  await clock.close?.();
});

test('a partition that is closed sends nothing more, also while a command is on its way', async () => {
  const { clock, sent } = opened(new Map([['a', midnight]]));
  await clock.caughtUp?.();
  await until(() => sent.length === 1);
  await clock.close?.();
  await aWhile();
  expect(sent).toHaveLength(1);
});

test('two partitions of a process do not send at the same time: events are decided between their commands', async () => {
  const { clock, other, sent, process } = opened(new Map(['a', 'b', 'c', 'd'].map((key) => [key, midnight])));
  await Promise.all([clock.caughtUp?.(), other.caughtUp?.()]);
  for (let step = 0; step < 4; step += 1) {
    await until(() => sent.length === step + 1);
    await aWhile();
    expect(sent).toHaveLength(step + 1);
    await process(step);
  }
  await Promise.all([clock.close?.(), other.close?.()]);
});
