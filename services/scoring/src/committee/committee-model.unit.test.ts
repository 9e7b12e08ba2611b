import { describe, expect, test } from '@jest/globals';
import { committeeRoles } from '@lead-scoring/contracts';
import { idOf } from '../testing/builders.js';
import { committeeOf, type Person } from './committee-model.js';

const silentBefore = '2026-06-01T00:00:00.000Z';
const hot = { id: idOf('Hot'), name: 'Hot', min_score: 50, max_score: null, color: '#e8590c' };

const person = (name: string, title: string | null, more: Partial<Person> = {}): Person => ({
  lead_id: idOf(name),
  name,
  title,
  score: 10,
  last_activity_at: '2026-06-02T00:00:00.000Z',
  ...more,
});
const committee = (...people: Person[]) => committeeOf(people, { levels: [hot], silentBefore });
const roleIn = (found: ReturnType<typeof committee>, role: string) =>
  found.roles.find((one) => one.role === role);

describe('a role', () => {
  test('lists its leads with score, level, engagement and the words that said the role', () => {
    const found = committee(person('Ada', 'VP Sales', { score: 60 }), person('Bob', 'Director'));
    expect(roleIn(found, 'decision_maker')).toEqual({
      role: 'decision_maker',
      status: 'engaged',
      leads: 2,
      active: 2,
      last_activity_at: '2026-06-02T00:00:00.000Z',
      data: [
        {
          lead_id: idOf('Ada'),
          name: 'Ada',
          title: 'VP Sales',
          matched: 'vice president',
          score: 60,
          level: { id: hot.id, name: 'Hot', color: '#e8590c' },
          last_activity_at: '2026-06-02T00:00:00.000Z',
          engagement: 'active',
        },
        expect.objectContaining({ name: 'Bob', level: null, matched: 'director' }),
      ],
    });
  });

  test('is silent where none of its leads had an event since, and engaged where one had at that very moment', () => {
    const before = '2026-05-31T23:59:59.999Z';
    const silent = committee(person('Ada', 'CFO', { last_activity_at: before }));
    expect(roleIn(silent, 'finance')).toMatchObject({ status: 'silent', leads: 1, active: 0 });
    expect(silent.gaps).toContainEqual({
      role: 'finance',
      gap: 'silent',
      text: 'No lead with the title of finance is active: 1, the last on 2026-05-31.',
    });
    const engaged = committee(
      person('Ada', 'CFO', { last_activity_at: before }),
      person('Bob', 'Accountant', { last_activity_at: silentBefore }),
    );
    expect(roleIn(engaged, 'finance')).toMatchObject({ status: 'engaged', leads: 2, active: 1 });
    expect(engaged.gaps.map(({ role }) => role)).not.toContain('finance');
  });

  test('counts all of its leads, and shows the first 25', () => {
    const found = committee(...Array.from({ length: 30 }, (_, index) => person(String(index), 'Engineer')));
    expect(roleIn(found, 'technical')).toMatchObject({ leads: 30, active: 30, data: { length: 25 } });
  });
});

test('an account without leads lacks every role, and names each', () => {
  const { gaps, roles, other } = committee();
  expect(gaps.map(({ role, gap }) => [role, gap])).toEqual(committeeRoles.map((role) => [role, 'missing']));
  expect(gaps[0]?.text).toBe('No lead has the title of a decision maker.');
  expect(roles.map(({ last_activity_at }) => last_activity_at)).toEqual(committeeRoles.map(() => null));
  expect(other).toEqual({ leads: 0, active: 0, last_activity_at: null, data: [] });
});

test('leads without a title, or with one that says no role, are listed apart', () => {
  const found = committee(person('Ada', null), person('Bob', 'Geschäftsführer'));
  expect(found.other).toMatchObject({
    leads: 2,
    data: [
      { name: 'Ada', title: null, matched: null },
      { name: 'Bob', matched: null },
    ],
  });
  expect(found.gaps).toHaveLength(committeeRoles.length);
});
