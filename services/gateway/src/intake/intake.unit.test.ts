// Intake before the log: grouping events, limiting bytes in flight, reading bodies.
import { describe, expect, test } from '@jest/globals';
import type { records } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { idempotencyKeyOf, writeId } from '../idempotency/key.js';
import { idOf } from '../testing/builders.js';
import { createBytesInFlight, type Holding } from './bytes-in-flight.js';
import { chunkRecords } from './chunks.js';
import { batchOf } from './read-events.js';

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
          const chunks = chunkRecords(
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
  const maximum = 1_000;
  const senders = [0, 1, 2, 3, 4, 5].map((n) => ({
    credentialId: idOf(`credential ${String(n)}`),
    organisationId: idOf(`organisation ${String(n % 3)}`),
  }));
  const sender = (n: number) => senders[n] ?? { credentialId: '', organisationId: '' };
  const moves = fc.array(
    fc.record({
      sender: fc.nat(5),
      move: fc.constantFrom('open', 'add', 'add', 'add', 'shrink', 'release'),
      bytes: fc.nat(200),
    }),
    { maxLength: 200 },
  );

  test('are the sum of what requests hold, never exceed shares and maximum, and are all released', () => {
    fc.assert(
      fc.property(moves, (steps) => {
        const room = createBytesInFlight(maximum);
        const open: { of: number; held: number; holding: Holding }[] = [];
        const heldBy = (matches: (n: number) => boolean) =>
          open.reduce((sum, { of, held }) => sum + (matches(of) ? held : 0), 0);
        for (const { sender: n, move, bytes } of steps) {
          const last = open.findLast(({ of }) => of === n);
          if (move === 'open' || !last) open.push({ of: n, held: 0, holding: room.open(sender(n)) });
          else if (move === 'shrink') {
            last.holding.shrinkTo(bytes);
            last.held = Math.min(last.held, bytes);
          } else if (move === 'release') {
            last.holding.release();
            last.held = 0;
          } else {
            const free = maximum - heldBy(() => true) - bytes;
            const fits =
              heldBy((other) => other === n) + bytes <= free / 2 &&
              heldBy((other) => other % 3 === n % 3) + bytes <= free;
            if (fits) {
              last.holding.add(bytes);
              last.held += bytes;
            } else
              expect(() => {
                last.holding.add(bytes);
              }).toThrow(expect.objectContaining({ status: 503, headers: { 'Retry-After': '1' } }));
          }
          expect(room.used).toBe(heldBy(() => true));
          expect(room.used).toBeLessThan(maximum);
        }
        for (const { holding } of open) holding.release();
        for (const { holding } of open) holding.release();
        expect(room.used).toBe(0);
      }),
    );
  });

  test.each([1, 2, 5, 20])('%i organisations that fill their share leave memory for another one', (count) => {
    const size = 100_000;
    const room = createBytesInFlight(size);
    for (let n = 0; n < count; n += 1)
      for (let credential = 0; credential < 10; credential += 1) {
        const holding = room.open({
          credentialId: idOf(`${String(n)} ${String(credential)}`),
          organisationId: idOf(`organisation ${String(n)}`),
        });
        for (let part = size; part >= 1; part = Math.floor(part / 2))
          try {
            for (;;) holding.add(part);
          } catch {
            // Ever smaller parts, until its share is full to the last byte.
          }
      }
    const free = size - room.used;
    expect(free).toBeGreaterThanOrEqual(Math.floor(size / 2 ** count) - 1);
    room
      .open({ credentialId: idOf('newcomer'), organisationId: idOf('newcomers') })
      .add(Math.floor(free / 3));
  });

  test('a single credential gets a third of the memory, and a body of the greatest size fits into the smallest setting', () => {
    const holding = createBytesInFlight(40_000_000).open(sender(0));
    holding.add(10_000_000);
    holding.add(3_000_000);
    expect(() => {
      holding.add(1_000_000);
    }).toThrow('share');
  });
});

describe('bodies', () => {
  const eventsOf = (type: string, text: string) => batchOf({ type, bytes: Buffer.from(text) }, {}).events;

  test('one event, an array, an object with events, and NDJSON are read as events', () => {
    expect(eventsOf('application/json', '{"a":1}')).toEqual([{ sent: { a: 1 } }]);
    expect(eventsOf('application/json', '[{"a":1},2]')).toEqual([{ sent: { a: 1 } }, { sent: 2 }]);
    expect(eventsOf('application/json', '{"events":[1]}')).toEqual([{ sent: 1 }]);
    expect(eventsOf('application/x-ndjson', '{"a":1}\n')).toEqual([{ sent: { a: 1 } }]);
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
