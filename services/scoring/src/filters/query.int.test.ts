// The database finds the leads of a filter that the evaluator finds: random leads and random filters on a real server.
import { expect, test } from '@jest/globals';
import { nameBasedId } from '@lead-scoring/contracts';
import { matchesResolved, resolveFilter } from '@lead-scoring/scoring-domain';
import {
  filterArbitrary,
  filteredLeadArbitrary,
  filterMoment,
} from '@lead-scoring/scoring-domain/testing/filters';
import { inThrowawayReadModel } from '@lead-scoring/testing/fold-laws';
import { isFullSize } from '@lead-scoring/testing/full-size';
import fc from 'fast-check';
import { leadKeysOf, leadOfKey } from '../keys.js';
import { leads, toLeadDocument, type LeadDocument } from '../leads/documents.js';
import type { Lead } from '../leads/state.js';
import { emptyProfile } from '../profile/state.js';
import { ouId } from '../testing/builders.js';
import { queryOf } from './query.js';

const count = 80;

test('the query of a filter finds the leads that the evaluator finds, and counts them', async () => {
  await inThrowawayReadModel([leads], async (readModel) => {
    const stored = fc
      .sample(filteredLeadArbitrary, { numRuns: count, seed: 20260301 })
      .map(({ profile, ...lead }, index): Lead => ({
        ...lead,
        fields: lead.fields as Lead['fields'],
        ...(profile && { profile: { ...emptyProfile, ...profile } }),
        aliases: lead.aliases.map(({ alias }) => ({ alias_kind: 'external_id', alias })),
        id: nameBasedId(ouId, `lead ${String(index)}`),
        ou_id: ouId,
        first_offset: index,
        offset: index,
      }));
    const collection = readModel.collection(leads);
    await collection.insertMany(stored.map((lead) => toLeadDocument(lead, 0)));
    let found = 0;
    await fc.assert(
      fc.asyncProperty(filterArbitrary, async (filter) => {
        const resolved = resolveFilter(filter, filterMoment);
        const query = { $and: [{ _id: leadKeysOf(ouId) }, queryOf(resolved)] };
        const matches = await collection.find(query).project<Pick<LeadDocument, '_id'>>({ _id: 1 }).toArray();
        const expected = stored.filter((lead) => matchesResolved(resolved, lead)).map(({ id }) => id);
        expect(matches.map(({ _id }) => leadOfKey(_id)).sort()).toEqual(expected.sort());
        expect(await collection.countDocuments(query)).toBe(expected.length);
        found += expected.length;
      }),
      { numRuns: isFullSize ? 2_000 : 150 },
    );
    // The filters are neither all empty nor all full.
    expect(found).toBeGreaterThan(100);
  });
}, 300_000);
