// Limits: given events, when a command, then events and an answer.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  bootstrap,
  createOrgUnit,
  createServiceAccount,
  createToken,
  endOrgUnit,
  idOf,
  limitCredential,
  limitOrganisation,
  warnOfQuota,
} from '../testing/builders.js';
import { decide } from './decide.js';
import type { IdentityDecision } from './decision-model.js';
import { evolve } from './evolve.js';
import type { IdentityCommand, RateLimit } from './messages.js';
import { emptyOrganisation, type OrganisationState } from './state.js';

const standard: RateLimit = { per_minute: 100, burst: 200 };
const configured: RateLimit = { per_minute: 1_000, burst: 2_000 };

function after(...commands: IdentityCommand[]): OrganisationState {
  return commands.reduce((state, command) => {
    const decision = decide(command, state);
    if (decision.outcome === 'rejected') throw new Error(decision.message);
    return decision.events.reduce(evolve, state);
  }, emptyOrganisation);
}

const noQuotas = { calls_per_day: null, calls_per_month: null, events_per_day: null, events_per_month: null };
const codeOf = (decision: IdentityDecision) =>
  decision.outcome === 'rejected' ? decision.code : decision.events.map(({ type }) => type);
const started = bootstrap({ token_rate_limit: configured });
const limit = fc.record({
  per_minute: fc.integer({ min: 1, max: 3_000 }),
  burst: fc.integer({ min: 1, max: 3_000 }),
});
const optional = fc.option(limit);
const isWithin = (one: RateLimit, most: RateLimit) =>
  one.per_minute <= most.per_minute && one.burst <= most.burst;

describe('the limit of a credential', () => {
  test('is never above that of whoever gives it, nor above that of the organisation', () => {
    fc.assert(
      fc.property(optional, optional, optional, fc.boolean(), (own, together, wanted, account) => {
        const state = after(
          started,
          createToken('giver', { role: 'admin', rate_limit: own && isWithin(own, configured) ? own : null }),
          account ? createServiceAccount('limited') : createToken('limited'),
          ...(together && isWithin(together, configured)
            ? [limitOrganisation({ rate_limit: together })]
            : []),
        );
        const giver = state.credentials.get(idOf('giver'))?.rate_limit ?? standard;
        const most = state.organisation?.rate_limit ?? configured;
        const command = limitCredential('limited', {
          kind: account ? 'service_account' : 'token',
          rate_limit: wanted,
          requested_by: idOf('giver'),
        });
        const decision = decide(command, state);
        const isAllowed = wanted === null || (isWithin(wanted, giver) && isWithin(wanted, most));
        if (decision.outcome === 'rejected') {
          expect([decision.code, isAllowed]).toEqual(['rate_limit_not_allowed', false]);
          return;
        }
        expect(isAllowed).toBe(true);
        const limited = decision.events.reduce(evolve, state).credentials.get(idOf('limited'));
        const given = limited?.rate_limit ?? standard;
        expect(isWithin(given, giver) && isWithin(given, most)).toBe(true);
        if (wanted) expect(given).toEqual(wanted);
      }),
      { numRuns: 300 },
    );
  });

  test('null is the standard limit again; a repeat of the command changes nothing', () => {
    const less = limitCredential('one', { rate_limit: { per_minute: 5, burst: 5 } });
    const standardAgain = limitCredential('one', { rate_limit: null });
    const state = after(started, createToken('one'), less);
    expect(state.credentials.get(idOf('one'))?.rate_limit).toEqual({ per_minute: 5, burst: 5 });
    expect(codeOf(decide(less, state))).toEqual([]);
    expect(codeOf(decide(standardAgain, state))).toEqual(['CredentialLimited']);
    expect(
      after(started, createToken('one'), less, standardAgain).credentials.get(idOf('one')),
    ).toMatchObject({
      rate_limit: null,
    });
  });

  test('one that the administrator may not manage is not found', () => {
    const state = after(
      started,
      createOrgUnit('other'),
      createToken('elsewhere', { ou_ids: [idOf('other')] }),
      createServiceAccount('account elsewhere', { ou_ids: [idOf('other')] }),
      createToken('limited admin', { role: 'admin' }),
      createToken('editor'),
    );
    const requested_by = idOf('limited admin');
    const of = (name: string, kind: 'token' | 'service_account', by: string) =>
      codeOf(decide(limitCredential(name, { kind, rate_limit: null, requested_by: by }), state));
    expect(of('elsewhere', 'token', requested_by)).toBe('token_not_found');
    expect(of('account elsewhere', 'service_account', requested_by)).toBe('service_account_not_found');
    expect(of('account elsewhere', 'token', idOf('root'))).toBe('token_not_found');
    expect(of('editor', 'token', idOf('editor'))).toBe('role_not_allowed');
  });
});

describe('the warning channel', () => {
  const channel = { ou_id: idOf('main'), channel_id: idOf('channel') };

  test('of a credential and of an organisation is set, shown, kept by other changes, and taken away by null', () => {
    const named = [
      limitCredential('one', { warning_channel: channel }),
      limitOrganisation({ warning_channel: channel }),
    ];
    const state = after(started, createToken('one'), ...named);
    for (const command of named) expect(codeOf(decide(command, state))).toEqual([]);
    const raised = limitCredential('one', { quotas: { ...noQuotas, calls_per_day: 5 } });
    expect(decide(raised, state)).toMatchObject({ result: { warning_channel: channel } });
    expect(decide(limitOrganisation({ rate_limit: null }), state)).toMatchObject({
      result: { warning_channel: channel },
    });
    for (const command of [
      limitCredential('one', { warning_channel: null }),
      limitOrganisation({ warning_channel: null }),
    ])
      expect(decide(command, state)).toMatchObject({
        events: [{ payload: { warning_channel: null } }],
        result: { warning_channel: null },
      });
  });

  test('is of an organizational unit that the administrator may use and that has not ended', () => {
    const state = after(
      started,
      createOrgUnit('other'),
      createOrgUnit('ended'),
      endOrgUnit('ended'),
      createToken('limited admin', { role: 'admin' }),
      createToken('one'),
    );
    const by = (name: string, unit: string) =>
      codeOf(
        decide(
          limitCredential('one', {
            warning_channel: { ...channel, ou_id: idOf(unit) },
            requested_by: idOf(name),
          }),
          state,
        ),
      );
    expect(by('limited admin', 'main')).toEqual(['CredentialLimited']);
    expect(by('limited admin', 'other')).toBe('org_unit_not_found');
    expect(by('root', 'other')).toEqual(['CredentialLimited']);
    expect(by('root', 'ended')).toBe('org_unit_not_found');
    expect(by('root', 'never there')).toBe('org_unit_not_found');
  });
});

describe('the limit of an organisation', () => {
  test('is at most the configured one, and null is that one', () => {
    const more = decide(limitOrganisation({ rate_limit: { per_minute: 1_001, burst: 1 } }), after(started));
    expect(codeOf(more)).toBe('rate_limit_not_allowed');
    const set = limitOrganisation({ rate_limit: { per_minute: 10, burst: 20 } });
    expect(decide(set, after(started))).toMatchObject({
      result: {
        rate_limit: { per_minute: 10, burst: 20 },
        effective_rate_limit: { per_minute: 10, burst: 20 },
      },
    });
    expect(codeOf(decide(set, after(started, set)))).toEqual([]);
    expect(decide(limitOrganisation({ rate_limit: null }), after(started, set))).toMatchObject({
      events: [{ type: 'OrganisationLimited' }],
      result: { rate_limit: null, effective_rate_limit: configured },
    });
  });

  test('is changed by a credential for every organizational unit only', () => {
    const state = after(started, createToken('limited admin', { role: 'admin' }));
    const command = limitOrganisation({
      rate_limit: { per_minute: 1, burst: 1 },
      requested_by: idOf('limited admin'),
    });
    expect(codeOf(decide(command, state))).toBe('org_unit_not_allowed');
  });
});

describe('the warning of a quota', () => {
  const day = (n: number) => `2026-01-0${String(n)}T00:00:00.000Z`;
  const codes = (state: OrganisationState, ...warnings: Parameters<typeof warnOfQuota>[0][]) =>
    warnings.map((one) => codeOf(decide(warnOfQuota(one), state)));
  const quota = 'events_per_day';
  const warned = warnOfQuota({ quota, period: day(2), limit: 100 });

  test('is recorded once in a period, again where the quota was raised, and never for an earlier period', () => {
    const state = after(started, warned);
    expect(
      codes(
        state,
        { quota, period: day(2), limit: 100, used: 99 },
        { quota, period: day(2), limit: 50 },
        { quota, period: day(1), limit: 900 },
      ),
    ).toEqual([[], [], []]);
    expect(codes(state, { quota, period: day(2), limit: 101 }, { quota, period: day(3), limit: 10 })).toEqual(
      [['QuotaNearlyUsed'], ['QuotaNearlyUsed']],
    );
  });

  test('that a gateway sends who does not know yet of the raised quota is not recorded again', () => {
    const raised = warnOfQuota({ quota, period: day(2), limit: 200, used: 160 });
    const state = after(started, warned, raised);
    expect(codes(state, { quota, period: day(2), limit: 100 })).toEqual([[]]);
    expect(codes(state, { quota: 'calls_per_day', period: day(2), limit: 100 })).toEqual([
      ['QuotaNearlyUsed'],
    ]);
  });
});
