import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { positionsHeader } from './input-positions.js';
import { ownerHeader, OwnerReader, releasedHeader, takenHeader, withdrawnHeader } from './owners.js';

const record = (headers: Record<string, string>) => ({
  offset: 0n,
  timestamp: 0,
  key: null,
  value: null,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)])),
});
type LogRecord = ReturnType<typeof record>;
const claim = (owner: string) => record({ [ownerHeader]: owner });
const taken = (owner: string) => record({ [ownerHeader]: owner, [takenHeader]: 'true' });
const withdrawn = (owner: string) => record({ [ownerHeader]: owner, [withdrawnHeader]: 'true' });
const write = (owner: string) => record({ [ownerHeader]: owner, [positionsHeader]: 'ingest.commands:1' });
const release = (owner: string) =>
  record({ [ownerHeader]: owner, [positionsHeader]: 'ingest.commands:1', [releasedHeader]: 'true' });

function takeInto(reader: OwnerReader, records: readonly LogRecord[], from = 0, stableEnd = Infinity): void {
  reader.take({
    records: records.map((one, at) => ({ ...one, offset: BigInt(from + at) })),
    stableEnd: BigInt(Math.min(stableEnd, from + records.length)),
  });
}

function read(...records: LogRecord[]): OwnerReader {
  const reader = new OwnerReader();
  takeInto(reader, records);
  return reader;
}

describe('a process that claims a partition', () => {
  test('fences the previous owner', () => {
    expect(read(claim('a'), write('a'), claim('b')).before('b')).toEqual(['a']);
  });

  test('also fences an owner whose claim was not read, and one that has claimed and not written', () => {
    expect(read(write('a'), claim('b'), claim('c')).before('c')).toEqual(['a', 'b']);
  });

  test('fences no owner that has released the partition', () => {
    expect(read(claim('a'), write('a'), release('a'), claim('b')).before('b')).toEqual([]);
  });

  test('does not fence an owner that a later owner has fenced', () => {
    expect(read(claim('a'), claim('b'), write('b'), claim('c')).before('c')).toEqual(['b']);
  });

  test('does not fence an owner that claimed later, also when one wrote in between', () => {
    expect(read(claim('a'), claim('b'), write('a')).before('a')).toEqual([]);
    expect(read(claim('a'), claim('b'), write('a')).before('b')).toEqual(['a']);
  });

  test('fences an owner whose releasing transaction is still open', () => {
    const reader = new OwnerReader();
    takeInto(reader, [claim('a'), write('a'), release('a'), claim('b')], 0, 2);
    expect(reader.before('b')).toEqual(['a']);
    takeInto(reader, [], 4);
    expect(reader.before('b')).toEqual([]);
  });

  test('fences an owner that took the partition after the claim, also when its own claim was not read', () => {
    expect(read(write('a'), claim('c'), taken('b')).before('c')).toEqual(['b', 'a']);
  });

  test('sees a later claimant until it withdraws', () => {
    expect(read(claim('a'), claim('b')).after('a')).toEqual(['b']);
    expect(read(claim('a'), claim('b'), withdrawn('b')).after('a')).toEqual([]);
  });

  test('does not know all earlier owners before it has read a position statement', () => {
    expect(read(claim('b'), claim('c')).isSure()).toBe(false);
    expect(read(claim('b'), claim('c'), write('b')).isSure()).toBe(true);
  });
});

/** A step of a process: steps run in any order, with any delay. */
const steps = fc.array(
  fc.record({
    process: fc.constantFrom(0, 1, 2),
    step: fc.constantFrom('go', 'go', 'go', 'write', 'release', 'fail'),
  }),
  { maxLength: 150, size: 'max' },
);

/** A process that opens the partition by the rules of partition-claim.ts, a step at a time. */
interface Opening {
  id: string;
  reader: OwnerReader;
  read: number;
  fenced: Set<string>;
  state: 'waiting' | 'taking' | 'writing';
}

function startOpening(id: string, log: LogRecord[], firstWindow: number): Opening {
  const end = log.push(claim(id));
  for (let from = Math.max(0, end - 1 - firstWindow); ; from = 0) {
    const reader = new OwnerReader();
    takeInto(reader, log.slice(from), from);
    if (reader.isSure() || from === 0)
      return { id, reader, read: end, fenced: new Set(), state: stateAfter(reader, id, new Set()) };
  }
}

const othersOf = (reader: OwnerReader, id: string, fenced: ReadonlySet<string>) =>
  reader.before(id).filter((one) => !fenced.has(one));

const stateAfter = (reader: OwnerReader, id: string, fenced: ReadonlySet<string>) =>
  othersOf(reader, id, fenced).length === 0 ? 'writing' : 'waiting';

test('at most one process can write at a time, in any order of steps and for any part of the log that is read', () => {
  fc.assert(
    fc.property(steps, fc.constantFrom(1, 2, 5), (all, firstWindow) => {
      const log: LogRecord[] = [];
      const openings = new Map<number, Opening>();
      const dead = new Set<string>();
      /** A fenced process continues with a new id, one whose session failed with the same id. */
      const idOf = (process: number) => {
        let life = 0;
        while (dead.has(`${process}-${life}`)) life++;
        return `${process}-${life}`;
      };
      const readOn = (one: Opening) => {
        takeInto(one.reader, log.slice(one.read), one.read);
        one.read = log.length;
      };
      const withdraw = (process: number, { id }: Opening) => {
        log.push(withdrawn(id));
        openings.delete(process);
      };
      const hasRival = ({ reader, id }: Opening) => reader.after(id).length > 0;
      for (const { process, step } of all) {
        const one = openings.get(process);
        if (one && dead.has(one.id)) openings.delete(process);
        else if (one && step === 'fail') openings.delete(process);
        else if (!one) {
          if (step === 'go') openings.set(process, startOpening(idOf(process), log, firstWindow));
        } else if (one.state === 'waiting' && step === 'go') {
          readOn(one);
          if (hasRival(one)) {
            withdraw(process, one);
            continue;
          }
          // Released in time or fenced: the result is the same for others.
          for (const other of othersOf(one.reader, one.id, one.fenced)) {
            dead.add(other);
            one.fenced.add(other);
          }
          one.state = 'taking';
        } else if (one.state === 'taking' && step === 'go') {
          log.push(taken(one.id));
          readOn(one);
          if (hasRival(one)) withdraw(process, one);
          else one.state = stateAfter(one.reader, one.id, one.fenced);
        } else if (one.state === 'writing' && step !== 'go') {
          log.push(step === 'write' ? write(one.id) : release(one.id));
          if (step === 'release') openings.delete(process);
        }
        const writers = [...openings.values()].filter(
          ({ id, state }) => state === 'writing' && !dead.has(id),
        );
        expect(writers.map(({ id }) => id).slice(1)).toEqual([]);
      }
    }),
    { numRuns: 1_000 },
  );
});
