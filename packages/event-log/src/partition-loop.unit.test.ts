// When a partition's loop ends.
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { internals, type EventLog } from './event-log.js';
import { createProcessingMetrics } from './metrics.js';
import { startPartitionLoop } from './partition-loop.js';
import { createTurns } from './turns.js';

test('a loop that is stopped while its session is being opened ends, and closes it in order', async () => {
  const done: string[] = [];
  let opening: () => void = () => undefined;
  const isOpening = new Promise<void>((resolve) => (opening = resolve));
  let opened: () => void = () => undefined;
  const isOpened = new Promise<void>((resolve) => (opened = resolve));
  const loop = startPartitionLoop({
    log: { [internals]: { logger: pino({ level: 'silent' }) } } as unknown as EventLog,
    partition: 0,
    inputs: ['ingest.commands'],
    membership: () => ({
      confirmedSince: () => Promise.resolve(),
      joined: () => true,
      heldUntil: () => Infinity,
      note: () => Promise.resolve(),
      stop: () => Promise.resolve(),
    }),
    metrics: createProcessingMetrics('ingest'),
    maxBytesPerBatch: 1_000,
    isTogether: false,
    patienceMs: () => 0,
    turns: createTurns(1),
    partitionsInHand: () => 1,
    eventsEveryMs: 0,
    isMine: () => true,
    async open() {
      opening();
      await isOpened;
      return {
        positions: new Map(),
        handle: () => Promise.reject(new Error('nothing is to be handled any more')),
        settle: (isLast) => Promise.resolve(void done.push(`settled ${String(isLast)}`)),
        close: () => Promise.resolve(void done.push('closed')),
      };
    },
    isRetriable: () => false,
    isSilence: () => false,
    onFatal: (error) => void done.push(error.message),
  });
  await isOpening;
  const stopped = loop.stop();
  opened();
  await stopped;
  expect(done).toEqual(['settled true', 'closed']);
});
