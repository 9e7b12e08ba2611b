// Values in the wire format: prefix and text, for any text, and none overwritten by a later one.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createValueWriter, registeredPrefixBytes } from './registered-json.js';

test('each value is a zero byte, its schema id and its text, also after later writes', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          schemaId: fc.nat({ max: 2 ** 31 - 1 }),
          json: fc.json({ stringUnit: 'binary' }),
          times: fc.constantFrom(1, 1, 1, 200_000),
        }),
        { maxLength: 8 },
      ),
      (values) => {
        const writer = createValueWriter();
        const written = values.map(({ schemaId, json, times }) => {
          const text = `${json}${' '.repeat(times)}`;
          return { schemaId, text, value: writer.write(schemaId, text) };
        });
        for (const { schemaId, text, value } of written) {
          expect(value[0]).toBe(0);
          expect(value.readInt32BE(1)).toBe(schemaId);
          expect(value.subarray(registeredPrefixBytes).equals(Buffer.from(text))).toBe(true);
        }
      },
    ),
  );
});
