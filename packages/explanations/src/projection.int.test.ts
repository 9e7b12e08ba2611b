// Laws of the projection on a real database: folding twice equals folding once, and the log may be cut into any
// batches.
import { expect, test } from '@jest/globals';
import { openFollowerPartition } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import type { FoldedRecord } from '@lead-scoring/event-log';
import { crashing, foldedRecord } from '@lead-scoring/testing/fold-laws';
import fc from 'fast-check';
import { accountExplanationCollections, explanationProjection } from './projection.js';
import {
  accountRuleCreated,
  accountScored,
  leadContributed,
  leadRemoved,
  idOf,
  leadScored,
  levelsSet,
  ruleCreated,
  rulesetCreated,
} from '@lead-scoring/scoring-domain/testing';
import { inThrowawayReadModel } from './testing/throwaway.js';

const log: FoldedRecord[] = [
  foldedRecord(records.rulesetCreated, rulesetCreated()),
  ...['pricing', 'careers'].map((name) => foldedRecord(records.ruleCreated, ruleCreated(name, 5))),
  foldedRecord(records.engagementLevelsSet, levelsSet([['Hot', 5, null]])),
  foldedRecord(records.engagementLevelsSet, levelsSet([['Hot', 8, null]])),
  ...Array.from({ length: 12 }, (_, index) =>
    foldedRecord(
      records.leadScored,
      leadScored(
        ['ada', 'bob', 'cy'][index % 3] ?? '',
        {
          rule: index % 2 === 0 ? 'pricing' : 'careers',
          points: 5,
          // Some decisions change no score, and are not stored.
          times: index % 4 === 3 ? 0 : 1,
          previous: 5 * Math.floor(index / 3),
        },
        { event_count: 1, decided_at: `2026-01-01T12:00:${String(index).padStart(2, '0')}.000Z` },
      ),
    ),
  ),
  // A score change without an event.
  foldedRecord(
    records.leadScored,
    leadScored('ada', { rule: 'pricing', points: 5, times: 0, previous: 15 }, { event_count: 1, score: 12 }),
  ),
  foldedRecord(records.accountRuleCreated, accountRuleCreated('several', 20)),
  foldedRecord(records.leadContributed, leadContributed('ada', 'acme.com', 12)),
  foldedRecord(
    records.accountScored,
    accountScored('acme.com', {
      ...{ leads: 1, account_name: 'Acme' },
      adjustments: [{ reason: 'leads', points: 12 }],
    }),
  ),
  foldedRecord(
    records.accountScored,
    accountScored('acme.com', {
      ...{ leads: 2, account_name: 'Acme Engines', previous: 12 },
      adjustments: [
        { reason: 'leads', points: 5 },
        {
          ...{ reason: 'account_rule', points: 20, rule_version: 1 },
          ...{ rule_id: idOf('several'), ruleset_id: idOf('account ruleset') },
        },
        { reason: 'held_by_ruleset', points: -3, ruleset_id: idOf('account ruleset') },
      ],
    }),
  ),
  // An account that loses its last lead, and begins anew.
  ...[1, 0, 1].map((leads, index) =>
    foldedRecord(
      records.accountScored,
      accountScored('looms.com', {
        ...{ leads, previous: index === 1 ? 5 : 0 },
        adjustments: [{ reason: 'leads', points: leads === 0 ? -5 : 5 }],
      }),
    ),
  ),
  foldedRecord(records.leadContributed, leadContributed('ada', 'looms.com', 12)),
  // An account that loses its last lead for ever.
  ...[1, 0].map((leads) =>
    foldedRecord(
      records.accountScored,
      accountScored('mills.com', { leads, adjustments: [{ reason: 'leads', points: leads === 0 ? -5 : 5 }] }),
    ),
  ),
  // A lead without points.
  foldedRecord(
    records.leadScored,
    leadScored('dan', { rule: 'pricing', points: 5, times: 0 }, { event_count: 1 }),
  ),
].map((record, offset) => ({ ...record, offset: BigInt(offset * 2) }));

interface Batch {
  records: FoldedRecord[];
  /** Whether the batch is folded by a newly opened state. */
  afresh: boolean;
  /** Number of writes after which the process is killed. The next batch is folded by a new state. */
  killedAfter?: number;
}

function folded(batches: readonly Batch[]): Promise<Record<string, unknown[]>> {
  return inThrowawayReadModel(async (readModel) => {
    // Fewer cached leads than there are leads.
    const projection = explanationProjection({
      name: 'test-explanations',
      cachedLeads: 2,
      keepsAccounts: true,
    });
    let process = crashing(readModel, Infinity);
    let state = openFollowerPartition(projection, process, 0);
    const openAnew = async (killedAfter = Infinity) => {
      await process.ended();
      process = crashing(readModel, killedAfter);
      state = openFollowerPartition(projection, process, 0);
    };
    for (const { records: together, afresh, killedAfter } of batches) {
      if (afresh || killedAfter !== undefined) await openAnew(killedAfter);
      await state.fold(together).catch((error: unknown) => {
        if (killedAfter === undefined) throw error;
      });
      if (killedAfter !== undefined) await openAnew();
    }
    const documents: Record<string, unknown[]> = {};
    for (const { name } of accountExplanationCollections)
      documents[name] = JSON.parse(
        JSON.stringify(await readModel.db.collection(name).find().sort({ _id: 1 }).toArray()),
      ) as unknown[];
    return documents;
  });
}

test('any cut of the log into batches, with any of them folded again, gives the same documents', async () => {
  const whole = await folded([{ records: log, afresh: true }]);
  expect(whole.leads).toHaveLength(4);
  expect(whole.decisions).toHaveLength(11);
  expect(whole.accounts).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: 'Acme Engines', score: 34, leads: 2, leads_points: 17 }),
      expect.objectContaining({ name: 'looms.com', score: 5, leads: 1, given: [], held: [] }),
    ]),
  );
  expect(whole.accounts).toHaveLength(2);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 4 })), {
        minLength: 20,
        maxLength: 20,
      }),
      async (cuts) => {
        const batches: Batch[] = [];
        let from = 0;
        for (const [size, back] of cuts) {
          if (from >= log.length) break;
          // As after a crash between the fold and its checkpoint: some folded records are folded again.
          batches.push({ records: log.slice(Math.max(0, from - back), from + size), afresh: back > 0 });
          from += size;
        }
        if (from < log.length) batches.push({ records: log.slice(from), afresh: false });
        expect(await folded(batches)).toEqual(whole);
      },
    ),
    { numRuns: 8 },
  );
}, 120_000);

const times = fc.record({
  size: fc.integer({ min: 1, max: 8 }),
  killedAfter: fc.integer({ min: 0, max: 8 }),
});

test('leads that are removed and begin anew: any cut, killed at any write, gives the same as one record after the other', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom('ada', 'bob', 'cy'), fc.integer({ min: -1, max: 2 })), {
        minLength: 12,
        maxLength: 24,
      }),
      fc.array(times, { minLength: 3, maxLength: 8 }),
      async (happened, kills) => {
        const scores = new Map<string, number>();
        const recorded = happened.flatMap(([lead, what]): FoldedRecord[] => {
          const previous = scores.get(lead);
          if (what >= 0) {
            const scored = { rule: 'pricing', points: 5, times: what, previous: previous ?? 0 };
            scores.set(lead, (previous ?? 0) + 5 * what);
            return [
              foldedRecord(records.leadScored, leadScored(lead, scored, { event_count: 1 })),
              ...(what > 0
                ? [
                    foldedRecord(
                      records.leadContributed,
                      leadContributed(lead, what === 1 ? 'acme.com' : 'looms.com', 5),
                    ),
                  ]
                : []),
            ];
          }
          scores.delete(lead);
          return previous === undefined
            ? []
            : [foldedRecord(records.leadRemoved, leadRemoved(lead, previous))];
        });
        const all = recorded.map((record, index) => ({ ...record, offset: BigInt(index * 2) }));
        const batches: Batch[] = [];
        let [from, to] = [0, 0];
        for (const { size, killedAfter } of kills) {
          to = Math.min(all.length, to + size);
          batches.push({ records: all.slice(from, to), afresh: true, killedAfter });
          // Whether or not the process is killed, records of the interrupted batch are folded again, earlier ones are
          // not.
          batches.push({ records: all.slice(from, to), afresh: true });
          from = Math.max(from, to - 3);
        }
        batches.push({ records: all.slice(from), afresh: true });
        const oneByOne = all.map((record) => ({ records: [record], afresh: false }));
        const documents = await folded(oneByOne);
        expect(documents.leads).toHaveLength(scores.size);
        expect(await folded(batches)).toEqual(documents);
      },
    ),
    { numRuns: 8 },
  );
}, 120_000);
