import { describe, expect, test } from '@jest/globals';
import { seededRandom } from '@lead-scoring/start/random';
import { defineCollection, type ReadModel } from '@lead-scoring/read-model';
import fc from 'fast-check';
import { BSON } from 'mongodb';
import { crashing } from './crashing.js';
import { traffic } from './ledger.js';
import { referenceScores } from './reference.js';
import { missingExamples } from './route-examples.js';
import { differences, type StoredDocuments } from './stored-documents.js';

describe('the reference', () => {
  const rules = [
    { event_type: 'Page View', weight: 10, path_contains: '/pricing' },
    { event_type: 'Page View', weight: 1 },
  ];
  const event = { alias: 'a', event_type: 'Page View', event_id: '1', path: '/pricing' };

  test('adds the weights of every matching rule, each event_id of an alias once', () => {
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

test('traffic is the same for the same seed, has the requested number of events, and repeats some', () => {
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

test('two states of the read models are equal only if every field of every document is', () => {
  const state = (...documents: BSON.Document[]): StoredDocuments =>
    new Map([
      ['leads', new Map(documents.map((document) => [String(document['_id']), BSON.serialize(document)]))],
    ]);
  const one = { _id: 1, score: 5, at: new Date(0) };
  expect(
    differences(state(one, { _id: 2 }), state({ _id: 2 }, { at: new Date(0), score: 5, _id: 1 })),
  ).toEqual([]);
  expect(differences(state(one), state({ ...one, score: 6 }))).toHaveLength(1);
  expect(differences(state(one), state({ ...one, score: new BSON.Double(5) }))).toHaveLength(1);
  expect(differences(state(one), state({ ...one, score: BSON.Long.fromNumber(5) }))).toHaveLength(1);
  expect(differences(state(one), state({ ...one, extra: null }))).toHaveLength(1);
  expect(differences(state(one), state())).toEqual(['leads: 1 missing, such as 1']);
  expect(differences(state(), state(one))).toEqual(['leads: 1 too many, such as 1']);
});

test('every declared route has an example', () => {
  expect(missingExamples()).toEqual([]);
});

describe('a process that a law of folds kills', () => {
  const things = defineCollection<{ _id: number }>({ name: 'things', indexes: [] });

  /** A database that answers a write when the test says so. */
  function slowDatabase() {
    const answers: (() => void)[] = [];
    const insertMany = () => new Promise<void>((resolve) => answers.push(resolve));
    return { answers, readModel: { collection: () => ({ insertMany }) } as unknown as ReadModel };
  }

  test('has ended when the database has answered its last write, and not before', async () => {
    const { answers, readModel } = slowDatabase();
    const killed = crashing(readModel, 2);
    const insert = () => killed.collection(things).insertMany([{ _id: 1 }]);
    const first = insert();
    const second = insert();
    await expect(insert()).rejects.toThrow('killed at a write');
    let hasEnded = false;
    const ended = killed.ended().then(() => (hasEnded = true));
    for (const answer of answers) {
      await new Promise(setImmediate);
      expect(hasEnded).toBe(false);
      answer();
    }
    await Promise.all([first, second, ended]);
  });

  test('writes nothing after its end, even where no write killed it', async () => {
    const { answers, readModel } = slowDatabase();
    const killed = crashing(readModel, Infinity);
    await killed.ended();
    await expect(killed.collection(things).insertMany([{ _id: 1 }])).rejects.toThrow('killed at a write');
    expect(answers).toEqual([]);
  });
});
