// Threads on small programs of their own: what a job can rely on, whatever happens to the thread that works for it.
import { afterAll, describe, expect, test } from '@jest/globals';
import { isRetriable } from '@lead-scoring/event-log';
import type { TaskInput } from './replay-tasks.js';
import { createReplayThreads } from './replay-threads.js';

const programs: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(programs.map((stop) => stop())));

/** Threads that run the text for each message, with `answer` at hand. */
async function threadsOf(body: string) {
  const program = new URL(
    `data:text/javascript,${encodeURIComponent(
      `import { parentPort, threadId } from 'node:worker_threads';
       const answer = (message) => parentPort.postMessage(message);
       parentPort.on('message', ({ input }) => { ${body} });`,
    )}`,
  );
  const { value, stop } = await createReplayThreads({ program, width: 2 }).start();
  programs.push(stop);
  return value;
}

const never = new AbortController().signal;
const input = { score_type: 'engagement' } as TaskInput<'what-if'>;
const idOfThread = "answer({ outcome: 'done', result: threadId });";

test('a thread gets the input as it is, and its result comes back', async () => {
  const threads = await threadsOf("answer({ outcome: 'done', result: { got: input } });");
  expect(await threads.perform('what-if', input, never)).toEqual({ got: input });
});

test('tasks at the same time have threads of their own, and one after another share one', async () => {
  const threads = await threadsOf(idOfThread);
  const perform = () => threads.perform('what-if', input, never);
  const [one, other] = await Promise.all([perform(), perform()]);
  expect(one).not.toBe(other);
  expect([one, other]).toContain(await perform());
});

describe('a task that fails', () => {
  test('because a server is away is retriable, so that its step is taken again', async () => {
    const threads = await threadsOf(
      "answer({ outcome: 'failed', error: new Error('no broker'), isRetriable: true });",
    );
    const failure: unknown = await threads.perform('what-if', input, never).catch((error: unknown) => error);
    expect(isRetriable(failure)).toBe(true);
    expect(failure).toHaveProperty('cause.message', 'no broker');
  });

  test('for another reason throws its error, and the thread goes on with the next task', async () => {
    const threads = await threadsOf(
      "answer({ outcome: 'failed', error: new RangeError('no such rule'), isRetriable: false });",
    );
    const failing = () => threads.perform('what-if', input, never);
    await expect(failing()).rejects.toThrow('no such rule');
    await expect(failing()).rejects.toThrow('no such rule');
  });

  test.each([
    ['throws', "throw new Error('out of paper');", 'out of paper'],
    ['ends', 'process.exit(1);', 'the thread has ended before its task was done'],
  ])('because its thread %s says so, and the next task has a new thread', async (_, body, message) => {
    const threads = await threadsOf(`if (input.score_type === 'profile') ${idOfThread} else { ${body} }`);
    await expect(threads.perform('what-if', input, never)).rejects.toThrow(message);
    const next = { ...input, score_type: 'profile' as const };
    expect(await threads.perform('what-if', next, never)).toEqual(expect.any(Number));
  });
});

test('a task that is no longer wanted ends at once with the reason, however long it would take', async () => {
  const threads = await threadsOf('for (;;);');
  const wanted = new AbortController();
  const endless = threads.perform('what-if', input, wanted.signal);
  wanted.abort(new Error('the job was cancelled'));
  await expect(endless).rejects.toThrow('the job was cancelled');
  await expect(threads.perform('what-if', input, wanted.signal)).rejects.toThrow('the job was cancelled');
});

test('threads that are stopped end, also in the middle of a task', async () => {
  const program = new URL(`data:text/javascript,${encodeURIComponent('for (;;);')}`);
  const { value, stop } = await createReplayThreads({ program, width: 1 }).start();
  const endless = value.perform('what-if', input, never);
  await Promise.all([expect(endless).rejects.toThrow('has ended'), stop()]);
});
