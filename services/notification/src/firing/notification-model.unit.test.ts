// What the channels of a milestone get: a type of its own where the milestone is a level.
import { describe, expect, test } from '@jest/globals';
import { notificationPayload } from '@lead-scoring/contracts';
import type { FiredDraft } from '@lead-scoring/scoring-domain/triggers';
import { levelsFrom } from '../testing/firing-builders.js';
import { idOf, ouId, startTime } from '../testing/delivery-builders.js';
import { describeFiring, requestsOf, type Description } from './notification-model.js';

type MilestoneDraft = Extract<FiredDraft, { type: 'MilestoneFired' }>;

function draft(more: Partial<MilestoneDraft['payload']> = {}): MilestoneDraft {
  return {
    type: 'MilestoneFired',
    payload: {
      ou_id: ouId,
      lead_id: idOf('lead'),
      configuration_version: 1,
      source: { topic: 'scoring.events', partition: 3, offset: 1042 },
      firing_id: idOf('firing'),
      fired_at: startTime,
      trigger: { id: idOf('trigger'), name: 'Got hot', kind: 'milestone' },
      cause: { event_id: idOf('event'), event_type: 'Page View', timestamp: startTime, rule_ids: [] },
      channel_ids: [idOf('channel')],
      score_type: 'engagement',
      score: 60,
      previous_score: 5,
      threshold: 50,
      direction: 'up',
      ...more,
    },
  };
}

/** As far as the levels are known when the lead is described: the OU has renamed them since. */
const described: Description = {
  name: 'Ada Lovelace',
  aliases: [],
  score: 60,
  top_drivers: [],
  levels: levelsFrom([['Renamed', null]]),
  seen_in: { topic: 'scoring.events', offset: 1042 },
};
const byLevel = { threshold_level: 'Hot', previous_level: 'Cold', level: 'Hot' };

function payloadOf(firing: FiredDraft) {
  const [request] = requestsOf(describeFiring(firing, described), null);
  if (!request) throw new Error('no channel is told');
  return notificationPayload.parse(request.payload);
}

describe('a milestone', () => {
  test('by level is told as a changed level, with the levels that counted in the decision', () => {
    expect(payloadOf(draft(byLevel))).toMatchObject({
      type: 'lead.level_changed',
      timestamp: startTime,
      data: {
        trigger: { id: idOf('trigger'), name: 'Got hot', kind: 'milestone' },
        ...byLevel,
        ...{ threshold: 50, direction: 'up', score: 60, previous_score: 5 },
        position: 'scoring.events:3:1042',
      },
    });
  });

  test('by level names no level where none holds the score', () => {
    const none = { ...byLevel, previous_level: null, level: null };
    expect(payloadOf(draft(none))).toMatchObject({ type: 'lead.level_changed', data: none });
  });

  test('by threshold is told as a milestone, with the level as it is known', () => {
    const payload = payloadOf(draft());
    expect(payload).toMatchObject({
      type: 'trigger.milestone.fired',
      data: { threshold: 50, level: 'Renamed' },
    });
    expect(payload.data).not.toHaveProperty('previous_level');
  });
});
