import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { traffic } from './ledger.js';
import { seededRandom } from './random.js';
import { referenceScores } from './reference.js';
import { missingExamples } from './route-examples.js';
import { differences, type StoredDocuments } from './stored-documents.js';

describe('the reference', () => {
  const rules = [
    { event_type: 'Page View', weight: 10, path_contains: '/pricing' },
    { event_type: 'Page View', weight: 1 },
  ];
  const event = { alias: 'a', event_type: 'Page View', event_id: '1', path: '/pricing' };

  test('adds up the weights of every matching rule, each event_id of an alias once', () => {
    const events = [event, event, { ...event, alias: 'b' }, { ...event, event_id: '2', path: '/' }];
    expect(referenceScores(events, rules)).toEqual(
      new Map([
        ['a', 12],
        ['b', 11],
      ]),
    );
  });

  test('does not depend on the order of events', () => {
    const events = traffic({
      random: seededRandom(1),
      events: 200,
      leads: 20,
      repeats: 0.2,
      batch: [1, 9],
    }).flat();
    const scores = (some: typeof events) => [...referenceScores(some, rules)].sort();
    fc.assert(
      fc.property(fc.shuffledSubarray(events, { minLength: events.length }), (shuffled) => {
        expect(scores(shuffled)).toEqual(scores(events));
      }),
    );
  });
});

test('traffic is the same for the same seed, has as many events as asked for, and repeats some', () => {
  const made = () =>
    traffic({ random: seededRandom(3), events: 1_000, leads: 50, repeats: 0.1, batch: [1, 100] });
  const ids = made()
    .flat()
    .map((event) => event.event_id);
  expect(ids).toHaveLength(1_000);
  expect(new Set(ids).size).toBeLessThan(950);
  expect(
    made()
      .flat()
      .map((event) => event.event_id),
  ).toEqual(ids);
});

test('two states of the read models are the same only when every document is', () => {
  const state = (documents: Record<string, string>): StoredDocuments =>
    new Map([['leads', new Map(Object.entries(documents))]]);
  expect(differences(state({ a: '1', b: '2' }), state({ b: '2', a: '1' }))).toEqual([]);
  expect(differences(state({ a: '1' }), state({ a: '2' }))).toEqual(['leads: 1 became 2']);
  expect(differences(state({ a: '1' }), state({}))).toEqual(['leads: 1 missing, such as a']);
  expect(differences(state({}), state({ a: '1' }))).toEqual(['leads: 1 too many, such as a']);
});

test('every declared route has an example to start from', () => {
  expect(missingExamples()).toEqual([]);
});
