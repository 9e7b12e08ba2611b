// Searches and lists by a text on a real database give what the naive filter gives, with an index of full blocks, of pages and of open
// pages; and so they do while there is no index yet.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { leadIdOf, records } from '@lead-scoring/contracts';
import { escapeForRegex, type ReadModel } from '@lead-scoring/read-model';
import { foldedRecord, inThrowawayReadModel } from '@lead-scoring/testing/fold-laws';
import fc from 'fast-check';
import { leadOfKey, ouOfLeadKey } from '../keys.js';
import { leadProjection } from '../leads/capability.js';
import { leads, type LeadDocument } from '../leads/documents.js';
import { listFiltered } from '../leads/list-filtered.js';
import { OpenLeads } from '../leads/open-leads.js';
import { everyScores } from '../leads/score-range.js';
import { searchLeads } from '../leads/search.js';
import { decideLeads } from '../scores/decide.js';
import type { LeadCause } from '../scores/messages.js';
import { deleted, idOf, ingested, ouId } from '../testing/builders.js';
import { causedEvents } from '../testing/caused-events.js';
import { viewRules } from '../testing/view-rules.js';
import { indexedTexts, slotsOfPages, storedSlots, type JsonDocuments } from '../testing/stored-texts.js';
import { openPages, standardSize, slotsPerBlock } from './documents.js';
import { findLeadsWithText } from './find-texts.js';

const { collections } = leadProjection({ cachedLeads: 100 });
const otherOu = idOf('another organizational unit');
const count = 2_300;

let readModel: ReadModel;
let stored: LeadDocument[];
let stop: () => void;
let dropped: Promise<void>;
beforeAll(async () => {
  await new Promise<void>((resolve, reject) => {
    dropped = inThrowawayReadModel(collections, async (opened) => {
      readModel = opened;
      await foldAll(opened);
      stored = await opened.collection(leads).find().toArray();
      resolve();
      await new Promise<void>((ended) => (stop = ended));
    });
    dropped.catch(reject);
  });
}, 120_000);
afterAll(async () => {
  stop();
  await dropped;
});

const emailOf = (number: number) => ({
  alias_kind: 'email',
  alias: `Person-${String(number)}@mail${String(number % 7)}.example`,
});

function named(
  number: number,
  [field, value]: ['name' | 'company', string],
  { ou = ouId, minute = 10 }: { ou?: string; minute?: number } = {},
): LeadCause {
  const alias = { ...emailOf(number), alias: emailOf(number).alias.toLowerCase() };
  return {
    type: 'EventsIngested',
    payload: ingested(
      `person ${String(number)}`,
      Array.from({ length: 1 + (number % 3) }, () => ({})),
      {
        ou_id: ou,
        lead_id: leadIdOf(ou, 'email', alias.alias),
        aliases: [alias],
        fields: [{ field, value, at: `2026-01-01T12:${String(minute)}:00.000Z` }],
      },
    ),
  };
}

/** More texts than a block has; some of them of leads that are renamed or deleted afterwards. */
async function foldAll(opened: ReadModel): Promise<void> {
  const numbers = Array.from({ length: count }, (_, number) => number);
  const causes: LeadCause[] = [
    ...numbers.map((number) => named(number, ['company', `Company ${String(number % 50)} ΟΔΟΣ`])),
    ...numbers.slice(0, 40).map((number) => named(number, ['name', `Straße ${String(number)}\nLine`])),
    ...numbers
      .slice(20, 60)
      .map((number) => named(number, ['name', `Renamed ${String(number)}`], { minute: 20 })),
    ...numbers.slice(0, 40).map((number) => named(number, ['company', 'Company 1'], { ou: otherOu })),
    ...numbers.slice(50, 60).map((number): LeadCause => ({
      type: 'LeadDeleted',
      payload: deleted(`person ${String(number)}`, {
        lead_id: leadIdOf(ouId, 'email', emailOf(number).alias.toLowerCase()),
      }),
    })),
  ];
  const log = logOf(causes, 0);
  const projection = new OpenLeads(opened, { partition: 3, cachedLeads: 10_000 });
  for (let from = 0; from < log.length; from += 700) await projection.fold(log.slice(from, from + 700));
  await projection.write();
}

function logOf(causes: readonly LeadCause[], from: number) {
  return causedEvents(decideLeads(causes, () => null, viewRules)).map(({ type, payload }, index) =>
    type === 'LeadRemoved'
      ? foldedRecord(records.leadRemoved, payload, from + index)
      : foldedRecord(records.leadScored, payload, from + index),
  );
}

const idsOf = (documents: readonly LeadDocument[]) => documents.map(({ _id }) => leadOfKey(_id));

/** The naive filter: leads of the OU that contain the text, the highest score first; those with the text as an alias before the others. */
function expected(text: string, all = stored): string[] {
  const pattern = new RegExp(escapeForRegex(text.toLowerCase()), 'iu');
  const ofUnit = all
    .filter(({ _id }) => ouOfLeadKey(_id) === ouId)
    .sort((left, right) => right.score - left.score || (leadOfKey(left._id) < leadOfKey(right._id) ? 1 : -1));
  const isNamed = ({ aliases }: LeadDocument) => aliases.some(({ alias }) => alias === text.toLowerCase());
  const naming = ofUnit.filter(isNamed);
  if (naming.length > 0) return idsOf(naming);
  return idsOf(ofUnit.filter((lead) => pattern.test(lead.search)));
}

/** All pages of a list, by cursors. */
async function allPages(
  read: (
    cursor: string | undefined,
  ) => Promise<{ documents: LeadDocument[]; total: number; next_cursor?: string | undefined }>,
): Promise<{ ids: string[]; total: number }> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await read(cursor);
    ids.push(...idsOf(page.documents));
    cursor = page.next_cursor;
    if (cursor === undefined) return { ids, total: page.total };
  }
}

const searched = (q: string) =>
  allPages((cursor) => searchLeads(readModel, ouId, { q, page: 1, limit: 100, cursor }));

const find = (text: string) =>
  findLeadsWithText(readModel, { ouId, text: text.toLowerCase(), partitions: Promise.resolve([3]) });

/** Parts of texts that leads have, and texts that none has. */
const anyPart = fc
  .record({
    lead: fc.nat(count - 20),
    at: fc.nat(30),
    length: fc.integer({ min: 3, max: 25 }),
    isUpper: fc.boolean(),
  })
  .map(({ lead, at, length, isUpper }) => {
    const lines = stored[lead % stored.length]?.search.split('\n') ?? [];
    const text = (lines[at % lines.length] ?? '').slice(at % 12, (at % 12) + length).trim();
    return isUpper ? text.toUpperCase() : text;
  })
  .filter((text) => text.length >= 3);
const texts = fc.oneof(
  { weight: 5, arbitrary: anyPart },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'nobody',
      'straße 1',
      'STRASSE',
      'οδος',
      'ΟΔΟΣ',
      'renamed 2',
      'line',
      'Person-7@mail0.example',
      'a.c',
    ),
  },
);

test('a search finds what the naive filter finds, in its order, in full blocks, pages and open pages', async () => {
  const pages = await readModel.collection(openPages).find().toArray();
  expect(pages.map(({ is_whole }) => is_whole)).toEqual([true, true]);
  expect(Math.max(...pages.map((page) => page.pages))).toBeGreaterThan(standardSize.pagesPerBlock);
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      const found = await find(text);
      if (found !== null) for (const id of expected(text)) expect(found).toContain(id);
      expect(await searched(text)).toEqual({ ids: expected(text), total: expected(text).length });
    }),
    { numRuns: 40 },
  );
  // For a text in more than 2,000 leads all leads are read, and for a short one.
  expect(await find('mail3.example')).not.toBeNull();
  const inMany = await searched('person');
  expect(inMany).toEqual({ ids: expected('person'), total: expected('person').length });
  expect(inMany.total).toBeGreaterThan(2_000);
  expect(await find('13')).toBeNull();
  expect((await searched('13')).ids).toEqual(expected('13'));
}, 120_000);

test('lists combine a text with a range of scores, in any order and by cursors', async () => {
  const listed = (q: string, sort: 'name' | '-score', low: number) =>
    allPages((cursor) =>
      listFiltered(
        readModel,
        ouId,
        { q, sort, page: 1, limit: 10, cursor, score_type: 'engagement' },
        { ranges: { ...everyScores, engagement: { ...everyScores.engagement, low } } },
      ),
    );
  const low =
    stored.map(({ score }) => score).sort((left, right) => left - right)[Math.floor(count / 2)] ?? 0;
  const matching = stored.filter(
    ({ _id, search, score }) => ouOfLeadKey(_id) === ouId && search.includes('company 13') && score >= low,
  );
  expect(matching.length).toBeGreaterThan(10);
  for (const sort of ['name', '-score'] as const) {
    const { ids, total } = await listed('Company 13', sort, low);
    expect(total).toBe(matching.length);
    expect(ids.sort()).toEqual(idsOf(matching).sort());
  }
}, 60_000);

test('nothing of a deleted lead is in the index', async () => {
  const documents: JsonDocuments = {};
  for (const { name } of collections)
    documents[name] = JSON.parse(
      JSON.stringify(await readModel.db.collection(name).find().toArray()),
    ) as unknown[];
  const ofPartition = indexedTexts(documents, standardSize);
  expect(ofPartition.length).toBeGreaterThan(slotsPerBlock(standardSize));
  expect(ofPartition.filter((text) => text.endsWith('person-55@mail6.example'))).toEqual([]);
  expect(JSON.stringify(documents.text_pages)).not.toContain('person-55@');
  expect(storedSlots(documents, standardSize)).toEqual(slotsOfPages(documents, standardSize));
}, 60_000);

test('where leads were stored before there was an index, it is not used, and searches find the same', async () => {
  await readModel.collection(openPages).deleteMany({});
  expect(await find('person-12')).toBeNull();
  const later = new OpenLeads(readModel, { partition: 3, cachedLeads: 10 });
  await later.fold(logOf([named(count, ['company', 'Late'])], 1_000_000));
  await later.write();
  expect(await find('person-12')).toBeNull();
  const all = await readModel.collection(leads).find().toArray();
  for (const text of ['person-12', 'late', 'renamed'])
    expect((await searched(text)).ids).toEqual(expected(text, all));
}, 60_000);
