// The laws of the fold on a real database: for any removals, new leads, changes of deal scores and times at which decay is due, any
// cut of the log into batches and a kill at any write, the documents are the same.
import { expect, test } from '@jest/globals';
import { leadIdOf, records } from '@lead-scoring/contracts';
import type { FoldedRecord } from '@lead-scoring/event-log';
import {
  anyStep,
  crashing,
  foldedInSteps,
  foldedRecord,
  inThrowawayReadModel,
  oneByOne,
  type FoldStep,
} from '@lead-scoring/testing/fold-laws';
import { visitPoints } from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import { gainLists } from '../gains/documents.js';
import { GainTally } from '../gains/packed-gains-model.js';
import { decideLeads } from '../scores/decide.js';
import type { LeadCause, LeadEvent } from '../scores/messages.js';
import { dueLeads } from '../decays/due-leads.js';
import { at, deleted, idOf, ingested, ouId } from '../testing/builders.js';
import { viewRules } from '../testing/view-rules.js';
import { histograms, leadAliases, leads, timeline, type LeadDocument } from './documents.js';
import { OpenLeads } from './open-leads.js';
import { scoreRanks } from './score-ranks.js';
import { openPages, textPages, textPostings, type TextIndexSize } from '../text-index/documents.js';
import { indexedTexts, slotsOfPages, storedSlots, textsOfLeads } from '../testing/stored-texts.js';
import { causedEvents } from '../testing/caused-events.js';

const collections = [
  ...[leads, leadAliases, timeline, histograms, gainLists, dueLeads],
  ...[scoreRanks.profile, scoreRanks.deal],
  ...[openPages, textPages, textPostings],
];

/** Blocks that are soon full. */
const textIndexSize: TextIndexSize = { textsPerPage: 2, pagesPerBlock: 4 };

/** What a deal gives a lead from now on. */
interface Dealt {
  readonly deal_id: string;
  readonly score: number;
}

/** When decay is due by a decision, and what schedules it anew after the decision. */
interface Fading {
  /** Absent: the OU has no decay rules; null: never. */
  readonly decay_due_at?: string | null;
  readonly scheduled?: { readonly isWeekly: boolean; readonly isOfLead: boolean };
}

const weekly: records.DecaysScheduled['decays'][number] = {
  ...{ rule_id: idOf('Weekly'), rule_version: 1, mode: 'inactivity_points', points: -5 },
  ...{ interval_days: 7, floor: 0, since: at },
};

/**
 * The records of the decisions on these causes; each decision on events may be followed by one on a deal score, and by one on when
 * decay is due.
 */
function logOf(
  causes: readonly LeadCause[],
  { dealt = [], fading = [] }: { dealt?: readonly (Dealt | null)[]; fading?: readonly Fading[] } = {},
): FoldedRecord[] {
  const log: FoldedRecord[] = [];
  // Offsets have gaps: between the records of two transactions there is a commit marker.
  const offset = () => log.length * 2;
  const deals = new Map<string, Map<string, number>>();
  for (const [index, { type, payload }] of causedEvents(
    decideLeads(causes, () => null, viewRules),
  ).entries()) {
    if (type === 'LeadRemoved') {
      log.push(foldedRecord(records.leadRemoved, payload, offset()));
      deals.delete(payload.lead_id);
      continue;
    }
    const { scheduled, ...due } = fading[index] ?? {};
    log.push(foldedRecord(records.leadScored, { ...payload, ...due }, offset()));
    if (scheduled) log.push(foldedRecord(records.decaysScheduled, scheduling(payload, scheduled), offset()));
    const change = dealt[index];
    const known = deals.get(payload.lead_id) ?? new Map<string, number>();
    const points = change ? change.score - (known.get(change.deal_id) ?? 0) : 0;
    if (!change || points === 0) continue;
    const previous_score = sumOf(known);
    deals.set(payload.lead_id, known.set(change.deal_id, change.score));
    const adjusted: records.ScoreAdjusted = {
      ...{ ou_id: ouId, lead_id: payload.lead_id, score_type: 'deal', configuration_version: 1 },
      ...{ previous_score, score: previous_score + points, decided_at: at, fire_triggers: true },
      adjustments: [{ reason: 'deal', deal_id: change.deal_id, points }],
    };
    log.push(foldedRecord(records.scoreAdjusted, adjusted, offset()));
  }
  return log;
}

function scheduling(
  { lead_id }: records.LeadScored,
  { isWeekly, isOfLead }: NonNullable<Fading['scheduled']>,
): records.DecaysScheduled {
  return {
    ...{ ou_id: ouId, partition: 0, configuration_version: 1, after: null, to: null },
    decays: isWeekly ? [weekly] : [],
    ...(isOfLead && { only: [lead_id] }),
  };
}

function sumOf(scores: ReadonlyMap<string, number>): number {
  return [...scores.values()].reduce((sum, score) => sum + score, 0);
}

const payloadOf = ({ payload }: FoldedRecord) => payload as LeadEvent['payload'];
const payloadsOf = (log: readonly FoldedRecord[]) =>
  log.filter(({ type }) => type !== records.decaysScheduled.type).map(payloadOf);

const email = (name: string) => ({ alias_kind: 'email', alias: `${name}@example.com` });
const leadName = fc.constantFrom('ada', 'bob', 'cy');
const cause: fc.Arbitrary<LeadCause> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record({
        lead: leadName,
        cookie: fc.option(fc.constantFrom('1', '2')),
        types: fc.array(fc.constantFrom('Page View', 'Email Open'), { minLength: 1, maxLength: 3 }),
        // Their events are of several hours; those of before the kept hours make no gains.
        hour: fc.constantFrom('2026-01-01T09', '2026-01-01T10', '2026-01-01T11', '2025-12-01T11'),
        name: fc.option(fc.constantFrom('Ada', 'Bob Bobson', 'Cy\nCyson', 'ada@example.com')),
        named: fc.integer({ min: 10, max: 59 }),
      })
      .map(({ lead, cookie, types, hour, name, named }): LeadCause => ({
        type: 'EventsIngested',
        payload: ingested(
          lead,
          types.map((event_type) => ({ event_type, timestamp: `${hour}:00:00.000Z` })),
          {
            lead_id: leadIdOf(ouId, 'email', email(lead).alias),
            aliases: [email(lead), ...(cookie === null ? [] : [{ alias_kind: 'cookie', alias: cookie }])],
            ...(name !== null && {
              fields: [{ field: 'name', value: name, at: `2026-01-01T12:${String(named)}:00.000Z` }],
            }),
          },
        ),
      })),
  },
  {
    weight: 1,
    arbitrary: leadName.map((lead): LeadCause => ({
      type: 'LeadDeleted',
      payload: deleted(lead, { lead_id: leadIdOf(ouId, 'email', email(lead).alias) }),
    })),
  },
);
const dealt = fc.option(
  fc.record({ deal_id: fc.constantFrom('D-1', 'D-2'), score: fc.constantFrom(0, 20, -20, 7) }),
);
const fading: fc.Arbitrary<Fading> = fc
  .record({
    due: fc.constantFrom(undefined, null, '2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'),
    scheduled: fc.option(fc.record({ isWeekly: fc.boolean(), isOfLead: fc.boolean() }), {
      freq: 3,
      nil: undefined,
    }),
  })
  .map(({ due, scheduled }) => ({
    ...(due !== undefined && { decay_due_at: due }),
    ...(scheduled && { scheduled }),
  }));

test('any cut of the log into batches, killed at any write, gives the same documents as one record after the other', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(cause, { minLength: 10, maxLength: 30 }),
      fc.array(dealt, { minLength: 30, maxLength: 30 }),
      fc.array(fading, { minLength: 30, maxLength: 30 }),
      fc.array(anyStep(12, 12), { minLength: 3, maxLength: 10 }),
      async (causes, changes, times, steps) => {
        const log = logOf(causes, { dealt: changes, fading: times });
        const folded = (cut: FoldStep[]) =>
          foldedInSteps({
            collections,
            log,
            steps: cut,
            // Fewer than there are leads, so that not all are in memory; and lists of gains that are soon full.
            open: (readModel) =>
              new OpenLeads(readModel, { partition: 0, cachedLeads: 2, gainsPerList: 2, textIndexSize }),
          });
        const documents = await folded(oneByOne(log));
        const left = new Map<string, number>();
        const dealScores = new Map<string, number>();
        for (const payload of payloadsOf(log)) {
          const { lead_id } = payload;
          if (!('score' in payload)) for (const scores of [left, dealScores]) scores.delete(lead_id);
          else if ('score_type' in payload) dealScores.set(lead_id, payload.score);
          else left.set(lead_id, payload.score);
        }
        expect(documents.leads?.map((lead) => (lead as { score: number }).score).sort()).toEqual(
          [...left.values()].sort(),
        );
        const withDeals = [...dealScores].filter(([, score]) => score !== 0);
        expect(documents.leads?.flatMap((lead) => (lead as LeadDocument).deal_score ?? []).sort()).toEqual(
          withDeals.map(([, score]) => score).sort(),
        );
        expect(gainsIn(documents)).toEqual(gainsOf(log));
        expect(documents.deal_ranks).toHaveLength(withDeals.length);
        expect(entriesIn(documents)).toEqual(entriesOfLeads(documents));
        expect(namedTooLate(documents)).toEqual([]);
        expect(indexedTexts(documents, textIndexSize)).toEqual(textsOfLeads(documents));
        expect(storedSlots(documents, textIndexSize)).toEqual(slotsOfPages(documents, textIndexSize));
        expect(await folded(steps)).toEqual(documents);
      },
    ),
    { numRuns: 10 },
  );
}, 180_000);

/** The gains of leads in stored documents, by their ids; without those that came to nothing. */
function gainsIn({ gain_lists = [], score_histograms = [] }: Record<string, unknown[]>) {
  const tally = new GainTally(0);
  const [statistics] = score_histograms as { gains?: string }[];
  tally.add(Buffer.from(statistics?.gains ?? '', 'base64'));
  for (const { entries } of (gain_lists as { entries: string }[]).toReversed())
    tally.add(Buffer.from(entries, 'base64'));
  return new Map(tally.largest(100).map(({ lead_id, gain }) => [lead_id, gain]));
}

/** The same from the log. */
function gainsOf(log: readonly FoldedRecord[]) {
  const gains = new Map<string, number>();
  for (const payload of payloadsOf(log)) {
    const { lead_id } = payload;
    if (!('score' in payload)) gains.delete(lead_id);
    else if ('scored_events' in payload)
      visitPoints(payload, (points, moment) => {
        if (moment >= '2025-12-25') gains.set(lead_id, (gains.get(lead_id) ?? 0) + points);
      });
  }
  return gains;
}

/** The index of due leads. */
const entriesIn = ({ decay_due_leads = [] }: Record<string, unknown[]>) =>
  (decay_due_leads as { _id: string; due_at: string; offset: number }[]).map(({ _id, due_at, offset }) => ({
    _id,
    due_at,
    offset,
  }));

type DueLead = Pick<LeadDocument, 'decay' | 'due_entry'> & { _id: string };

/** The same as the leads remember it. */
const entriesOfLeads = ({ leads = [] }: Record<string, unknown[]>) =>
  (leads as DueLead[]).flatMap(({ _id, due_entry }) =>
    due_entry ? [{ _id, due_at: due_entry.at, offset: due_entry.offset }] : [],
  );

/** The leads that the index names after the time at which they are due, or not at all; and those that it names and are never due. */
const namedTooLate = ({ leads = [] }: Record<string, unknown[]>) =>
  (leads as DueLead[]).filter(({ decay, due_entry }) =>
    decay?.due_at === undefined ? due_entry : !due_entry || due_entry.at > decay.due_at,
  );

test('a lead that is never due has no entry, also when one was stored before a crash and the next batch is longer', async () => {
  const cause: LeadCause = {
    type: 'EventsIngested',
    payload: ingested('ada', [{ event_type: 'Page View' }]),
  };
  const log = logOf([cause, cause], {
    fading: [{ decay_due_at: '2026-02-01T00:00:00.000Z' }, { decay_due_at: null }],
  });
  await inThrowawayReadModel(collections, async (readModel) => {
    const fold = async (records: FoldedRecord[], { killedAt }: { killedAt?: string } = {}) => {
      const opened = new OpenLeads(
        {
          ...readModel,
          collection: (of) => (of.name === killedAt ? crashing(readModel, 0) : readModel).collection(of),
        },
        { partition: 0, cachedLeads: 2 },
      );
      await opened.fold(records);
      await opened.write();
    };
    await expect(fold(log.slice(0, 1), { killedAt: leads.name })).rejects.toThrow();
    const entries = () => readModel.collection(dueLeads).countDocuments();
    expect(await entries()).toBe(1);
    await fold(log);
    expect(await entries()).toBe(0);
  });
}, 60_000);

test('leads that could not be written are the basis of the next decisions, and later writes fail', async () => {
  const log = logOf(
    ['ada', 'bob', 'cy', 'ada'].map((lead) => ({
      type: 'EventsIngested',
      payload: ingested(lead, [{ event_type: 'Page View' }], {
        lead_id: leadIdOf(ouId, 'email', email(lead).alias),
        aliases: [email(lead)],
      }),
    })),
  );
  let seen = 0;
  await foldedInSteps({
    collections,
    log,
    steps: [{ size: log.length, killedAfter: 0, isStored: true }],
    open: (readModel) => {
      const projection = new OpenLeads(readModel, { partition: 0, cachedLeads: 2 });
      let folded: Promise<void> = Promise.resolve();
      return {
        fold: (events) => (folded = projection.fold(events)),
        write: () =>
          projection.write().catch(async (error: unknown) => {
            await folded;
            const leads = await projection.load(log.map(payloadOf));
            expect([...leads.values()].map((lead) => lead?.event_count)).toEqual([2, 1, 1]);
            await expect(projection.write()).rejects.toThrow();
            seen += 1;
            throw error;
          }),
      };
    },
  });
  // Repeated here, because a failed expectation above ends the step only.
  expect(seen).toBe(1);
}, 60_000);
