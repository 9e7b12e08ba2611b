// Whatever is sent together: every caller gets the outcome of its own request.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { alone, createGathering } from './gathering.js';

interface Request {
  name: number;
  size: number;
  keys: string[];
  /** The call that it is in fails, unless it is refused before. */
  isFaulty: boolean;
  /** Checks of a call that it passes. */
  permits: number;
}

class Fault extends Error {}
class Refusal extends Error {}

/** Turns of the event loop, one after the other as they are asked for. */
function createTurns() {
  const work: (() => void)[] = [];
  return {
    afterTurn: (next: () => void) => void work.push(next),
    async runAll() {
      for (let idle = 0; idle < 20; idle += 1) {
        const next = work.shift();
        if (next) idle = 0;
        next?.();
        await Promise.resolve();
      }
    },
  };
}

function recorded(says: 'fails' | 'alone' | 'is down' = 'fails') {
  const calls: Request[][] = [];
  const turns = createTurns();
  const checks = new Map<Request, number>();
  const send = createGathering<Request, string>({
    sizeOf: ({ size }) => size,
    keysOf: ({ keys }) => keys,
    maximumSize: 10,
    afterTurn: turns.afterTurn,
    mayBeOfOne: (error) => error instanceof Fault,
    permit: (request) => {
      const seen = (checks.get(request) ?? 0) + 1;
      checks.set(request, seen);
      if (seen > request.permits) throw new Refusal(String(request.name));
    },
    send: async (requests, check) => {
      await Promise.resolve();
      check();
      calls.push([...requests]);
      if (says === 'is down') throw new Error('the server is down');
      const faulty = requests.find(({ isFaulty }) => isFaulty);
      if (faulty && (says === 'fails' || requests.length === 1)) throw new Fault(String(faulty.name));
      return requests.map(({ isFaulty, name }) => (isFaulty ? alone : `result of ${String(name)}`));
    },
  });
  return { send, calls, turns };
}

async function outcomesOf(
  requests: readonly Request[],
  { send, turns }: ReturnType<typeof recorded>,
): Promise<string[]> {
  const settled = Promise.allSettled(requests.map((request) => send(request)));
  await turns.runAll();
  return (await settled).map((outcome) =>
    outcome.status === 'fulfilled'
      ? outcome.value
      : `${(outcome.reason as Error).constructor.name} ${(outcome.reason as Error).message}`,
  );
}

const request = fc.record({
  size: fc.integer({ min: 1, max: 12 }),
  keys: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 2 }),
  isFaulty: fc.boolean(),
  permits: fc.constantFrom(0, 1, 2, 3, 1_000, 1_000, 1_000, 1_000),
});
const requests = fc
  .array(request, { maxLength: 12 })
  .map((some) => some.map((one, name): Request => ({ ...one, name })));

test('every caller gets its own result, its own fault or its own refusal, whatever it is sent with', async () => {
  await fc.assert(
    fc.asyncProperty(requests, fc.constantFrom('fails', 'alone'), async (some, says) => {
      const gathering = recorded(says);
      const outcomes = await outcomesOf(some, gathering);
      const sent = new Set(gathering.calls.flat());
      some.forEach((one, index) => {
        if (one.permits >= 1_000)
          expect(outcomes[index]).toBe(
            one.isFaulty ? `Fault ${String(index)}` : `result of ${String(index)}`,
          );
        else
          expect([
            `Refusal ${String(index)}`,
            ...(sent.has(one) ? [`result of ${String(index)}`, `Fault ${String(index)}`] : []),
          ]).toContain(outcomes[index]);
      });
    }),
  );
});

test('no call is larger than allowed or has two requests about the same', async () => {
  await fc.assert(
    fc.asyncProperty(requests, async (some) => {
      const gathering = recorded();
      await outcomesOf(some, gathering);
      for (const call of gathering.calls) {
        expect(call.length === 1 || call.reduce((sum, { size }) => sum + size, 0) <= 10).toBe(true);
        const keys = call.flatMap((one) => one.keys);
        expect(new Set(keys).size).toBe(keys.length);
      }
    }),
  );
});

const plain = (name: number): Request => ({ name, size: 1, keys: [], isFaulty: false, permits: 1_000 });

test('what comes in one turn goes in one call, and what its callers ask for then in the next', async () => {
  const gathering = recorded();
  const first = [0, 1, 2].map((name) => gathering.send(plain(name)));
  const later = first.map(async (outcome, name) => {
    await outcome;
    return gathering.send(plain(3 + name));
  });
  await gathering.turns.runAll();
  expect(await Promise.all(later)).toEqual(['result of 3', 'result of 4', 'result of 5']);
  expect(gathering.calls.map((call) => call.map(({ name }) => name))).toEqual([
    [0, 1, 2],
    [3, 4, 5],
  ]);
});

test('an error that says nothing about a request goes to all that were in the call, which is not repeated', async () => {
  const gathering = recorded('is down');
  expect(await outcomesOf([plain(0), plain(1), plain(2)], gathering)).toEqual(
    Array(3).fill('Error the server is down'),
  );
  expect(gathering.calls).toHaveLength(1);
});

test('a request that is refused when the call is about to leave is left out, and the others go without it', async () => {
  const gathering = recorded();
  const ended: Request = { ...plain(1), permits: 1 };
  expect(await outcomesOf([plain(0), ended, plain(2)], gathering)).toEqual([
    'result of 0',
    'Refusal 1',
    'result of 2',
  ]);
  expect(gathering.calls.map((call) => call.map(({ name }) => name))).toEqual([[0, 2]]);
});
