// Intake before the log: how events are grouped, how much may be in flight, how bodies are read.
import { describe, expect, test } from '@jest/globals';
import type { records } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { idempotencyKeyOf, writeId } from '../idempotency/key.js';
import { idOf } from '../testing/builders.js';
import { createBytesInFlight, expectedBytes } from './bytes-in-flight.js';
import { chunksOf } from './chunks.js';
import { eventsOf } from './read-events.js';

type ChunkEvent = records.ChunkEvent;

const chunkEvent = (n: number, lead: number, size: number): ChunkEvent => ({
  id: idOf(`event ${String(n)}`),
  lead_id: idOf(`lead ${String(lead)}`),
  aliases: [{ alias_kind: 'email', alias: `n${String(lead)}@example.com` }],
  event_type: 'Page View',
  timestamp: '2026-01-01T00:00:00.000Z',
  metadata: { text: 'ä'.repeat(size) },
});

const partitionOf = (key: string) => parseInt(key.slice(0, 4), 16) % 3;

describe('chunks', () => {
  test('hold every event once, in order, in its lead’s partition, and none is too large', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(5), fc.integer({ min: 0, max: 50_000 })), { minLength: 1, maxLength: 60 }),
        (sizes) => {
          const events = sizes.map(([lead, size], n) => chunkEvent(n, lead, size));
          const bytes = Buffer.byteLength(JSON.stringify(events));
          const chunks = chunksOf(
            {
              ouId: idOf('ou'),
              batchId: idOf('batch'),
              source: 'ingest',
              fireTriggers: true,
              receivedAt: '2026-01-01T00:00:00.000Z',
              events,
              estimatedBytes: bytes,
              headers: {},
            },
            partitionOf,
          );
          expect(chunks.flatMap(({ payload }) => payload.events).length).toBe(events.length);
          for (const partition of [0, 1, 2])
            expect(
              chunks
                .filter((chunk) => chunk.partition === partition)
                .flatMap(({ payload }) => payload.events),
            ).toEqual(events.filter(({ lead_id }) => partitionOf(lead_id) === partition));
          for (const { payload } of chunks)
            expect(Buffer.byteLength(JSON.stringify(payload))).toBeLessThan(1_000_000);
          if (bytes <= 900_000)
            expect(chunks.length).toBe(new Set(events.map(({ lead_id }) => partitionOf(lead_id))).size);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('bytes in flight', () => {
  test('never pass the maximum, and all room comes back', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ reserve: fc.nat(60), to: fc.nat(60), release: fc.boolean() })),
        (moves) => {
          const room = createBytesInFlight(100);
          const held: { release(): void }[] = [];
          for (const { reserve, to, release } of moves) {
            try {
              const reservation = room.reserve(reserve);
              held.push(reservation);
              reservation.resize(to);
            } catch (error) {
              expect(error).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
            }
            expect(room.used).toBeLessThanOrEqual(100);
            if (release) held.pop()?.release();
          }
          for (const reservation of held) reservation.release();
          for (const reservation of held) reservation.release();
          expect(room.used).toBe(0);
        },
      ),
    );
  });

  test.each([
    ['a known length', { 'content-length': '500' }, 500],
    ['gzip', { 'content-length': '500', 'content-encoding': 'gzip' }, 8_000],
    ['more than may be', { 'content-length': '99999999' }, 10_000],
    ['no length', {}, 10_000],
    ['nonsense', { 'content-length': 'x' }, 10_000],
  ])('%s', (_title, headers, expected) => {
    expect(expectedBytes(headers, 10_000)).toBe(expected);
  });
});

describe('bodies', () => {
  const body = (type: string, text: string) => ({ type, bytes: Buffer.from(text) });

  test('one event, an array, an object of events, lines and rows are all events', () => {
    expect(eventsOf(body('application/json', '{"a":1}'))).toEqual([{ sent: { a: 1 } }]);
    expect(eventsOf(body('application/json', '[{"a":1},2]'))).toEqual([{ sent: { a: 1 } }, { sent: 2 }]);
    expect(eventsOf(body('application/json', '{"events":[1]}'))).toEqual([{ sent: 1 }]);
    expect(eventsOf(body('application/x-ndjson', '{"a":1}\n'))).toEqual([{ sent: { a: 1 } }]);
    expect(eventsOf(body('text/csv', '\ufeffalias_kind,alias\nemail,a@b.c\n'))).toEqual([
      { sent: { alias_kind: 'email', alias: 'a@b.c' } },
    ]);
  });

  test.each([
    ['an open quote', 'alias\n"a'],
    ['a quote within a cell', 'alias\na"b"\n'],
    ['an unknown column', 'alias,surplus\na,b\n'],
    ['no rows', 'alias\n'],
    ['too many rows', `alias\n${'a\n'.repeat(5_001)}`],
  ])('CSV with %s is 400', (_title, text) => {
    expect(() => eventsOf(body('text/csv', text))).toThrow(expect.objectContaining({ status: 400 }));
  });
});

describe('Idempotency-Key', () => {
  test('1 to 255 printable characters, or none', () => {
    expect(idempotencyKeyOf(undefined)).toBeNull();
    expect(idempotencyKeyOf('k'.repeat(255))).toHaveLength(255);
    for (const wrong of ['', 'k'.repeat(256), 'a b', 'ä', 'a\tb'])
      expect(() => idempotencyKeyOf(wrong)).toThrow(expect.objectContaining({ status: 400 }));
  });

  test('gives one id for a credential and route, and random ids without', () => {
    const id = writeId(idOf('credential'), 'ingest', 'key');
    expect(writeId(idOf('credential'), 'ingest', 'key')).toBe(id);
    const others = [
      writeId(idOf('other'), 'ingest', 'key'),
      writeId(idOf('credential'), 'importEvents', 'key'),
      writeId(idOf('credential'), 'ingest', 'key2'),
      writeId(idOf('credential'), 'ingest', null),
      writeId(idOf('credential'), 'ingest', null),
    ];
    expect(new Set([id, ...others]).size).toBe(6);
  });
});
