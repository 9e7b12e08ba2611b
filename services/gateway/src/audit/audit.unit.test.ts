// The pure parts of the audit: the merge of the services' lists, the lines of CSV, and the counts of refused sign-ins.
import { describe, expect, test } from '@jest/globals';
import {
  auditedServices,
  nameBasedId,
  routeDeclarations,
  type AuditedService,
} from '@lead-scoring/contracts';
import fc from 'fast-check';
import { auditCsvHeader, auditCsvLine } from './entry-lines.js';
import { everyEntry, newestEntries, type ChangesAsked, type ReadEntries } from './merged-entries.js';
import { refusalId, RefusalCounts, type MeantCredential, type RefusalKey } from './refusal-model.js';

type AuditEntry = routeDeclarations.AuditEntry;

const id = nameBasedId('0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e', 'one');
const entryOf = (service: AuditedService, second: number, place: number): AuditEntry => ({
  id: `${service}-${String(place).padStart(4, '0')}`,
  at: `2026-01-31T09:30:${String(second).padStart(2, '0')}.000Z`,
  service,
  ou_id: id,
  kind: 'rule',
  action: 'created',
  subject: { id, name: 'Pricing' },
  actor: { kind: 'token', id, name: 'Ada' },
  address: '203.0.113.7',
  before: null,
  after: { weight: 1 },
});

const newestFirst = (one: AuditEntry, other: AuditEntry) =>
  `${one.at} ${one.id}` < `${other.at} ${other.id}` ? 1 : -1;

/** Services that answer as the real ones do. */
const readFrom =
  (entries: readonly AuditEntry[]): ReadEntries =>
  (service, { before, limit }) =>
    Promise.resolve(
      entries
        .filter((entry) => entry.service === service)
        .filter(({ at, id: one }) => !before || at < before.at || (at === before.at && one < before.id))
        .sort(newestFirst)
        .slice(0, limit),
    );

/** Few seconds, so that many entries have the same time. */
const history = fc
  .array(fc.record({ service: fc.constantFrom(...auditedServices), second: fc.nat(5) }), { maxLength: 60 })
  .map((places) => places.map(({ service, second }, place) => entryOf(service, second, place)));

describe('the lists of the services', () => {
  test('are merged to one, newest first, without a gap or a repeat, by pages of any size', async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.integer({ min: 1, max: 20 }), async (entries, limit) => {
        const read: AuditEntry[] = [];
        let pages = 0;
        for await (const page of everyEntry({ limit }, readFrom(entries))) {
          read.push(...page);
          pages += 1;
          if (pages * limit < entries.length) expect(page).toHaveLength(limit);
        }
        expect(read).toEqual([...entries].sort(newestFirst));
      }),
    );
  });

  test('are not shown when one of them is missing', async () => {
    const away: ReadEntries = (service, asked) =>
      service === 'share' ? Promise.reject(new Error('away')) : readFrom([])(service, asked);
    await expect(newestEntries({ limit: 5 }, away)).rejects.toThrow('away');
  });

  test('are asked with the filters of the request, and for one entry more than a page', async () => {
    const asked: ChangesAsked[] = [];
    await newestEntries({ limit: 5, kind: 'rule' }, (_service, one) => {
      asked.push(one);
      return Promise.resolve([]);
    });
    expect(asked).toEqual(auditedServices.map(() => ({ limit: 6, kind: 'rule' })));
  });
});

describe('a line of CSV', () => {
  test('has a cell for each title', () => {
    const cells = (line: string) => line.trimEnd().split(',');
    expect(cells(auditCsvLine({ ...entryOf('scoring', 1, 1), after: null }))).toHaveLength(
      cells(auditCsvHeader).length,
    );
  });

  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '＝1'])('does not let a spreadsheet run %j', (name) => {
    const line = auditCsvLine({ ...entryOf('scoring', 1, 1), subject: { id, name } });
    expect(line).toContain(`'${name}`);
  });
});

describe('refused sign-ins', () => {
  const { countsPerDay } = routeDeclarations.refusedSignInLimits;
  const credential: MeantCredential = { kind: 'service_account', id, organisationId: id, ouIds: null };
  const day = '2026-01-31';
  const keyOf = (address: string, known = false): RefusalKey => ({
    day,
    address,
    credential: known ? credential : null,
    reason: known ? 'wrong_secret' : 'not_valid',
  });
  const lastAt = `${day}T10:00:00.000Z`;

  test('are each counted, however many come, in bounded memory', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ address: fc.nat(2_000), known: fc.boolean() }), {
          maxLength: 3_000,
          minLength: 1,
        }),
        (refusals) => {
          const counts = new RefusalCounts();
          for (const { address, known } of refusals)
            counts.add({ key: keyOf(String(address), known), count: 1, lastAt });
          const all = [...counts.all.values()];
          expect(all.reduce((sum, { count }) => sum + count, 0)).toBe(refusals.length);
          expect(all.length).toBeLessThanOrEqual(countsPerDay + 2);
        },
      ),
      { numRuns: 20 },
    );
  });

  test('of a known credential keep their places while guesses from many addresses come', () => {
    const counts = new RefusalCounts();
    for (let address = 0; address < 5_000; address += 1)
      counts.add({ key: keyOf(String(address)), count: 1, lastAt });
    counts.add({ key: keyOf('203.0.113.9', true), count: 1, lastAt });
    expect(counts.all.get(refusalId(keyOf('203.0.113.9', true)))).toMatchObject({ count: 1 });
    expect(counts.all.get(refusalId({ ...keyOf(''), address: null, reason: null }))).toMatchObject({
      count: 5_000 - countsPerDay / 2,
    });
  });

  test('add to what the day has already, and take no further place for it', () => {
    const stored = Array.from({ length: countsPerDay / 2 }, (_, address) =>
      refusalId(keyOf(String(address))),
    );
    const counts = new RefusalCounts(new Set(stored));
    counts.add({ key: keyOf('7'), count: 3, lastAt });
    counts.add({ key: keyOf('another'), count: 2, lastAt });
    expect([...counts.all.values()].map(({ key, count }) => [key.address, count])).toEqual([
      ['7', 3],
      [null, 2],
    ]);
  });
});
