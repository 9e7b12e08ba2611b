// Reading a read model while it is folded, on a real database: a lead is complete or absent, its score is that of its
// last decision, and its document is written only when its content changes.
import { expect, test } from '@jest/globals';
import { openFollowerPartition } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import type { ReadModel } from '@lead-scoring/read-model';
import { foldedRecord } from '@lead-scoring/testing/fold-laws';
import { leadKey, sharedLeads } from './model.js';
import { readAccounts } from './accounts.js';
import { explanationProjection } from './projection.js';
import { readExplanation } from './read.js';
import { createExplanationReader, type ExplanationReader } from './reader.js';
import { at, idOf, leadRemoved, leadScored, ouId } from '@lead-scoring/scoring-domain/testing';
import { inThrowawayReadModel } from './testing/throwaway.js';
import { createFoldedUpTo, type ExplanationSource } from './whole.js';

const projectorName = 'test-explanations';
const partition = 2;
const now = new Date(at);
const ada = { ou_id: ouId, lead_id: idOf('ada') };

interface Folding {
  readModel: ReadModel;
  reader: ExplanationReader;
  /** Folds records of scoring from an offset on, and returns the offset after them. */
  fold: (offset: number, ...happened: (records.LeadScored | records.LeadRemoved)[]) => Promise<number>;
  /** Stores a checkpoint: everything before the offset is folded. */
  store: (offset: number) => Promise<void>;
}

const folding = (work: (folding: Folding) => Promise<void>): Promise<void> =>
  inThrowawayReadModel(async (readModel) => {
    const projection = explanationProjection({ name: projectorName, cachedLeads: 10 });
    const state = openFollowerPartition(projection, readModel, partition);
    await state.checkpoint();
    await work({
      readModel,
      reader: createExplanationReader(readModel, projectorName),
      fold: async (offset, ...happened) => {
        await state.fold(
          happened.map((payload, index) =>
            foldedRecord(
              'score' in payload ? records.leadScored : records.leadRemoved,
              payload,
              offset + index,
            ),
          ),
        );
        return offset + happened.length;
      },
      store: (offset) => state.store({ offset: 0n, positions: { 'scoring.events': BigInt(offset) } }),
    });
  });

const view = (previous: number, more: Partial<records.LeadScored> = {}, lead = 'ada') =>
  leadScored(lead, { rule: 'view', points: 5, previous }, more);
/** A decision without a scored event, which may change the score. */
const aside = (previous: number, score: number) =>
  leadScored('ada', { rule: 'view', points: 5, times: 0, previous }, { event_count: 1, score });

/** The scores in the lead's explanation and in its account. */
async function shown({ reader }: Folding, up_to?: number) {
  const lead = await reader.findLead(ada);
  const explained = lead && (await reader.explain(lead, now));
  const [account] = await reader.accounts([{ ...ada, ...(up_to !== undefined && { up_to }) }]);
  return [explained?.explanation.score ?? null, account?.score ?? null];
}

test('the document of a lead is written once for many decisions', () =>
  folding(async ({ readModel, fold }) => {
    const stored = () => readModel.collection(sharedLeads).findOne({ _id: leadKey(ouId, ada.lead_id) });
    let next = await fold(7, view(0), view(5));
    const first = await stored();
    expect(first).toMatchObject({ first_offset: 7, offset: 7 });
    for (let batch = 1; batch <= 5; batch += 1)
      next = await fold(next, view(batch * 10), view(batch * 10 + 5));
    expect(await stored()).toEqual(first);
    await fold(next, view(60, { fields: [{ field: 'name', value: 'Ada Lovelace', at }] }));
    expect(await stored()).toMatchObject({
      given_name: { value: 'Ada Lovelace' },
      first_offset: 7,
      offset: next,
    });
  }));

test('what is stored beyond the checkpoint counts once the checkpoint is there', () =>
  folding(async (folded) => {
    const { fold, store, reader } = folded;
    await fold(0, view(0), view(5));
    expect(await shown(folded)).toEqual([null, null]);
    await store(1);
    expect(await shown(folded)).toEqual([5, 5]);
    await store(2);
    expect(await shown(folded)).toEqual([10, 10]);
    await fold(2, view(10), view(0, {}, 'bob'));
    expect(await shown(folded)).toEqual([10, 10]);
    const scores = async () => {
      const found: number[] = [];
      for await (const { score } of reader.decisionsOf(ouId)) found.push(score);
      return found.sort((a, b) => a - b);
    };
    expect(await scores()).toEqual([5, 10]);
    await store(4);
    expect(await shown(folded)).toEqual([15, 15]);
    expect(await scores()).toEqual([5, 5, 10, 15]);
  }));

test('the score is that of the last decision that counts, also where it changed by itself or never did', () =>
  folding(async (folded) => {
    const { fold, store, reader } = folded;
    await fold(0, aside(0, 0), aside(0, 0), view(0), view(5), aside(10, 7), aside(7, 7));
    await store(6);
    expect(await shown(folded)).toEqual([7, 7]);
    const scores = [0, 1, 2, 3, 4, 5].map(async (up_to) => (await shown(folded, up_to))[1]);
    expect(await Promise.all(scores)).toEqual([0, 0, 5, 10, 7, 7]);
    const [account] = await reader.accounts([ada]);
    // A decision that changed nothing is not stored.
    expect(account).toMatchObject({ offset: 4 });
    expect([...(account?.contributions.values() ?? [])]).toMatchObject([{ count: 2, total: 10 }]);
    const lead = await reader.findLead(ada);
    const explained = lead && (await reader.explain(lead, now));
    expect(explained?.history.at(-1)).toEqual({ at, score: 7 });
  }));

test('a lead that is removed, and the next one of its id, are never taken for one another', () =>
  folding(async (folded) => {
    const { fold, store, reader } = folded;
    await fold(0, view(0), view(5));
    await store(2);
    const first = await reader.findLead(ada);
    if (!first) throw new Error('the lead is not there');
    await fold(2, leadRemoved('ada', 10), view(0));
    // Folded, but after the checkpoint.
    expect(await reader.explain(first, now)).toBeNull();
    expect(await shown(folded)).toEqual([null, null]);
    await store(4);
    expect(await reader.explain(first, now)).toBeNull();
    expect(await shown(folded)).toEqual([5, 5]);
    // The request is about the first lead of this id.
    expect(await reader.accounts([{ ...ada, up_to: 1 }])).toEqual([null]);
  }));

test('a lead that is removed while it is read is not there, however much of it was read', () =>
  folding(async ({ readModel, fold, store, reader }) => {
    let next = 0;
    for (const read of [
      async (source: ExplanationSource) => {
        const lead = await reader.findLead(ada);
        return lead && readExplanation(source, lead, now);
      },
      async (source: ExplanationSource) => (await readAccounts(source, [ada]))[0],
    ]) {
      next = await fold(next, view(0), view(5));
      await store(next);
      const foldedUpTo = createFoldedUpTo(readModel, projectorName);
      const during = (...happened: Parameters<Folding['fold']>[1][]) =>
        read({
          readModel,
          foldedUpTo: async (partitions) => {
            const endOf = await foldedUpTo(partitions);
            next = await fold(next, ...happened);
            return endOf;
          },
        });
      expect(await during()).not.toBeNull();
      expect(await during(leadRemoved('ada', 10), view(0))).toBeNull();
      await store(next);
      expect(await during(leadRemoved('ada', 5))).toBeNull();
    }
  }));

test('whatever is read while it is folded, removed and begun anew is the whole of one lead', () =>
  folding(async ({ reader, fold, store }) => {
    const folded = new AbortController();
    let readings = 0;
    const reading = (async () => {
      while (!folded.signal.aborted) {
        const lead = await reader.findLead(ada);
        const [explained, [account]] = await Promise.all([
          lead && reader.explain(lead, now),
          reader.accounts([ada]),
        ]);
        for (const [score, given] of [
          explained && [explained.explanation.score, explained.explanation.top_drivers],
          account && [account.score, [...account.contributions.values()]],
        ].filter((one) => !!one)) {
          readings += 1;
          expect(score).toBeGreaterThan(0);
          expect(given).toMatchObject([{ total: score }]);
        }
      }
    })();
    try {
      // A lead ends in the middle of a batch, and the next one with its id begins in the same batch.
      const lives = Array.from({ length: 12 }, () => [
        ...Array.from({ length: 60 }, (_, index) => view(index * 5)),
        leadRemoved('ada', 300),
      ]).flat();
      let next = 0;
      for (let from = 0; from < lives.length; from += 25) {
        next = await fold(next, ...lives.slice(from, from + 25));
        await store(next);
      }
    } finally {
      folded.abort();
      await reading;
    }
    expect(readings).toBeGreaterThan(0);
  }));

test('names are those of the leads that are there', () =>
  folding(async ({ fold, reader }) => {
    const bob = idOf('bob');
    const fields: records.LeadScored['fields'] = [{ field: 'name', value: 'Bob', at }];
    await fold(0, view(0), view(0, { fields }, 'bob'));
    expect(await reader.names(ouId, [bob, idOf('nobody'), ada.lead_id])).toEqual(
      new Map([
        [ada.lead_id, 'ada@example.com'],
        [bob, 'Bob'],
      ]),
    );
  }));
