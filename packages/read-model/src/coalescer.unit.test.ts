// Coalesced requests: every caller gets the outcome of its own request.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { alone, createCoalescer } from './coalescer.js';

interface Request {
  name: number;
  size: number;
  keys: string[];
  /** Makes its call fail, unless the request is refused before. */
  isFaulty: boolean;
  /** The number of checks that the request passes. */
  permits: number;
}

class Fault extends Error {}
class Refusal extends Error {}

/** Iterations of the event loop, run on demand. */
function createTurns() {
  const work: (() => void)[] = [];
  return {
    defer: (next: () => void) => void work.push(next),
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
  const send = createCoalescer<Request, string>({
    sizeOf: ({ size }) => size,
    keysOf: ({ keys }) => keys,
    maximumSize: 10,
    defer: turns.defer,
    mayBeCausedByOne: (error) => error instanceof Fault,
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

test('every caller gets its own result, error or refusal, whatever it shares a call with', async () => {
  await fc.assert(
    fc.asyncProperty(requests, fc.constantFrom('fails', 'alone'), async (some, says) => {
      const coalescer = recorded(says);
      const outcomes = await outcomesOf(some, coalescer);
      const sent = new Set(coalescer.calls.flat());
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

test('no call exceeds the maximum size or has two requests with a common key', async () => {
  await fc.assert(
    fc.asyncProperty(requests, async (some) => {
      const coalescer = recorded();
      await outcomesOf(some, coalescer);
      for (const call of coalescer.calls) {
        expect(call.length === 1 || call.reduce((sum, { size }) => sum + size, 0) <= 10).toBe(true);
        const keys = call.flatMap((one) => one.keys);
        expect(new Set(keys).size).toBe(keys.length);
      }
    }),
  );
});

const plain = (name: number): Request => ({ name, size: 1, keys: [], isFaulty: false, permits: 1_000 });

test('requests of one event loop iteration share a call, and those that follow share the next', async () => {
  const coalescer = recorded();
  const first = [0, 1, 2].map((name) => coalescer.send(plain(name)));
  const later = first.map(async (outcome, name) => {
    await outcome;
    return coalescer.send(plain(3 + name));
  });
  await coalescer.turns.runAll();
  expect(await Promise.all(later)).toEqual(['result of 3', 'result of 4', 'result of 5']);
  expect(coalescer.calls.map((call) => call.map(({ name }) => name))).toEqual([
    [0, 1, 2],
    [3, 4, 5],
  ]);
});

test('an error that no request causes goes to all callers, and the call is not repeated', async () => {
  const coalescer = recorded('is down');
  expect(await outcomesOf([plain(0), plain(1), plain(2)], coalescer)).toEqual(
    Array(3).fill('Error the server is down'),
  );
  expect(coalescer.calls).toHaveLength(1);
});

test('a request refused right before sending is left out, and the others are sent without it', async () => {
  const coalescer = recorded();
  const ended: Request = { ...plain(1), permits: 1 };
  expect(await outcomesOf([plain(0), ended, plain(2)], coalescer)).toEqual([
    'result of 0',
    'Refusal 1',
    'result of 2',
  ]);
  expect(coalescer.calls.map((call) => call.map(({ name }) => name))).toEqual([[0, 2]]);
});
