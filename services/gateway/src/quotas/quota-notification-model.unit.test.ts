// The notification of a quota that is nearly used: given events, when a gateway warns, then at most one command to one channel.
import { expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { decide } from '../identity/decide.js';
import { evolve } from '../identity/evolve.js';
import type { IdentityCommand, WarningChannel } from '../identity/messages.js';
import { emptyOrganisation, type OrganisationState } from '../identity/state.js';
import {
  bootstrap,
  createToken,
  idOf,
  limitCredential,
  limitOrganisation,
  warnOfQuota,
} from '../testing/builders.js';
import { quotaNotificationOf } from './quota-notification-model.js';

const channelOf = (name: string): WarningChannel => ({ ou_id: idOf('main'), channel_id: idOf(name) });

/** The state after commands, and the notifications that they have sent. */
function run(...commands: IdentityCommand[]): {
  state: OrganisationState;
  sent: records.RequestNotification[];
} {
  let state = emptyOrganisation;
  const sent: records.RequestNotification[] = [];
  for (const command of commands) {
    const decision = decide(command, state);
    if (decision.outcome === 'rejected') throw new Error(decision.message);
    for (const event of decision.events)
      if (event.type === 'QuotaNearlyUsed') sent.push(...asList(quotaNotificationOf(event.payload, state)));
    state = decision.events.reduce(evolve, state);
  }
  return { state, sent };
}

const asList = <Item>(item: Item | null): Item[] => (item === null ? [] : [item]);
const begun = [bootstrap(), createToken('one')];

test('it goes to the channel of the credential, else to that of the organisation, else nowhere', () => {
  const own = limitCredential('one', { warning_channel: channelOf('own') });
  const common = limitOrganisation({ warning_channel: channelOf('common') });
  const ofOne = warnOfQuota({ credential_id: idOf('one') });
  const channels = (...commands: IdentityCommand[]) =>
    run(...begun, ...commands).sent.map(({ channel_id }) => channel_id);
  expect(channels(own, common, ofOne)).toEqual([idOf('own')]);
  expect(channels(common, ofOne)).toEqual([idOf('common')]);
  expect(channels(own, common, warnOfQuota())).toEqual([idOf('common')]);
  expect(channels(own, warnOfQuota())).toEqual([]);
  expect(channels(ofOne, warnOfQuota())).toEqual([]);
});

test('it says whose quota it is, how much is used and until when, in a payload as declared', () => {
  const { sent } = run(
    ...begun,
    limitOrganisation({ warning_channel: channelOf('common') }),
    warnOfQuota({
      credential_id: idOf('one'),
      quota: 'events_per_month',
      period: '2024-02-01T00:00:00.000Z',
      limit: 1_000,
      used: 812,
    }),
    warnOfQuota({ quota: 'calls_per_day', period: '2024-02-28T00:00:00.000Z' }),
  );
  expect(sent.map((one) => records.requestNotification.schema.safeParse(one).error)).toEqual([
    undefined,
    undefined,
  ]);
  expect(sent).toMatchObject([
    {
      ...channelOf('common'),
      payload: {
        type: 'quota.nearly_used',
        data: {
          credential: { kind: 'token', id: idOf('one'), name: 'one' },
          quota: 'events_per_month',
          resets_at: '2024-03-01T00:00:00.000Z',
          limit: 1_000,
          used: 812,
          unit_id: idOf('main'),
        },
      },
    },
    { payload: { data: { credential: null, resets_at: '2024-02-29T00:00:00.000Z' } } },
  ]);
});

test('however often gateways warn, there is one for each quota and period, and one more for each limit that is higher', () => {
  const warning = fc.record({
    credential_id: fc.constantFrom(null, idOf('one')),
    quota: fc.constantFrom(...records.quotaNames),
    period: fc.integer({ min: 1, max: 3 }).map((day) => `2026-01-0${String(day)}T00:00:00.000Z`),
    limit: fc.constantFrom(100, 200, 300),
  });
  fc.assert(
    fc.property(fc.array(warning, { maxLength: 30 }), (warnings) => {
      const { sent } = run(
        ...begun,
        limitOrganisation({ warning_channel: channelOf('common') }),
        ...warnings.map((one, n) => warnOfQuota(one, String(n))),
      );
      const wanted = new Set<string>();
      const latest = new Map<string, { period: string; limit: number }>();
      for (const { credential_id, quota, period, limit } of warnings) {
        const key = `${credential_id ?? ''} ${quota}`;
        const last = latest.get(key) ?? { period: '', limit: 0 };
        // A period that is over when a later one has begun is warned of no more, nor a limit that is not above the last one.
        if (period < last.period || (period === last.period && limit <= last.limit)) continue;
        latest.set(key, { period, limit });
        wanted.add(`${key} ${period} ${String(limit)}`);
      }
      const keys = sent.map(({ payload }) => {
        if (payload.type !== 'quota.nearly_used') throw new Error('another notification');
        const { credential, quota, period, limit } = payload.data;
        return `${credential?.id ?? ''} ${quota} ${period} ${String(limit)}`;
      });
      expect(keys.toSorted()).toEqual([...wanted].sort());
      expect(new Set(sent.map(({ notification_id }) => notification_id)).size).toBe(sent.length);
    }),
    { numRuns: 200 },
  );
});
