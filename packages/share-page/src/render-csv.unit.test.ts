// The table for spreadsheets is complete, and no cell runs as a formula.
import { expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import {
  driver,
  sharedAccountScore,
  sharedDeals,
  sharedExplanation,
  sharedProfile,
} from './testing/shared-explanations.js';
import { renderCsv } from './render-csv.js';

const rowsOf = (csv: string): Record<string, string>[] => parse(csv, { columns: true, bom: true });

test('every driver is a row, with what holds of the whole on it', () => {
  const shared = sharedExplanation();
  const rows = rowsOf(renderCsv(shared));
  expect(rows).toHaveLength(shared.top_drivers.length);
  expect(rows[0]).toEqual({
    lead_name: 'Ada Lovelace',
    score: '82',
    decay_applied: '-3',
    range_hours: '720',
    computed_at: shared.computed_at,
    rule_id: 'rule-Page View-15',
    event_type: 'Page View',
    label: '',
    filter_label: 'path contains "/pricing"',
    count: '3',
    weight: '15',
    total: '45',
    adjustment: '',
    score_type: 'engagement',
    account_name: '',
    changed_at: '',
    change_points: '',
    change: '',
  });
  expect(rows[2]).toMatchObject({ weight: '-20', total: '-20' });
});

test('a rule that has a label has it in its row', () => {
  const shared = sharedExplanation({ top_drivers: [{ ...driver('Page View', 1, 5), label: 'Pricing' }] });
  expect(rowsOf(renderCsv(shared))[0]).toMatchObject({ event_type: 'Page View', label: 'Pricing' });
});

test('points that limits held back are rows too, so that the totals add up', () => {
  const shared = sharedExplanation({
    top_drivers: [{ ...driver('Page View', 5, 10), label: 'Pricing', counted_total: 30 }],
    adjustments: [
      {
        reason: 'capped_by_rule',
        points: -20,
        rule_id: 'rule-Page View-10',
        label: 'Pricing',
        text: 'Pricing: 3 of 5 counted, at most 3 a lead',
      },
      { reason: 'held_by_ruleset', points: -5, label: '=Web', text: '=Web: 5 points held back' },
    ],
  });
  const rows = rowsOf(renderCsv(shared));
  expect(rows.map(({ total }) => total)).toEqual(['50', '-20', '-5']);
  expect(rows[1]).toMatchObject({
    lead_name: 'Ada Lovelace',
    rule_id: 'rule-Page View-10',
    label: 'Pricing',
    event_type: '',
    adjustment: 'Pricing: 3 of 5 counted, at most 3 a lead',
  });
  expect(rows[2]).toMatchObject({ label: "'=Web", adjustment: "'=Web: 5 points held back" });
});

test('a score without drivers is one row', () => {
  expect(rowsOf(renderCsv(sharedExplanation({ top_drivers: [] })))).toEqual([
    expect.objectContaining({ lead_name: 'Ada Lovelace', score: '82', event_type: '', total: '' }),
  ]);
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx'])('the name %j is no formula', (name) => {
  const [row] = rowsOf(
    renderCsv(sharedExplanation({ lead_name: name, top_drivers: [driver(name, 1, 1, name)] })),
  );
  expect(row).toMatchObject({ lead_name: `'${name}`, event_type: `'${name}`, filter_label: `'${name}` });
});

test('lines, quotes and commas in names stay in their cell', () => {
  const name = 'a,"b"\r\nc; d';
  expect(rowsOf(renderCsv(sharedExplanation({ lead_name: name })))[0]).toMatchObject({ lead_name: name });
});

/** The columns that only rows of changes have. */
const changesIn = (rows: Record<string, string>[]) =>
  rows.flatMap(({ total, rule_id, changed_at, change_points, change }) =>
    change === '' ? [] : [[total, rule_id, changed_at, change_points, change]],
  );

test('of a deal score every rule that deals meet, every other sum and every change is a row, and the totals add up to the score', () => {
  const shared = sharedDeals();
  const rows = rowsOf(renderCsv(shared));
  expect(rows.map(({ score_type }) => score_type)).toEqual(Array.from({ length: 7 }, () => 'deal'));
  expect(changesIn(rows)).toEqual([
    ['', '', '2026-11-12T09:00:00.000Z', '-40', 'deal D-2 began to meet "Lost deal" (stage is "lost").'],
    ['', '', '2026-11-03T09:00:00.000Z', '50', 'deal D-1 began to meet "Won deal" (stage is "won").'],
  ]);
  expect(rows.reduce((sum, { total }) => sum + Number(total), 0)).toBe(shared.score);
});

test('of a profile score every rule that holds and every change is a row in words, and the totals add up to the score', () => {
  const shared = sharedProfile();
  const [change] = shared.profile_entries ?? [];
  const rows = rowsOf(
    renderCsv({ ...shared, profile_entries: change && [{ ...change, rule_id: 'rule-private' }] }),
  );
  expect(changesIn(rows)).toEqual([
    [
      '',
      'rule-private',
      '2026-11-12T09:00:00.000Z',
      '-10',
      'the profile began to meet "Private address" (email_domain is one of "gmail.com", "gmx.de").',
    ],
  ]);
  expect(
    rows
      .filter(({ change: words }) => words === '')
      .map(({ score_type, filter_label, adjustment }) => [score_type, filter_label || adjustment]),
  ).toEqual([
    ['profile', 'title is one of "VP", "Director"'],
    ['profile', 'employees is at least 50'],
    ['profile', 'email_domain is one of "gmail.com", "gmx.de"'],
    ['profile', 'Fit: 5 points held back, at most 40 a lead'],
  ]);
  expect(rows.reduce((sum, { total }) => sum + Number(total), 0)).toBe(shared.score);
});

test('of an account score the points of its leads together, every rule that it meets and what limits hold are rows that add up to the score', () => {
  const shared = sharedAccountScore();
  const rows = rowsOf(renderCsv(shared));
  expect(
    rows.map(({ account_name, filter_label, adjustment, total }) => [
      account_name,
      filter_label || adjustment,
      total,
    ]),
  ).toEqual([
    ['Analytical Engines Ltd', 'leads is at least 2', '20'],
    ['Analytical Engines Ltd', 'industry is "software"', '10'],
    ['Analytical Engines Ltd', 'country is "Atlantis"', '-15'],
    ['Analytical Engines Ltd', 'the sum of the 2 highest scores of its 3 leads.', '102'],
    ['Analytical Engines Ltd', 'Companies: 5 points held back, at most 10 an account.', '-5'],
  ]);
  expect(rows.reduce((sum, { total }) => sum + Number(total), 0)).toBe(shared.score);
});
