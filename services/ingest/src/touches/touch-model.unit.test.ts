import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '@lead-scoring/contracts';
import { touchOf } from './touch-model.js';

const at = '2026-01-31T09:30:00.000Z';
const id = '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e';
const touch = (metadata?: JsonObject) =>
  touchOf({ id, event_type: 'Page View', timestamp: at, ...(metadata && { metadata }) });

test('an event without metadata is a touch by its time and type alone', () => {
  expect(touch()).toEqual({ id, at, event_type: 'Page View' });
});

test('an event that carries a deal is no touch, one whose deal is null is', () => {
  expect(touch({ deal: { id: 'D-1', stage: 'won' } })).toBeNull();
  expect(touch({ deal: 'D-1' })).toBeNull();
  expect(touch({ deal: null })).toMatchObject({ id });
});

describe('the campaign', () => {
  test.each<[JsonObject, string | undefined]>([
    [{ utm_campaign: ' Spring ', campaign: 'other' }, 'Spring'],
    [{ utm_campaign: '', campaign: 'Autumn' }, 'Autumn'],
    [{ campaign: { name: 'Winter', source: 'mail' } }, 'Winter'],
    [{ campaign: 2026 }, '2026'],
    [{ campaign: { source: 'mail' } }, undefined],
    [{ campaign: ['a'] }, undefined],
    [{ utm_campaign: true }, undefined],
    [{ utm_campaign: 'x'.repeat(300) }, 'x'.repeat(200)],
  ])('of %j is %j', (metadata, expected) => {
    expect(touch(metadata)?.campaign).toBe(expected);
  });
});

describe('the path', () => {
  test.each<[JsonObject, string | undefined]>([
    [{ path: '/pricing?plan=a#top', url: 'https://example.com/other' }, '/pricing'],
    [{ path: '/pricing#top' }, '/pricing'],
    [{ path: '?plan=a', url: 'https://example.com/plans/?x=1' }, '/plans/'],
    [{ url: 'https://example.com' }, '/'],
    [{ url: 'mailto:ada@example.com' }, undefined],
    [{ url: 'no address' }, undefined],
    [{ path: 7 }, undefined],
    [{ path: `/${'x'.repeat(600)}` }, `/${'x'.repeat(499)}`],
    // A cut through a pair of surrogates leaves well-formed text.
    [{ path: `/${'x'.repeat(498)}😀` }, `/${'x'.repeat(498)}\ufffd`],
  ])('of %j is %j', (metadata, expected) => {
    expect(touch(metadata)?.path).toBe(expected);
  });
});
