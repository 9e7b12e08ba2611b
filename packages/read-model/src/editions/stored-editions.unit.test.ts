// The steps of the editions: a rebuild is done once, and the swap comes when every part is level under its owner.
import { expect, test } from '@jest/globals';
import {
  claimed,
  dropped,
  firstEdition,
  levelled,
  nameInEdition,
  requested,
  stated,
  withdrawn,
  type EditionStep,
  type StoredEditions,
} from './stored-editions.js';

const at = '2026-01-01T12:00:00.000Z';
const folded = { parts: ['scoring:0', 'scoring:1'], version: 1 };
const owned = (part: string, owner = 'one', edition = 1) => ({ edition, part, owner });

/** Takes the steps in order; a step that changes nothing is passed over. */
const after = (...steps: EditionStep[]): StoredEditions =>
  steps.reduce((editions, step) => step(editions) ?? editions, firstEdition('scoring'));

const filling = [requested('a', folded, at), claimed(owned('scoring:0')), claimed(owned('scoring:1'))];

test('a rebuild begins at once, and is begun once however many partitions ask for it', () => {
  expect(after(requested('a', folded, at), requested('a', folded, at))).toMatchObject({
    live: 0,
    filling: { number: 1, rebuilds: ['a'], level: [], since: at },
  });
});

test('the filled edition becomes the live one when the last part is level, and not before', () => {
  const almost = after(...filling, levelled(owned('scoring:0'), at));
  expect(almost).toMatchObject({ live: 0, filling: { level: ['scoring:0'] }, done: [] });
  expect(levelled(owned('scoring:1'), at)(almost)).toMatchObject({
    live: 1,
    filling: null,
    retired: { number: 0 },
    done: ['a'],
  });
});

test('a part that is no longer level holds up the swap', () => {
  const editions = after(
    ...filling,
    levelled(owned('scoring:0'), at),
    withdrawn(owned('scoring:0')),
    levelled(owned('scoring:1'), at),
  );
  expect(editions).toMatchObject({ live: 0, filling: { level: ['scoring:1'] } });
});

test('an owner of before says nothing of a part that another has claimed', () => {
  const editions = after(...filling, claimed(owned('scoring:0', 'two')));
  expect(levelled(owned('scoring:0'), at)(editions)).toBeNull();
  expect(withdrawn(owned('scoring:0'))(editions)).toBeNull();
  expect(levelled(owned('scoring:0', 'two'), at)(editions)).not.toBeNull();
});

test('a part that is level stays level under its next owner', () => {
  const editions = after(...filling, levelled(owned('scoring:0'), at), claimed(owned('scoring:0', 'two')));
  expect(editions.filling?.level).toEqual(['scoring:0']);
});

test('after the swap nothing can be withdrawn: the edition is live', () => {
  const swapped = after(...filling, levelled(owned('scoring:0'), at), levelled(owned('scoring:1'), at));
  expect(withdrawn(owned('scoring:0'))(swapped)).toBeNull();
});

test('a rebuild that is asked for during another joins it', () => {
  const swapped = after(
    ...filling,
    requested('b', folded, at),
    levelled(owned('scoring:0'), at),
    levelled(owned('scoring:1'), at),
  );
  expect(swapped.done).toEqual(['a', 'b']);
});

test('the next rebuild begins once the edition of before is dropped, under a number that was never used', () => {
  const swapped = after(...filling, levelled(owned('scoring:0'), at), levelled(owned('scoring:1'), at));
  const waiting = requested('b', folded, at)(swapped) ?? swapped;
  expect(waiting).toMatchObject({ live: 1, filling: null, requested: { rebuilds: ['b'] } });
  expect(dropped(0, at)(waiting)).toMatchObject({ live: 1, retired: null, filling: { number: 2 } });
});

test('the first process states the version of what is live, and a newer one fills an edition by itself, once', () => {
  const newer = { ...folded, version: 2 };
  expect(after(stated(folded, at), stated(folded, at))).toMatchObject({ version: 1, filling: null });
  const editions = after(stated(folded, at), stated(newer, at), stated(newer, at), stated(folded, at));
  expect(editions).toMatchObject({ version: 1, filling: { version: 2, rebuilds: ['version 2'] } });
});

test('the swap makes the version of the filled edition the live one', () => {
  const editions = after(
    stated(folded, at),
    stated({ ...folded, version: 2 }, at),
    ...folded.parts.flatMap((part) => [claimed(owned(part)), levelled(owned(part), at)]),
  );
  expect(editions).toMatchObject({ live: 1, version: 2, filling: null });
});

test('a newer version begins a filling anew, under a number of its own', () => {
  const editions = after(
    ...filling,
    levelled(owned('scoring:0'), at),
    stated(folded, at),
    stated({ ...folded, version: 2 }, at),
  );
  expect(editions).toMatchObject({
    live: 0,
    filling: { number: 2, version: 2, rebuilds: ['a', 'version 2'], level: [] },
  });
});

test('the first edition has the declared names', () => {
  expect([nameInEdition('leads', 0), nameInEdition('leads', 2)]).toEqual(['leads', 'leads.e2']);
});
