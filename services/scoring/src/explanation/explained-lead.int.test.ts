// Reading a lead with its decisions while the lead is removed, on a real database.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import type { Filter, ReadModel } from '@lead-scoring/read-model';
import { foldedRecord } from '@lead-scoring/testing/fold-laws';
import type { ServiceRig } from '@lead-scoring/testing/service-rig';
import { timeline, type TimelineDocument } from '../leads/documents.js';
import { OpenLeads } from '../leads/open-leads.js';
import { decideLeads } from '../scores/decide.js';
import type { LeadCause } from '../scores/messages.js';
import { deleted, idOf, ingested, ouId } from '../testing/builders.js';
import { openScoringRig } from '../testing/rig.js';
import { viewRules } from '../testing/view-rules.js';
import { findExplainedLead } from './explained-lead.js';
import { causedEvents } from '../testing/caused-events.js';

let rig: ServiceRig;
let projection: OpenLeads;
let offset = 0;

beforeAll(async () => {
  rig = await openScoringRig({ partitions: 1 });
  projection = new OpenLeads(rig.readModel, { partition: 0, cachedLeads: 10 });
}, 120_000);

afterAll(() => rig.stop());

const view = (lead: string): LeadCause => ({ type: 'EventsIngested', payload: ingested(lead, [{}]) });
const removal = (lead: string): LeadCause => ({ type: 'LeadDeleted', payload: deleted(lead) });

/** Decides on the records, and stores the decisions. */
async function happen(...causes: LeadCause[]): Promise<void> {
  const before = await projection.load(causes.map(({ payload }) => payload));
  const leadBefore = (ou: string, lead: string) => before.get(`${ou}/${lead}`) ?? null;
  const events = causedEvents(decideLeads(causes, leadBefore, viewRules)).map(({ type, payload }) => {
    offset += 2;
    return type === 'LeadRemoved'
      ? foldedRecord(records.leadRemoved, payload, offset)
      : foldedRecord(records.leadScored, payload, offset);
  });
  await projection.fold(events);
  await projection.write();
}

/** A read model in which these records are decided once, between the first read of the lead and the read of its decisions. */
function interruptedBy(...causes: LeadCause[]): ReadModel {
  let rest = causes;
  return new Proxy(rig.readModel, {
    get: (readModel, property) => {
      if (property !== 'collection') return Reflect.get(readModel, property) as unknown;
      return (declaration: typeof timeline) => {
        const stored = readModel.collection(declaration);
        if (declaration !== timeline) return stored;
        const find = (filter: Filter<TimelineDocument>) => {
          const found = stored.find(filter);
          const toArray = found.toArray.bind(found);
          found.toArray = async () => {
            const happening = rest;
            rest = [];
            await happen(...happening);
            return toArray();
          };
          return found;
        };
        return { find };
      };
    },
  });
}

test('a lead is read with the decisions of its score', async () => {
  await happen(view('ada'), view('ada'));
  const { lead, decisions } = await findExplainedLead(rig.readModel, ouId, idOf('ada'));
  expect(decisions.map(({ score }) => score)).toEqual([10, 20]);
  expect(lead.score).toBe(20);
});

test('a lead that is removed before its decisions are read is not found, instead of having no decisions', async () => {
  await happen(view('bob'));
  const reading = findExplainedLead(interruptedBy(removal('bob')), ouId, idOf('bob'));
  await expect(reading).rejects.toMatchObject({ status: 404, code: 'lead_not_found' });
});

test('a lead that takes the place of a removed one meanwhile has its own score and decisions', async () => {
  await happen(view('cy'), view('cy'));
  const interrupted = interruptedBy(removal('cy'), view('cy'));
  const { lead, decisions } = await findExplainedLead(interrupted, ouId, idOf('cy'));
  expect(lead.score).toBe(10);
  expect(decisions.map(({ score }) => score)).toEqual([10]);
});
