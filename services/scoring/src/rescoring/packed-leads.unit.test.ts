// Prepared leads as they are stored: nothing of them is lost, and no document becomes too large for the database.
import { describe, expect, test } from '@jest/globals';
import { packedLeads, unpackedLeads } from './documents.js';
import type { PreparedLead } from './state-model.js';

const prepared = (number: number, text = ''): PreparedLead => ({
  lead_id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  state: { score: number, rulesets: [], last_scored_at: text },
  parts: { matches: [], others: [{ reason: 'rescored', points: number }] },
  isSame: number % 2 === 0,
  hasSameParts: true,
});

describe('packed leads', () => {
  test('are as they were, in their order, and say how many they are', () => {
    const leads = Array.from({ length: 450 }, (_, number) => prepared(number));
    const packed = packedLeads(leads);
    expect(packed.length).toBeGreaterThan(1);
    expect(packed.reduce((sum, { count }) => sum + count, 0)).toBe(leads.length);
    expect(packed.flatMap((some) => unpackedLeads(some.packed))).toEqual(leads);
    expect(packed.map(({ first }) => first)).toEqual(
      packed.map((some) => unpackedLeads(some.packed)[0]?.lead_id),
    );
  });

  test('are fewer to a document the larger they are', () => {
    const large = Array.from({ length: 20 }, (_, number) => prepared(number, 'x'.repeat(100_000)));
    for (const { count } of packedLeads(large)) expect(count).toBeLessThanOrEqual(5);
  });

  test('of nobody are nothing', () => {
    expect(packedLeads([])).toEqual([]);
  });
});
