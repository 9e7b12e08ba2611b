// The lines of events: those that were told, as far as memory goes.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SourceLines } from './source-lines.js';

/** How far each line is behind the one before. */
const steps = fc.array(fc.constantFrom(0, 1, 1, 1, 2), { maxLength: 60 });

test('law: the line of each event is the one that it came from', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 60 }), (ahead, maximum) => {
      const lines = new SourceLines(maximum);
      let line = 1;
      const told = ahead.map((step) => (line += step));
      for (const one of told) lines.add(one);
      for (const [index, one] of told.entries()) expect([one, null]).toContain(lines.of(index));
      const jumps = ahead.slice(1).filter((step) => step !== 1).length;
      if (jumps < maximum) expect(told.map((_, index) => lines.of(index))).toEqual(told);
      expect([lines.of(-1), lines.of(told.length)]).toEqual([null, null]);
    }),
  );
});
