// The decider and the fold of share links.
import { describe, expect, test } from '@jest/globals';
import { problemTypeOf } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { createShare, idOf, otherOuId, ouId, revokeShare, shareOf } from '../testing/builders.js';
import { decideShare, presenceFromCommand, type LeadPresence } from './decide.js';
import type { ShareCommand, ShareEvent } from './messages.js';
import { toShare, toShareDocument } from './documents.js';
import { evolveShare } from './evolve.js';
import { isSharedLead, statusOf, type Share } from './state.js';

const present = { scoring_offset: 40 };

function given(...commands: ShareCommand[]): Share | null {
  return commands.reduce<Share | null>((share, command) => {
    const decision = decideShare(command, share, present);
    return decision.outcome === 'done' ? decision.events.reduce(evolveShare, share) : share;
  }, null);
}

describe('sharing a lead', () => {
  test('makes a link that lasts seven days from the request on', () => {
    expect(decideShare(createShare('a', 'ada'), null, present)).toEqual({
      outcome: 'done',
      events: [
        {
          type: 'ShareCreated',
          payload: expect.objectContaining({
            share_id: shareOf('a'),
            lead_id: idOf('ada'),
            ou_id: ouId,
            created_at: '2026-01-01T12:00:00.000Z',
            expires_at: '2026-01-08T12:00:00.000Z',
          }),
        },
      ],
    });
  });

  test('a repeated command is a no-op, also after the link was revoked and for a deleted lead', () => {
    for (const share of [given(createShare('a', 'ada')), given(createShare('a', 'ada'), revokeShare('a'))])
      for (const lead of [present, 'absent', 'unknown'] as const)
        expect(decideShare(createShare('a', 'ada'), share, lead)).toEqual({ outcome: 'done', events: [] });
  });

  test.each<[LeadPresence, string, number]>([
    ['absent', 'lead_not_found', 404],
    ['unknown', 'position_not_reached', 503],
  ])('a lead that is %s is refused', (lead, code, status) => {
    expect(decideShare(createShare('a', 'ada'), null, lead)).toMatchObject({ outcome: 'rejected', code });
    expect(problemTypeOf(code).status).toBe(status);
  });

  test('with a decision as lead_seen_in makes a link to the lead of that decision, wherever the log ends now', () => {
    const made = createShare('a', 'ada', { lead_seen_in: { topic: 'scoring.events', offset: 12 } });
    expect(presenceFromCommand(made.payload)).toEqual({ scoring_offset: 13 });
    expect(isSharedLead({ scoring_offset: 13 }, { first_offset: 12 })).toBe(true);
    expect(isSharedLead({ scoring_offset: 13 }, { first_offset: 13 })).toBe(false);
    expect(presenceFromCommand(createShare('a', 'ada').payload)).toBeNull();
  });

  test('with events as lead_seen_in is postponed until scoring has decided on them', () => {
    const made = createShare('a', 'ada', { lead_seen_in: { topic: 'ingest.events', offset: 12 } });
    expect(presenceFromCommand(made.payload)).toBeNull();
    expect(decideShare(made, null, 'unknown')).toEqual({ outcome: 'postponed', command: made.payload });
    expect(decideShare(made, null, 'absent')).toMatchObject({ code: 'lead_not_found' });
    expect(decideShare(made, null, present)).toMatchObject({
      events: [{ payload: { scoring_offset: 40 } }],
    });
    expect(decideShare(made, given(made), 'unknown')).toEqual({ outcome: 'done', events: [] });
  });

  test('fixes the score that the link explains: engagement where nothing else is said', () => {
    const profile = createShare('a', 'ada', { score_type: 'profile' });
    expect(given(createShare('a', 'ada'))?.score_type).toBe('engagement');
    expect(given(profile)?.score_type).toBe('profile');
    expect(decideShare(profile, given(profile), present)).toEqual({ outcome: 'done', events: [] });
    for (const [command, share] of [
      [profile, given(createShare('a', 'ada'))],
      [createShare('a', 'ada'), given(profile)],
    ] as const)
      expect(decideShare(command, share, present)).toMatchObject({ code: 'idempotency_key_reused' });
    const account = createShare('c', 'ada', { score_type: 'account' });
    for (const one of [profile, account, createShare('b', 'ada')]) {
      const share = given(one);
      expect(share && toShare(toShareDocument(share, { partition: 0, offset: 1 }))).toEqual(share);
    }
  });

  test('is refused if the token is that of a link to another lead or of another OU', () => {
    const share = given(createShare('a', 'ada'));
    for (const command of [createShare('a', 'bob'), createShare('a', 'ada', { ou_id: otherOuId })])
      expect(decideShare(command, share, present)).toMatchObject({
        outcome: 'rejected',
        code: 'idempotency_key_reused',
      });
  });
});

describe('revoking a link', () => {
  test('revokes it once', () => {
    const share = given(createShare('a', 'ada'));
    expect(decideShare(revokeShare('a'), share, 'unknown')).toMatchObject({
      events: [{ type: 'ShareRevoked', payload: { lead_id: idOf('ada') } }],
    });
    const ended = given(createShare('a', 'ada'), revokeShare('a'));
    expect(ended?.revoked_at).toBe('2026-01-02T12:00:00.000Z');
    expect(decideShare(revokeShare('a'), ended, 'unknown')).toEqual({ outcome: 'done', events: [] });
  });

  test('an unknown link, or one of another OU, is not found', () => {
    for (const [command, share] of [
      [revokeShare('a'), null],
      [revokeShare('a', { ou_id: otherOuId }), given(createShare('a', 'ada'))],
    ] as const)
      expect(decideShare(command, share, 'unknown')).toMatchObject({
        outcome: 'rejected',
        code: 'share_not_found',
      });
  });
});

describe('the status of a link', () => {
  const share = given(createShare('a', 'ada'));
  const end = Date.parse('2026-01-08T12:00:00.000Z');

  test.each([
    [end - 1, 'valid'],
    [end, 'expired'],
    [end + 1, 'expired'],
  ])('at %d it is %s', (now, status) => {
    expect(share && statusOf(share, new Date(now))).toBe(status);
  });

  test('a revoked link stays revoked, before and after its expiry', () => {
    const ended = given(createShare('a', 'ada'), revokeShare('a'));
    for (const now of [end - 1, end + 1]) expect(ended && statusOf(ended, new Date(now))).toBe('revoked');
  });
});

describe('the lead of a link', () => {
  const share = given(createShare('a', 'ada'));

  test.each([
    [0, true],
    [39, true],
    [40, false],
    [1_000, false],
  ])(
    'is a lead whose first decision is at offset %d: %s, because a later lead is another one',
    (first, is) => {
      expect(share && isSharedLead(share, { first_offset: first })).toBe(is);
    },
  );

  test('of a link without an offset, from before leads could be deleted, is any lead with the id', () => {
    expect(isSharedLead({ scoring_offset: null }, { first_offset: 1_000 })).toBe(true);
  });
});

const command = fc.oneof(
  fc
    .constantFrom(['ada', 'engagement'] as const, ['ada', 'profile'] as const, ['bob', 'engagement'] as const)
    .map(([lead, score_type]): ShareCommand => createShare('a', lead, { score_type })),
  fc.constantFrom(ouId, otherOuId).map((ou_id): ShareCommand => revokeShare('a', { ou_id })),
);

test('commands in any order make one link, which is revoked at most once, and a repeated command changes nothing', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 12 }), (commands) => {
      let share: Share | null = null;
      const events: ShareEvent[] = [];
      for (const one of commands) {
        const decision = decideShare(one, share, present);
        if (decision.outcome !== 'done') continue;
        events.push(...decision.events);
        share = decision.events.reduce<Share | null>(evolveShare, share);
        expect(decideShare(one, share, present)).toEqual({ outcome: 'done', events: [] });
      }
      expect(events.filter(({ type }) => type === 'ShareCreated').length).toBeLessThanOrEqual(1);
      expect(events.filter(({ type }) => type === 'ShareRevoked').length).toBeLessThanOrEqual(1);
      expect(events.reduce<Share | null>(evolveShare, null)).toEqual(share);
    }),
  );
});
