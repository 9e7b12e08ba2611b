// The properties of guarded writing on a model of a store, with other writers between any two calls.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { settle, type GuardedDocument, type GuardedStore } from './guarded-settling.js';
import { keyOf } from './values.js';

interface Lead extends GuardedDocument {
  _id: string;
  content: string;
}

function lead(id: string, offset: number): Lead {
  // A fold is deterministic: the offset determines the stored document.
  return { _id: id, partition: 0, offset, content: `${id}@${String(offset)}` };
}

/** An in-memory store; `meanwhile` runs before each call, like another process. */
function modelStore(stored: Map<string, Lead>, meanwhile: () => void = () => undefined): GuardedStore<Lead> {
  return {
    insert: (documents) => {
      meanwhile();
      const taken = documents.filter(({ _id }) => stored.has(_id));
      for (const document of documents) if (!stored.has(document._id)) stored.set(document._id, document);
      return Promise.resolve(taken);
    },
    replace: (documents) => {
      meanwhile();
      const older = documents.filter(({ _id, offset }) => (stored.get(_id)?.offset ?? Infinity) < offset);
      for (const document of older) stored.set(document._id, document);
      return Promise.resolve(older.length);
    },
    offsets: (documents) => {
      meanwhile();
      return Promise.resolve(
        new Map(
          documents.flatMap(({ _id }) => {
            const found = stored.get(_id);
            return found ? [[keyOf(_id), found.offset] as const] : [];
          }),
        ),
      );
    },
  };
}

const ids = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const leads = fc.array(
  fc.tuple(ids, fc.nat(20)).map(([id, offset]) => lead(id, offset)),
  { maxLength: 12 },
);

function newest(...batches: readonly Lead[][]): Map<string, Lead> {
  const expected = new Map<string, Lead>();
  for (const document of batches.flat())
    if ((expected.get(document._id)?.offset ?? -1) < document.offset) expected.set(document._id, document);
  return expected;
}

const sorted = (stored: Map<string, Lead>) => [...stored.values()].sort((x, y) => (x._id < y._id ? -1 : 1));

describe('guarded writing', () => {
  test('keeps the newest of the stored and the written document, for any hint', async () => {
    await fc.assert(
      fc.asyncProperty(leads, leads, fc.func(fc.boolean()), async (before, written, hint) => {
        const stored = newest(before);
        await settle(modelStore(stored), written, (document) => hint(document._id));
        expect(sorted(stored)).toEqual(sorted(newest(before, written)));
      }),
    );
  });

  test('a repeated write changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(leads, leads, async (before, written) => {
        const stored = newest(before);
        await settle(modelStore(stored), written, () => false);
        const once = sorted(stored);
        const again = await settle(modelStore(stored), written, () => true);
        expect(sorted(stored)).toEqual(once);
        expect(again.inserted).toBe(0);
      }),
    );
  });

  test('any split of a batch, in any order, gives the same result', async () => {
    await fc.assert(
      fc.asyncProperty(leads, fc.nat(12), fc.boolean(), async (written, at, reversed) => {
        const whole = new Map<string, Lead>();
        await settle(modelStore(whole), written, () => false);
        const parts = [written.slice(0, at), written.slice(at)];
        if (reversed) parts.reverse();
        const split = new Map<string, Lead>();
        for (const part of parts) await settle(modelStore(split), part, () => true);
        expect(sorted(split)).toEqual(sorted(whole));
      }),
    );
  });

  test('loses no update with another writer between any two calls', async () => {
    await fc.assert(
      fc.asyncProperty(leads, leads, fc.array(leads, { maxLength: 6 }), async (before, written, others) => {
        const stored = newest(before);
        const acted: Lead[] = [];
        const rest = [...others];
        const meanwhile = () => {
          for (const document of rest.shift() ?? []) {
            acted.push(document);
            if ((stored.get(document._id)?.offset ?? -1) < document.offset)
              stored.set(document._id, document);
          }
        };
        await settle(modelStore(stored, meanwhile), written, (document) => document.offset % 2 === 0);
        expect(sorted(stored)).toEqual(sorted(newest(before, written, acted)));
      }),
    );
  });

  test('counts every document once, as inserted or found', async () => {
    await fc.assert(
      fc.asyncProperty(leads, leads, async (before, written) => {
        const known = newest(before);
        const absent = [...newest(written).keys()].filter((id) => !known.has(id)).length;
        const result = await settle(modelStore(known), written, () => false);
        expect(result).toEqual({ inserted: absent, found: newest(written).size - absent });
      }),
    );
  });

  test('gives up with a retriable error when a store neither holds nor takes a document', async () => {
    const store: GuardedStore<Lead> = {
      insert: (documents) => Promise.resolve(documents),
      replace: () => Promise.resolve(0),
      offsets: () => Promise.resolve(new Map()),
    };
    await expect(settle(store, [lead('a', 1)], () => false)).rejects.toMatchObject({
      code: 'write_not_settled',
      retriable: true,
    });
  });
});
