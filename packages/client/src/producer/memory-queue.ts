// A queue in memory: events are lost with the process.
import { settledPlaces, sizeOf, type EventQueue } from './queue.js';

/** @param maximumBytes of the events that are not settled; a single larger one is let in alone */
export function createMemoryQueue(maximumBytes: number): EventQueue {
  const settled = settledPlaces();
  /** Taken lines are cut off now and then, so that taking costs nothing for each line that stays. */
  let lines: string[] = [];
  let next = 0;
  let end = 0;
  let taken = 0;
  let bytes = 0;
  /** Lines that were taken and are not settled, by the end of their batch. */
  const unsettled = new Map<number, readonly string[]>();
  return {
    get end() {
      return end;
    },
    get taken() {
      return taken;
    },
    get settled() {
      return settled.place;
    },
    get bytes() {
      return bytes;
    },
    isFull: (size) => bytes > 0 && bytes + size > maximumBytes,
    add(line) {
      lines.push(line);
      const size = sizeOf(line);
      end += size;
      bytes += size;
      return Promise.resolve();
    },
    take(limits) {
      const from = next;
      let size = 0;
      for (; next < lines.length && next - from < limits.events; next += 1) {
        const more = sizeOf(lines[next] ?? '');
        if (next > from && size + more > limits.bytes) break;
        size += more;
      }
      if (next === from) return Promise.resolve(null);
      const batch = lines.slice(from, next);
      if (next > 10_000 || next === lines.length) {
        lines = lines.slice(next);
        next = 0;
      }
      taken += size;
      unsettled.set(taken, batch);
      return Promise.resolve({ lines: batch, bytes: size, end: taken });
    },
    settle(batch) {
      unsettled.delete(batch.end);
      bytes -= batch.bytes;
      settled.settle(batch);
      return Promise.resolve();
    },
    close: () => Promise.resolve([...[...unsettled.values()].flat(), ...lines.slice(next)]),
  };
}
