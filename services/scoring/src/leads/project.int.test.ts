// The fold's laws on a real database: whichever leads are removed and begin anew, however the log is cut into batches, and
// whenever the process is killed, the same documents come of it.
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { leadIdOf } from '@lead-scoring/contracts';
import { connectReadModel, databaseName, ensureCollections, type ReadModel } from '@lead-scoring/read-model';
import { crashing } from '@lead-scoring/read-model/testing';
import { createLogger } from '@lead-scoring/service';
import fc from 'fast-check';
import { decideLeads } from '../scores/decide.js';
import type { LeadCause } from '../scores/events.js';
import { deleted, ingested, ouId } from '../testing/builders.js';
import { viewRules } from '../testing/view-rules.js';
import { histograms, leadAliases, leads, timeline } from './model.js';
import { createLeadProjection, type FoldedLeadEvent } from './project.js';

const collections = [leads, leadAliases, timeline, histograms];

/** What is decided on these, as it is on the log. */
function logOf(causes: readonly LeadCause[]): FoldedLeadEvent[] {
  return decideLeads(causes, () => null, viewRules).map((event, index) => {
    // Between the records of two transactions there is one of the log's own.
    const offset = index * 2;
    return event.type === 'LeadRemoved'
      ? { ...event, offset }
      : { ...event, json: Buffer.from(JSON.stringify(event.payload)), offset };
  });
}

interface Step {
  /** How many records more are folded. */
  size: number;
  /** Writes after which the process is killed. */
  killedAfter: number;
  /** Whether what is folded is kept in mind: otherwise it is folded again. */
  isStored: boolean;
}

async function folded(log: readonly FoldedLeadEvent[], steps: readonly Step[]) {
  const readModel = await throwaway();
  // Less than there are leads: what is in hand is not all that there is.
  const open = (model: ReadModel) => createLeadProjection(model, { partition: 0, cachedLeads: 2 });
  try {
    let [from, to] = [0, 0];
    for (const { size, killedAfter, isStored } of steps) {
      to = Math.min(log.length, to + size);
      const isFolded = await open(crashing(readModel, killedAfter))
        .fold(log.slice(from, to))
        .then(
          () => true,
          () => false,
        );
      if (isFolded && isStored) from = to;
    }
    await open(readModel).fold(log.slice(from));
    const documents: Record<string, unknown[]> = {};
    for (const { name } of collections)
      documents[name] = JSON.parse(
        JSON.stringify(await readModel.db.collection(name).find().sort({ _id: 1 }).toArray()),
      ) as unknown[];
    return documents;
  } finally {
    await readModel.patiently((db) => db.dropDatabase());
    await readModel.close();
  }
}

async function throwaway(): Promise<ReadModel> {
  const readModel = await connectReadModel(
    {
      uri: process.env.MONGODB_URI ?? '',
      database: databaseName(`scoring-fold-${randomUUID().slice(0, 8)}`, 'scoring'),
    },
    { logger: createLogger({ name: 'test', level: 'silent' }) },
  );
  await ensureCollections(readModel, collections);
  return readModel;
}

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
      })
      .map(({ lead, cookie, types }): LeadCause => ({
        type: 'EventsIngested',
        payload: ingested(
          lead,
          types.map((event_type) => ({ event_type })),
          {
            lead_id: leadIdOf(ouId, 'email', email(lead).alias),
            aliases: [email(lead), ...(cookie === null ? [] : [{ alias_kind: 'cookie', alias: cookie }])],
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
const step = fc.record({
  size: fc.integer({ min: 1, max: 12 }),
  killedAfter: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constant(Infinity)),
  isStored: fc.boolean(),
});

test('any cut of the log into batches, killed at any write, gives the same documents as one record after the other', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(cause, { minLength: 10, maxLength: 30 }),
      fc.array(step, { minLength: 3, maxLength: 10 }),
      async (causes, steps) => {
        const log = logOf(causes);
        const oneByOne = log.map(() => ({ size: 1, killedAfter: Infinity, isStored: true }));
        const documents = await folded(log, oneByOne);
        const left = new Map<string, number>();
        for (const { type, payload } of log)
          if (type === 'LeadRemoved') left.delete(payload.lead_id);
          else left.set(payload.lead_id, payload.score);
        expect(documents.leads?.map((lead) => (lead as { score: number }).score).sort()).toEqual(
          [...left.values()].sort(),
        );
        expect(await folded(log, steps)).toEqual(documents);
      },
    ),
    { numRuns: 10 },
  );
}, 180_000);
