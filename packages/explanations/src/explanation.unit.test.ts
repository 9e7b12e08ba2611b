// Laws of the folds: the stored fields of a lead, and the course of its score.
import { describe, expect, test } from '@jest/globals';
import type { records } from '@lead-scoring/contracts';
import {
  dealDriversOf,
  driversOf,
  emptyConfiguration,
  explainDeals,
  explainScore,
  givenForDeals,
  scoredEventsOf,
  type ScoreDecision,
} from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import { foldAccount, joinAccounts, type LeadAccount } from './account-model.js';
import {
  accountOf,
  at,
  idOf,
  leadContributed,
  leadScored,
  ouId,
  profileScored,
  scoreRescored,
  scoreReset,
} from '@lead-scoring/scoring-domain/testing';
import { foldContributed, foldLead, isStored } from './fold.js';
import { conditionHistory, scoreHistory } from './history-model.js';
import { toLead, toLeadDocument } from './model.js';
import { nameOf, type SharedLead } from './state.js';

const fold = (decisions: readonly records.LeadScored[], from: SharedLead | null = null, offset = 0) =>
  decisions.reduce<SharedLead | null>(
    (lead, decision, index) => foldLead(lead, decision, offset + index, []),
    from,
  );

const named = (value: string, time: string): Partial<records.LeadScored> => ({
  fields: [
    { field: 'company', value: 'Company', at: time },
    { field: 'name', value, at: time },
  ],
});

describe('the lead', () => {
  test('is shown by its first alias until an event gives it a name; the latest by event time counts', () => {
    const one = { rule: 'view', points: 1 };
    const first = fold([leadScored('ada', one)]);
    expect(first && nameOf(first)).toBe('ada@example.com');
    const later = fold([
      leadScored('ada', one),
      leadScored('ada', one, named('Ada Lovelace', '2026-01-03T00:00:00.000Z')),
      leadScored('ada', one, named('A. Byron', '2026-01-02T00:00:00.000Z')),
    ]);
    expect(later && nameOf(later)).toBe('Ada Lovelace');
  });

  test('nothing of it is kept but its name, an alias to be named by, and where it began', () => {
    const lead = fold([leadScored('ada', { rule: 'view', points: 1 }, named('Ada', at))]);
    expect(JSON.stringify(lead)).not.toContain('Company');
    expect(Object.keys(lead ?? {}).sort()).toEqual(
      ['first_alias', 'first_offset', 'given', 'given_name', 'id', 'offset', 'ou_id'].sort(),
    );
  });

  test('what whoever folds wants to tell of is kept as well, the latest by event time', () => {
    const one = (company: string, title: string, time: string) =>
      leadScored(
        'ada',
        { rule: 'view', points: 1 },
        {
          fields: [
            { field: 'company', value: company, at: time },
            { field: 'title', value: title, at: time },
          ],
        },
      );
    const lead = [
      one('Engines', 'Analyst', '2026-01-02T00:00:00.000Z'),
      one('Looms', 'Weaver', '2026-01-01T00:00:00.000Z'),
    ].reduce<SharedLead | null>(
      (known, decision, index) => foldLead(known, decision, index, ['company']),
      null,
    );
    expect(lead?.given).toEqual({ company: { value: 'Engines', at: '2026-01-02T00:00:00.000Z' } });
    expect(lead && toLead(toLeadDocument(lead, 0), { ou_id: lead.ou_id, lead_id: lead.id })).toEqual(lead);
  });

  test('stays as it is, whatever its score, until its name changes', () => {
    const one = { rule: 'view', points: 1 };
    const lead = fold([leadScored('ada', one, named('Ada', at))]);
    expect(fold([leadScored('ada', one, named('Ada', at)), leadScored('ada', one)], lead, 1)).toBe(lead);
    const renamed = leadScored('ada', one, named('Ada Lovelace', '2026-01-03T00:00:00.000Z'));
    expect(fold([leadScored('ada', one), renamed], lead, 1)).toEqual({
      ...lead,
      given_name: { value: 'Ada Lovelace', at: '2026-01-03T00:00:00.000Z' },
      offset: 2,
    });
  });

  test('gets its first alias when there is one', () => {
    const one = { rule: 'view', points: 1 };
    const lead = fold([leadScored('ada', one, { aliases: [] }), leadScored('ada', one)]);
    expect(lead).toMatchObject({ first_alias: 'ada@example.com', first_offset: 0, offset: 1 });
  });

  test('belongs to the account in which it counted last, whatever is decided on it after that', () => {
    const one = { rule: 'view', points: 1 };
    const stored = (lead: SharedLead | null) =>
      lead && toLead(toLeadDocument(lead, 0), { ou_id: lead.ou_id, lead_id: lead.id });
    const lead = fold([leadScored('ada', one)]);
    expect(stored(lead)).not.toHaveProperty('account_id');
    const joined = foldContributed(lead, leadContributed('ada', 'acme.com', 1), 1);
    expect(stored(joined)).toEqual({ ...lead, account_id: accountOf('acme.com').account_id, offset: 1 });
    expect(foldContributed(joined, leadContributed('ada', 'acme.com', 7), 2)).toBe(joined);
    const renamed = fold([leadScored('ada', one, named('Ada', at))], joined, 3);
    expect(renamed?.account_id).toBe(joined?.account_id);
    const moved = foldContributed(renamed, leadContributed('ada', 'looms.com', 7), 4);
    expect(moved?.account_id).toBe(accountOf('looms.com').account_id);
    expect(foldContributed(moved, leadContributed('ada', 'acme.com', 1), 1)).toBe(moved);
    expect(foldContributed(null, leadContributed('ada', 'acme.com', 1), 5)).toBeNull();
  });

  const decision = fc.record({
    points: fc.integer({ min: -50, max: 50 }),
    name: fc.option(fc.constantFrom('Ada', 'Augusta', 'Byron')),
    day: fc.integer({ min: 1, max: 9 }),
  });

  test('folding again what is folded changes nothing, wherever the log is cut', () => {
    fc.assert(
      fc.property(
        fc.array(decision, { minLength: 1, maxLength: 15 }),
        fc.nat(15),
        fc.nat(15),
        (parts, cut, back) => {
          const all = parts.map(({ points, name, day }) =>
            leadScored(
              'ada',
              { rule: 'view', points },
              name === null ? {} : named(name, `2026-01-0${String(day)}T00:00:00.000Z`),
            ),
          );
          const whole = fold(all);
          const until = Math.min(cut, all.length);
          const from = Math.max(0, until - back);
          expect(fold(all.slice(from), fold(all.slice(0, until)), from)).toEqual(whole);
        },
      ),
    );
  });
});

type OfRuleset = { readonly rule_id?: string; readonly ruleset_id: string };
const byId = (one: OfRuleset, other: OfRuleset) =>
  `${one.ruleset_id}${one.rule_id ?? ''}` < `${other.ruleset_id}${other.rule_id ?? ''}` ? -1 : 1;

describe('the account of a lead', () => {
  const decision = fc.record({
    rule: fc.constantFrom('view', 'open', 'form'),
    points: fc.integer({ min: -9, max: 9 }),
    times: fc.nat(3),
    aside: fc.constantFrom(0, 0, 0, -4),
    name: fc.option(fc.constantFrom('Ada', 'Augusta')),
    company: fc.option(fc.constantFrom('Engines', 'Looms')),
    day: fc.integer({ min: 1, max: 9 }),
    version: fc.integer({ min: 1, max: 3 }),
  });
  const logOf = (all: readonly (typeof decision extends fc.Arbitrary<infer One> ? One : never)[]) => {
    let previous = 0;
    return all.map(({ rule, points, times, aside, name, company, day, version }) => {
      const score = previous + points * times + aside;
      const one = leadScored(
        'ada',
        { rule, points, times, previous },
        {
          score,
          event_count: Math.max(1, times),
          configuration_version: version,
          fields: Object.entries({ name, company }).flatMap(([field, value]) =>
            value === null
              ? []
              : [
                  {
                    field: field as 'name' | 'company',
                    value,
                    at: `2026-01-0${String(day)}T00:00:00.000Z`,
                  },
                ],
          ),
        },
      );
      previous = score;
      return one;
    });
  };
  const accountOf = (log: readonly ScoreDecision[], from = 0) =>
    log.reduce<LeadAccount | null>((known, one, index) => foldAccount(known, one, from + index), null);

  test('is that of its parts, wherever the log is cut', () => {
    fc.assert(
      fc.property(fc.array(decision, { minLength: 1, maxLength: 12 }), fc.nat(11), (all, cut) => {
        const log = logOf(all);
        const at = Math.min(cut, log.length - 1);
        const after = accountOf(log.slice(at), at);
        if (!after) throw new Error('there is a decision');
        const joined = joinAccounts(accountOf(log.slice(0, at)), after);
        const whole = accountOf(log);
        // The first decision of a part counts as its end even when it changes nothing.
        expect(joined.offset).toBeGreaterThanOrEqual(whole?.offset ?? Infinity);
        expect({ ...joined, offset: whole?.offset }).toEqual(whole);
        expect([...joined.contributions.keys()]).toEqual([...(whole?.contributions.keys() ?? [])]);
      }),
    );
  });

  test('with decisions on the profile, resets and rescorings among the others is that of its parts, and knows all activity', () => {
    const change = fc.record({
      kind: fc.constantFrom('events', 'events', 'profile', 'reset', 'rescoring'),
      rule: fc.constantFrom('view', 'open'),
      points: fc.integer({ min: -9, max: 9 }),
      day: fc.integer({ min: 1, max: 9 }),
      alias: fc.constantFrom('ada', 'augusta'),
    });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 12 }), fc.nat(11), (all, cut) => {
        const known = { engagement: 0, profile: 0 };
        const log = all.map(({ kind, rule, points, day, alias }): ScoreDecision => {
          const decided_at = `2026-01-0${String(day)}T00:00:00.000Z`;
          const previous = known[kind === 'profile' ? 'profile' : 'engagement'];
          if (kind === 'reset') {
            known.engagement = 0;
            return scoreReset('ada', previous, { decided_at });
          }
          if (kind === 'rescoring') {
            known.engagement = points;
            return scoreRescored('ada', previous, { matches: [{ rule, points, count: 1 }] }, { decided_at });
          }
          known[kind === 'profile' ? 'profile' : 'engagement'] += points;
          if (kind === 'profile') return profileScored('ada', rule, { previous, points, decided_at });
          const aliases = [{ alias_kind: 'email', alias: `${alias}@example.com` }];
          return leadScored('ada', { rule, points, previous }, { decided_at, aliases });
        });
        const at = Math.min(cut, log.length - 1);
        const after = accountOf(log.slice(at), at);
        if (!after) throw new Error('there is a decision');
        const joined = joinAccounts(accountOf(log.slice(0, at)), after);
        const whole = accountOf(log);
        const sorted = (account: LeadAccount | null) => ({
          ...account,
          offset: 0,
          // A rule whose points add up to 0 within a part may come to another place.
          rulesets: account?.rulesets.filter(({ score }) => score !== 0).toSorted(byId),
          profile: account?.profile && { ...account.profile, given: account.profile.given.toSorted(byId) },
        });
        expect(sorted(joined)).toEqual(sorted(whole));
        expect({ engagement: whole?.score, profile: whole?.profile?.score ?? 0 }).toEqual(known);
        const events = log.filter((one) => 'event_count' in one);
        expect(whole?.activity).toMatchObject({
          event_count: events.length,
          last_activity_at:
            events
              .map(({ last_activity_at }) => last_activity_at)
              .sort()
              .at(-1) ?? null,
        });
        const given = whole?.profile?.given.reduce((sum, { points }) => sum + points, 0) ?? 0;
        expect(given).toBe(known.profile);
      }),
    );
  });

  test('with decisions on deals is that of its parts, and names the drivers that the explanation names', () => {
    const change = fc.record({
      deal_id: fc.constantFrom('D-1', 'D-2'),
      reason: fc.constantFrom(
        'deal_rule' as const,
        'deal_rule' as const,
        'held_by_ruleset' as const,
        'deal' as const,
      ),
      rule: fc.constantFrom('won', 'large'),
      points: fc.constantFrom(-20, -10, 10, 20),
    });
    const changes = fc.array(change, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(changes, { minLength: 1, maxLength: 8 }), fc.nat(7), (all, cut) => {
        let previous = 0;
        const log = all.map((some): records.ScoreAdjusted => {
          const one = profileScored('ada', 'won', {
            previous,
            points: some.reduce((sum, { points }) => sum + points, 0),
          });
          previous = one.score;
          const adjustments = some.map(({ deal_id, reason, rule, points }) => ({
            ...{ deal_id, reason, points },
            ...(reason !== 'deal' && { ruleset_id: idOf('deal ruleset') }),
            ...(reason === 'deal_rule' && { rule_id: idOf(rule), rule_version: 1 }),
          }));
          return { ...one, score_type: 'deal', adjustments };
        });
        const from = Math.min(cut, log.length - 1);
        const after = accountOf(log.slice(from), from);
        if (!after) throw new Error('there is a decision');
        const configuration = emptyConfiguration(ouId);
        const drivers = (account: LeadAccount | null) =>
          dealDriversOf(account?.deal ? givenForDeals(account.deal.points) : [], configuration);
        const explained = explainDeals(
          { id: idOf('ada'), name: 'Ada', score: previous },
          ...([
            log,
            configuration,
            configuration,
            { at: '2027-01-01T00:00:00.000Z', range_hours: 1 },
          ] as const),
        );
        expect(explained).toMatchObject({ score: previous, unattributed: 0 });
        expect(drivers(accountOf(log))).toEqual(explained.top_drivers);
        expect(drivers(joinAccounts(accountOf(log.slice(0, from)), after))).toEqual(explained.top_drivers);
      }),
    );
  });

  test('names the drivers and the name that the explanation names', () => {
    fc.assert(
      fc.property(fc.array(decision, { minLength: 1, maxLength: 12 }), (all) => {
        const log = logOf(all);
        const account = accountOf(log);
        const configuration = emptyConfiguration(ouId);
        const lead = { id: idOf('ada'), name: 'Ada', score: log.at(-1)?.score ?? 0 };
        const explained = explainScore(lead, log, configuration, configuration, {
          at: '2027-01-01T00:00:00.000Z',
          range_hours: 100_000,
        });
        expect(account && driversOf(account.contributions, configuration)).toEqual(explained.top_drivers);
        expect(account?.score).toBe(explained.score);
        const kept = fold(log);
        expect(account && nameOf(account)).toBe(kept && nameOf(kept));
      }),
    );
  });
});

test('the decisions that are stored tell every score that a lead has had, and since when it is there', () => {
  const changes = fc.array(fc.record({ times: fc.nat(1), aside: fc.constantFrom(0, 0, -3) }), {
    minLength: 1,
    maxLength: 20,
  });
  fc.assert(
    fc.property(changes, (all) => {
      let lead: SharedLead | null = null;
      let score = 0;
      /** The score in the last stored decision. */
      let told: number | null = null;
      for (const [offset, { times, aside }] of all.entries()) {
        const given = { rule: 'view', points: 5, times, previous: score };
        score += 5 * times + aside;
        const decision = leadScored('ada', given, { score });
        lead = foldLead(lead, decision, offset, []);
        if (isStored(decision, lead, offset)) told = decision.score;
        else expect(decision.scored_events).toEqual([]);
        expect(told).toBe(score);
      }
    }),
  );
});

test('the course of a profile score follows its decisions, with what limits of rulesets hold', () => {
  const hour = (hours: number) => new Date(Date.UTC(2026, 0, 1, hours)).toISOString();
  const began = profileScored('ada', 'vp', { points: 20, decided_at: hour(1) });
  const held = { reason: 'held_by_ruleset' as const, ruleset_id: idOf('Fit'), points: -8 };
  const limited = { ...began, adjustments: [...began.adjustments, held] };
  const more = profileScored('ada', 'large', { previous: 12, points: 5, decided_at: hour(5) });
  expect(conditionHistory(17, [limited, more], { at: hour(9), range_hours: 10 })).toEqual([
    { at: hour(-1), score: 0 },
    { at: hour(1), score: 12 },
    { at: hour(5), score: 17 },
    { at: hour(9), score: 17 },
  ]);
});

describe('the course of the score', () => {
  const now = '2026-01-31T00:00:00.000Z';
  const change = fc.record({
    points: fc.integer({ min: -30, max: 30 }),
    time: fc.integer({ min: -1_000, max: 0 }).map((hours) => Date.parse(now) + hours * 3_600_000),
  });

  test('begins with the range, ends now with the score, and goes forward in few steps', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 400 }), (changes) => {
        const decisions = changes.map(({ points, time }) =>
          leadScored('ada', { rule: 'view', points }, { decided_at: new Date(time).toISOString() }),
        );
        const score = changes.reduce((sum, { points }) => sum + points, 0);
        const history = scoreHistory(score, decisions, { at: now, range_hours: 720 });
        const start = Date.parse(now) - 720 * 3_600_000;
        expect(history[0]).toEqual({
          at: new Date(start).toISOString(),
          score: changes.filter(({ time }) => time <= start).reduce((sum, { points }) => sum + points, 0),
        });
        expect(history.at(-1)).toEqual({ at: now, score });
        expect(history.length).toBeLessThanOrEqual(123);
        const times = history.map(({ at: time }) => time);
        expect(times).toEqual([...times].sort());
        for (const { at: time, score: then } of history.slice(1))
          expect(then).toBe(
            changes
              .filter((one) => one.time <= Date.parse(time))
              .reduce((sum, { points }) => sum + points, 0),
          );
      }),
    );
  });

  test('has points where what gave them happened, also when it was taken in later', () => {
    const taken = leadScored('ada', { rule: 'view', points: 5 }, { decided_at: now });
    const decision = {
      ...taken,
      scored_events: taken.scored_events.map((event) => ({
        ...event,
        timestamp: '2026-01-30T12:00:00.000Z',
      })),
    };
    expect(scoreHistory(5, [decision], { at: now, range_hours: 24 })).toEqual([
      { at: '2026-01-30T00:00:00.000Z', score: 0 },
      { at: '2026-01-30T12:00:00.000Z', score: 5 },
      { at: now, score: 5 },
    ]);
  });

  test('at each of its points is the score of an explanation at that moment', () => {
    const taken = fc.record({
      points: fc.integer({ min: -30, max: 30 }),
      event: fc.integer({ min: -1_000, max: 20 }),
      held: fc.constantFrom(0, 0, -3),
    });
    const hours = (count: number) => new Date(Date.parse(now) + count * 3_600_000).toISOString();
    fc.assert(
      fc.property(fc.array(taken, { maxLength: 30 }), (all) => {
        const decisions = all.map(({ points, event, held }, index) => {
          const given = { rule: 'view', points };
          const decided = leadScored('ada', given, { decided_at: hours(index - all.length) });
          const scored_events = decided.scored_events.map((one) => ({ ...one, timestamp: hours(event) }));
          const adjustments = [{ reason: 'held_at_largest_score' as const, points: held }];
          return { ...decided, scored_events, ...(held !== 0 && { adjustments }) };
        });
        const score = all.reduce((sum, { points, held }) => sum + points + held, 0);
        const none = emptyConfiguration(ouId);
        const lead = { id: idOf('ada'), name: 'Ada', score };
        for (const point of scoreHistory(score, decisions, { at: now, range_hours: 720 })) {
          const explained = explainScore(lead, decisions, none, none, { at: point.at, range_hours: 720 });
          expect({ score: explained.score, unattributed: 0 }).toEqual({
            score: point.score,
            unattributed: explained.unattributed,
          });
        }
      }),
    );
  });

  test('falls with a reset where the explanation says so, also after a decision of a clock that is ahead', () => {
    const time = (hours: number) => new Date(Date.parse(now) - hours * 3_600_000).toISOString();
    const ahead = leadScored('ada', { rule: 'view', points: 5 }, { decided_at: time(2) });
    const reset = { ...scoreReset('ada', 5, { decided_at: time(10) }), scored_events: [] };
    expect(scoreHistory(0, [ahead, reset], { at: now, range_hours: 24 })).toEqual([
      { at: time(24), score: 0 },
      { at: time(2), score: 0 },
      { at: now, score: 0 },
    ]);
  });

  test('of a lead without points is a line', () => {
    expect(scoreHistory(0, [], { at: now, range_hours: 24 })).toEqual([
      { at: '2026-01-30T00:00:00.000Z', score: 0 },
      { at: now, score: 0 },
    ]);
  });
});

test('the account of a lead whose score was rescored has the drivers and rulesets of the explanation', () => {
  const decisions = [
    leadScored('ada', { rule: 'view', points: 5, times: 2 }),
    scoreRescored('ada', 10, { matches: [{ rule: 'view', points: 3, count: 2 }] }),
    leadScored('ada', { rule: 'view', points: 3, previous: 6 }),
  ];
  const account = decisions.reduce<LeadAccount | null>(
    (known, decision, index) => foldAccount(known, decision, index),
    null,
  );
  const none = emptyConfiguration(ouId);
  const explained = explainScore(
    { id: idOf('ada'), name: 'Ada', score: 9 },
    decisions.map((decision) => ({ ...decision, scored_events: scoredEventsOf(decision) })),
    none,
    none,
    { at: '2026-01-31T00:00:00.000Z', range_hours: 876_000 },
  );
  expect(driversOf(account?.contributions ?? new Map(), none)).toEqual(explained.top_drivers);
  expect(explained.top_drivers).toMatchObject([{ count: 3, weight: 3, total: 9 }]);
  expect(account?.rulesets).toEqual([{ ruleset_id: idOf('ruleset'), score: 9 }]);
});

describe('the account of a lead whose score was reset', () => {
  test('says what rules gave since the reset, however the decisions are divided', () => {
    const decisions = [
      leadScored('ada', { rule: 'view', points: 5, times: 2 }),
      scoreReset('ada', 10),
      leadScored('ada', { rule: 'open', points: 1 }),
    ];
    const accountOf = (from: number, to: number) =>
      decisions.reduce<LeadAccount | null>(
        (account, decision, index) =>
          index < from || index >= to ? account : foldAccount(account, decision, index),
        null,
      );
    const whole = accountOf(0, 3);
    expect([...(whole?.contributions.values() ?? [])]).toMatchObject([{ rule_id: idOf('open'), total: 1 }]);
    for (const cut of [1, 2]) {
      const after = accountOf(cut, 3);
      expect(after && joinAccounts(accountOf(0, cut), after)).toEqual(whole);
    }
  });
});

describe('the account of a lead whose score was computed anew', () => {
  test('says what rules gave in the computation and since, however the decisions are divided', () => {
    const rule = (name: string) => ({ rule_id: idOf(name), rule_version: 1, ruleset_id: idOf('Web') });
    const decisions = [
      leadScored('ada', { rule: 'view', points: 5, times: 2 }),
      {
        ...scoreReset('ada', 10),
        score: 12,
        adjustments: [{ reason: 'rescored' as const, points: 2 }],
        rescored: {
          job_id: idOf('job'),
          engagement: {
            rulesets: [{ ruleset_id: idOf('Web'), score: 12 }],
            matches: [{ ...rule('view'), event_type: 'Page View', points: 6, count: 2 }],
            others: [],
          },
        },
      },
      leadScored('ada', { rule: 'open', points: 1, previous: 12 }),
    ];
    const accountOf = (from: number, to: number) =>
      decisions.reduce<LeadAccount | null>(
        (account, decision, index) =>
          index < from || index >= to ? account : foldAccount(account, decision, index),
        null,
      );
    const whole = accountOf(0, 3);
    expect([...(whole?.contributions.values() ?? [])]).toMatchObject([
      { rule_id: idOf('view'), total: 12 },
      { rule_id: idOf('open'), total: 1 },
    ]);
    expect(whole?.score).toBe(13);
    for (const cut of [1, 2]) {
      const after = accountOf(cut, 3);
      expect(after && joinAccounts(accountOf(0, cut), after)).toEqual(whole);
    }
  });
});
