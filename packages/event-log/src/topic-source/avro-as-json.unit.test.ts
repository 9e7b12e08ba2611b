// Values of Avro as JSON: what its decoder makes of records, unions, maps and bytes.
import { expect, test } from '@jest/globals';
import { avroAsJson } from './avro-as-json.js';

class Decoded {
  [key: string]: unknown;
  constructor(fields: Record<string, unknown>) {
    Object.assign(this, fields);
  }
}

class Branch {
  constructor(private readonly held: unknown) {}
  unwrap() {
    return this.held;
  }
}

test('records are plain objects, bytes are base64, and a value of a union is itself', () => {
  const value = new Decoded({
    name: 'Ada',
    avatar: Buffer.from('ada'),
    tags: ['a', null, new Decoded({ n: 1 })],
    choice: new Branch(new Decoded({ deep: true })),
    unwrap: 'a field',
  });
  const json = avroAsJson(value);
  expect(json).toEqual({
    name: 'Ada',
    avatar: 'YWRh',
    tags: ['a', null, { n: 1 }],
    choice: { deep: true },
    unwrap: 'a field',
  });
  expect(Object.getPrototypeOf(json)).toBe(Object.prototype);
});

test('a key __proto__ of a map is a key like any other', () => {
  const json = avroAsJson(JSON.parse('{"__proto__": {"x": 1}}')) as object;
  expect(Object.keys(json)).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(json)).toBe(Object.prototype);
});
