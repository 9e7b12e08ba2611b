// The law of the counts of scored events on a real database: for any removals and new leads with the same ids, any cut of the log
// into batches and a kill at any write, each type has the number of scored events of the leads that are left.
import { expect, test } from '@jest/globals';
import { eventTypeKey, records } from '@lead-scoring/contracts';
import {
  anyStep,
  foldedInSteps,
  foldedRecord,
  inThrowawayReadModel,
  oneByOne,
  type FoldStep,
} from '@lead-scoring/testing/fold-laws';
import type { FoldedRecord } from '@lead-scoring/event-log';
import type { ReadModel } from '@lead-scoring/read-model';
import fc from 'fast-check';
import { leadProjection } from '../leads/capability.js';
import { OpenLeads } from '../leads/open-leads.js';
import { decideLeads } from '../scores/decide.js';
import type { LeadCause } from '../scores/messages.js';
import { causedEvents } from '../testing/caused-events.js';
import { deleted, idOf, ingested, ouId } from '../testing/builders.js';
import { viewRules } from '../testing/view-rules.js';
import { typeScores } from './capability.js';
import { readTypeScores, typeScores as typeScoresDocuments } from './documents.js';

const leads = leadProjection({ cachedLeads: 2 });
const capability = typeScores({ leads });
const collections = [...leads.collections, typeScoresDocuments];

/** Both projections, in the order of the service. */
function open(readModel: ReadModel) {
  const openLeads = new OpenLeads(readModel, { partition: 0, cachedLeads: 2 });
  const counts = capability.open({
    readModel,
    partition: 0,
    eventsDecided: () => 0,
    opened: () => openLeads as never,
  });
  return {
    fold: async (folded: readonly FoldedRecord[]) => {
      await counts.fold(folded);
      await openLeads.fold(folded);
    },
    write: async (awaited: AbortSignal) => {
      await Promise.all([counts.write(awaited), openLeads.write()]);
    },
  };
}

function logOf(causes: readonly LeadCause[]): FoldedRecord[] {
  // Offsets have gaps: between the records of two transactions there is a commit marker.
  return causedEvents(decideLeads(causes, () => null, viewRules)).flatMap(({ type, payload }, index) => {
    if (type === 'LeadScored') return [foldedRecord(records.leadScored, payload, index * 2)];
    return [foldedRecord(records.leadRemoved, payload, index * 2)];
  });
}

/** The scored events of the leads that are left, by the keys of their types. */
function countsOf(log: readonly FoldedRecord[]): Map<string, number> {
  const byLead = new Map<string, string[]>();
  for (const { payload } of log) {
    const event = payload as records.LeadScored | records.LeadRemoved;
    if ('scored_events' in event)
      byLead.set(event.lead_id, [
        ...(byLead.get(event.lead_id) ?? []),
        ...event.scored_events.map(({ event_type }) => eventTypeKey(event_type)),
      ]);
    else byLead.delete(event.lead_id);
  }
  const counts = new Map<string, number>();
  for (const key of [...byLead.values()].flat()) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

const name = fc.constantFrom('ada', 'bob', 'cy');
const cause: fc.Arbitrary<LeadCause> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record({
        lead: name,
        types: fc.array(fc.constantFrom('Page View', 'page_view', 'Email Open'), {
          minLength: 1,
          maxLength: 3,
        }),
      })
      .map(({ lead, types }): LeadCause => ({
        type: 'EventsIngested',
        payload: ingested(
          lead,
          types.map((event_type) => ({ event_type })),
        ),
      })),
  },
  { weight: 1, arbitrary: name.map((lead): LeadCause => ({ type: 'LeadDeleted', payload: deleted(lead) })) },
);

test('any cut of the log into batches, killed at any write, counts the scored events of the leads that are left', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(cause, { minLength: 8, maxLength: 25 }),
      fc.array(anyStep(12, 12), { minLength: 3, maxLength: 8 }),
      async (causes, steps) => {
        const log = logOf(causes);
        const folded = async (cut: readonly FoldStep[]) =>
          (await foldedInSteps({ collections, log, steps: cut, open }))[typeScoresDocuments.name] as {
            events: number;
          }[];
        const documents = await folded(oneByOne(log));
        expect(
          documents
            .map(({ events }) => events)
            .filter((events) => events > 0)
            .sort(),
        ).toEqual([...countsOf(log).values()].sort());
        expect(await folded(steps)).toEqual(documents);
      },
    ),
    { numRuns: 5 },
  );
}, 180_000);

test('both spellings of a type are counted together, and each organizational unit has its own counts', async () => {
  await inThrowawayReadModel(collections, async (readModel) => {
    const state = open(readModel);
    await state.fold(
      logOf([
        {
          type: 'EventsIngested',
          payload: ingested('ada', [{ event_type: 'Page View' }, { event_type: 'page_view' }]),
        },
      ]),
    );
    await state.write(AbortSignal.abort());
    expect(await readTypeScores(readModel, ouId, 'page_view')).toBe(2);
    expect(await readTypeScores(readModel, idOf('another unit'), 'page_view')).toBe(0);
    expect(await readTypeScores(readModel, ouId, 'email_open')).toBe(0);
  });
}, 60_000);
