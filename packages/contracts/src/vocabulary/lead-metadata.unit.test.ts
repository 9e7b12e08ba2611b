// The laws of JSON merge patches (RFC 7396), and what leads that are merged have of each other's metadata.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject, JsonValue } from './json.js';
import {
  mergePatch,
  metadataInForce,
  patchedMetadata,
  problemOfMetadata,
  withJoined,
  type SetMetadata,
} from './lead-metadata.js';
import { metadataLimits } from './metadata.js';

const json = (text: string) => JSON.parse(text) as JsonValue;

/** The cases of RFC 7396, appendix A: target, patch, result. */
const cases = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
];

const key = fc.constantFrom('a', 'b', 'c.d', '$e', '__proto__', 'constructor', '');
const { value } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<JsonValue>(null, true, 1, 'text'),
    fc.array(fc.constantFrom<JsonValue>(null, 1), { maxLength: 2 }),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(key, tie('value')), { maxLength: 4 })
    .map((entries) => Object.fromEntries<JsonValue>(entries)),
}));
const object = fc
  .array(fc.tuple(key, value), { maxLength: 4 })
  .map((entries) => Object.fromEntries<JsonValue>(entries));
/** What patches leave: no key has null. */
const set = object.map((one) => patchedMetadata({}, one));

describe('a merge patch', () => {
  test.each(cases)('%s with %s is %s', (target, patch, result) => {
    expect(mergePatch(json(target), json(patch))).toEqual(json(result));
  });

  test('twice is once, and the patch of a patched whole changes nothing', () => {
    fc.assert(
      fc.property(set, object, (target, patch) => {
        const once = patchedMetadata(target, patch);
        expect(patchedMetadata(once, patch)).toEqual(once);
        expect(patchedMetadata(once, {})).toEqual(once);
        expect(patchedMetadata({}, once)).toEqual(once);
      }),
    );
  });

  test('leaves its arguments as they are, and its result is the same after a way through JSON', () => {
    fc.assert(
      fc.property(set, object, (target, patch) => {
        const [before, other] = [JSON.stringify(target), JSON.stringify(patch)];
        const result = patchedMetadata(target, patch);
        expect([JSON.stringify(target), JSON.stringify(patch)]).toEqual([before, other]);
        expect(JSON.stringify(json(JSON.stringify(result)))).toBe(JSON.stringify(result));
        expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
      }),
    );
  });

  test('null takes a key back, and other keys stay, whatever they are called', () => {
    fc.assert(
      fc.property(set, key, (target, gone) => {
        const result = patchedMetadata(target, Object.fromEntries([[gone, null]]) as JsonObject);
        expect(Object.entries(result)).toEqual(Object.entries(target).filter(([one]) => one !== gone));
      }),
    );
  });
});

const layers = fc.array(fc.record({ lead_id: fc.constantFrom('1', '2', '3'), metadata: set }), {
  maxLength: 4,
});

describe('metadata of leads that were merged', () => {
  test('the own keys win, then those of the lead that has joined first', () => {
    const joined = [
      { lead_id: '1', metadata: { a: 1, b: 1 } },
      { lead_id: '2', metadata: { a: 2, b: 2, c: 2, d: 2 } },
    ];
    expect(metadataInForce(withJoined({ own: { a: 0, d: null }, joined: [] }, joined))).toEqual({
      ...{ a: 0, b: 1, c: 2 },
      d: null,
    });
  });

  test('joining in any parts is joining at once, and twice is once', () => {
    fc.assert(
      fc.property(set, layers, fc.nat(4), (own, joining, cut) => {
        const none: SetMetadata = { own, joined: [] };
        const whole = withJoined(none, joining);
        expect(withJoined(withJoined(none, joining.slice(0, cut)), joining.slice(cut))).toEqual(whole);
        expect(withJoined(whole, joining)).toEqual(whole);
      }),
    );
  });

  test('what joins never takes a lead beyond its limits: keys are left out', () => {
    const own = { mine: 'x'.repeat(40_000) };
    const metadata = { small: 1, large: 'y'.repeat(50_000), larger: 'z'.repeat(50_000) };
    const after = withJoined({ own, joined: [] }, [{ lead_id: '1', metadata }]);
    expect(Object.keys(metadataInForce(after))).toEqual(['mine', 'small', 'large']);
    expect(problemOfMetadata(after)).toBeNull();
    const many = Object.fromEntries(
      Array.from({ length: metadataLimits.keys }, (_, nth) => [String(nth), nth]),
    );
    const full = withJoined({ own: { mine: 1 }, joined: [] }, [{ lead_id: '1', metadata: many }]);
    expect(Object.keys(metadataInForce(full))).toHaveLength(metadataLimits.keys);
    expect(problemOfMetadata(full)).toBeNull();
    expect(problemOfMetadata({ ...full, own: { mine: 1, more: 2 } })).toMatch(/at most 100000 bytes/);
  });
});
