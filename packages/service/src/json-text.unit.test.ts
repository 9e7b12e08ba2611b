import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseJson } from './body.js';
import { depthExceededAt, duplicateKeyIn, syntaxErrorAt } from './json-text.js';

function depthOf(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  return 1 + Object.values(value).reduce((deepest: number, item) => Math.max(deepest, depthOf(item)), 0);
}

const isJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

// JSON with a few characters removed, doubled or inserted.
const damaged = fc
  .tuple(
    fc.json(),
    fc.array(
      fc.tuple(fc.nat(), fc.constantFrom('', ',', '"', '}', ']', '{', '\\', '0', '\u0001', ' ', 'u12')),
      { maxLength: 2 },
    ),
  )
  .map(([text, changes]) =>
    changes.reduce((changed, [at, insert]) => {
      const index = at % (changed.length + 1);
      return insert === ''
        ? changed.slice(0, index) + changed.slice(index + 1)
        : changed.slice(0, index) + insert + changed.slice(index);
    }, text),
  );

describe('a key twice in one object', () => {
  test.each<[string, (string | number)[] | null]>([
    ['{}', null],
    ['[{"a":1},{"a":1}]', null],
    ['{"a":{"a":{"a":"a"}},"b":["a","a"]}', null],
    ['{"a":1,"a":1}', ['a']],
    ['{"a":1,"\\u0061":2}', ['a']],
    ['{"":1,"":2}', ['']],
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
    ['{"constructor":1}', null],
    ['{"a":[1,{"b":":,\\"","c":{"d":1,"e":{},"d":2}}]}', ['a', 1, 'c', 'd']],
    ['[[],[{"x":"}","x":"]"}]]', [1, 0, 'x']],
  ])('%s', (text, path) => {
    expect(duplicateKeyIn(text)).toEqual(path);
  });

  test('JSON that was written from a value has none; with one member doubled it is found', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, key) => {
        const text = JSON.stringify({ [key]: value });
        expect(duplicateKeyIn(text)).toBeNull();
        expect(duplicateKeyIn(`[0,${text.slice(0, -1)},${text.slice(1)}]`)).toEqual([1, key]);
      }),
    );
  });

  test('a body with one is refused by its path, and a batch of events that is taken in bulk is not looked through', () => {
    expect(() => parseJson('{"name":"a","config":{"url":1,"url":2}}')).toThrow(
      expect.objectContaining({
        code: 'malformed_json',
        message: expect.stringContaining('body.config.url'),
        errors: [{ path: 'body.config.url', message: 'is there twice' }],
      }),
    );
    expect(parseJson('{"a":1,"a":2}', { maximumDepth: Infinity })).toEqual({ a: 2 });
  });
});

describe('looking at JSON', () => {
  test('the depth found in the text is the depth of the value', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8, stringUnit: 'binary' }), fc.nat(8), (text, maximum) => {
        expect(depthExceededAt(text, maximum) !== null).toBe(depthOf(JSON.parse(text)) > maximum);
      }),
    );
  });

  test('brackets and escaped quotes within strings do not count', () => {
    for (const text of ['"[[["', '"\\"[[["', '"\\\\"', '{"[[\\\\\\"[[":"]]"}'])
      expect(depthExceededAt(text, 1)).toBeNull();
    expect(depthExceededAt('["\\\\",[[1]]]', 2)).toBe(7);
  });

  test('a text is called JSON exactly when the engine takes it', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), damaged, fc.string()), (text) => {
        expect(syntaxErrorAt(text) === null).toBe(isJson(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test('the place of an error is where the text stops being the start of any JSON', () => {
    expect(syntaxErrorAt('{"a": bad}')).toBe(6);
    expect(syntaxErrorAt('{"a":1,}')).toBe(7);
    expect(syntaxErrorAt('[1,2')).toBe(4);
    expect(syntaxErrorAt('[1] x')).toBe(4);
    expect(syntaxErrorAt('"a\nb"')).toBe(2);
    expect(syntaxErrorAt('[1,]')).toBe(3);
    expect(syntaxErrorAt('{1:2}')).toBe(1);
    expect(syntaxErrorAt('')).toBe(0);
  });

  test('a hundred thousand levels, or a string of a megabyte, are no trouble', () => {
    const deep = '['.repeat(100_000);
    expect(depthExceededAt(deep, 64)).toBe(64);
    expect(syntaxErrorAt(deep)).toBe(100_000);
    expect(syntaxErrorAt(`"${'a\\n'.repeat(400_000)}`)).toBe(1_200_001);
  });
});

describe('parsing a body', () => {
  test('says where the text is wrong', () => {
    expect(() => parseJson('{\n  "a": bad\n}')).toThrow(
      'The body is not valid JSON: unexpected character at line 2, column 8.',
    );
    expect(() => parseJson('[1', { what: 'Line 3' })).toThrow(
      'Line 3 is not valid JSON: it ends too early at line 1, column 3.',
    );
    expect(() => parseJson(' ')).toThrow('The body is empty; it must be JSON.');
  });

  test('refuses more than 64 levels with a code of its own', () => {
    expect(parseJson('['.repeat(64) + ']'.repeat(64))).toBeDefined();
    expect(() => parseJson('['.repeat(65) + ']'.repeat(65))).toThrow(
      expect.objectContaining({ status: 400, code: 'json_too_deep' }),
    );
    expect(parseJson('['.repeat(65) + ']'.repeat(65), { maximumDepth: Infinity })).toBeDefined();
  });
});
