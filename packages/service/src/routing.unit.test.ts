import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseQuery } from './routing.js';

describe('queries of a URL', () => {
  test('what a browser encodes is decoded', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.string()), (parameters) => {
        const parsed = parseQuery(`/leads?${new URLSearchParams(parameters).toString()}`);
        expect(Object.entries(parsed).sort()).toEqual(Object.entries(parameters).sort());
      }),
    );
    expect({ ...parseQuery('/leads') }).toEqual({});
    expect({ ...parseQuery('/leads?&a&b=1=2&') }).toEqual({ a: '', b: '1=2' });
  });

  test('a parameter given twice, and a stray %, are refused', () => {
    expect(() => parseQuery('/leads?limit=1&limit=2')).toThrow('query.limit must be given once.');
    for (const query of ['a=%', 'a=%zz', 'a=%ff', '%=1'])
      expect(() => parseQuery(`/?${query}`)).toThrow(
        expect.objectContaining({ status: 400, code: 'malformed_query' }),
      );
  });

  test('brackets and __proto__ are names like others', () => {
    expect(Object.entries(parseQuery('/?a[$ne]=1&__proto__=2'))).toEqual([
      ['a[$ne]', '1'],
      ['__proto__', '2'],
    ]);
    expect(({} as { 2?: number })[2]).toBeUndefined();
  });
});
