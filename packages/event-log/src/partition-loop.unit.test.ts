// When a partition's loop ends.
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { internals, type EventLog } from './event-log.js';
import { createProcessingMetrics } from './metrics.js';
import { startPartitionLoop } from './partition-loop.js';

test('a loop that is stopped while it opens a session ends, and closes the session', async () => {
  const done: string[] = [];
  let opening: () => void = () => undefined;
  const isOpening = new Promise<void>((resolve) => (opening = resolve));
  let opened: () => void = () => undefined;
  const isOpened = new Promise<void>((resolve) => (opened = resolve));
  const loop = startPartitionLoop({
    log: { [internals]: { logger: pino({ level: 'silent' }) } } as unknown as EventLog,
    partition: 0,
    membership: () => ({
      confirmedSince: () => Promise.resolve(),
      joined: () => true,
      leasedUntil: () => Infinity,
      commitOffsets: () => Promise.resolve(),
      stop: () => Promise.resolve(),
    }),
    metrics: createProcessingMetrics('ingest'),
    moved: () => undefined,
    feed: () => Promise.resolve(void done.push('fed')),
    isMine: () => true,
    async open() {
      opening();
      await isOpened;
      return {
        positions: new Map(),
        handle: () => Promise.resolve(),
        flush: (isLast) => Promise.resolve(void done.push(`flushed ${String(isLast)}`)),
        release: () => Promise.resolve(void done.push('released')),
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
  expect(done).toEqual(['fed', 'flushed true', 'released', 'closed']);
});
