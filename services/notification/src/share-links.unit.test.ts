// The share link of a firing: its recorded fields, when it is sent, and that no record contains its token.
import { describe, expect, test } from '@jest/globals';
import {
  maximumNotificationBytes,
  notificationPayload,
  shareFieldsOf,
  shareLifetimeMs,
} from '@lead-scoring/contracts';
import { createSealing } from '@lead-scoring/service';
import fc from 'fast-check';
import type { FiredEvent } from '@lead-scoring/scoring-domain/triggers';
import { linkToSend, withLink } from './delivery/sent-link.js';
import { requestsOf, shareOf } from './firing/notification-model.js';
import { createShareLinks, type ShareLinks } from './share-links.js';
import { firedPayload } from './testing/delivery-builders.js';
import { idOf, leadId, ouId, scoredAt, second } from './testing/firing-builders.js';

function linksTo(appUrl: string): ShareLinks {
  const links = createShareLinks(createSealing('a secret of tests that is long enough'), appUrl);
  if (!links) throw new Error('there are none');
  return links;
}

const links = linksTo('https://app.example.com/scores');
const firing = idOf('firing');
const link = links.of(firing);

function fired(aliases: FiredEvent['payload']['lead']['aliases'] = []): FiredEvent {
  return {
    type: 'MilestoneFired',
    payload: {
      ou_id: ouId,
      lead_id: leadId,
      configuration_version: 1,
      source: scoredAt(41),
      firing_id: firing,
      fired_at: second(0),
      trigger: { id: idOf('trigger'), name: 'Hot', kind: 'milestone' },
      lead: { id: leadId, name: 'Ada', aliases },
      score: 60,
      previous_score: 20,
      level: null,
      top_drivers: [],
      cause: { event_id: idOf('event'), event_type: 'Demo Requested', timestamp: second(0), rule_ids: [] },
      channel_ids: [idOf('a'), idOf('b')],
      score_type: 'engagement',
      threshold: 50,
      direction: 'up',
    },
  };
}

describe('the link of a firing', () => {
  test('is always the same for a firing, and another for another firing', () => {
    expect(links.of(firing)).toEqual(link);
    expect(links.of(idOf('another')).token).not.toBe(link.token);
    expect(link.url).toBe(`https://app.example.com/scores/share/${link.token}`);
    expect(link.token).toMatch(/^lsh_[0-9A-Za-z]{40}$/);
  });

  test('is not made without the gateway’s URL', () => {
    expect(createShareLinks(createSealing('a secret of tests that is long enough'), undefined)).toBeNull();
  });

  test('is made by the trigger, of the lead that fired, from the time of the firing on', () => {
    const seen = { topic: 'scoring.events', offset: 41 } as const;
    expect(shareOf(fired(), seen, link)).toEqual({
      ...shareFieldsOf(link.token),
      ou_id: ouId,
      lead_id: leadId,
      lead_seen_in: seen,
      created_by: idOf('trigger'),
      requested_at: second(0),
      actor: { kind: 'trigger', id: idOf('trigger'), name: 'Hot' },
    });
  });

  test('is in no record', () => {
    const recorded = [
      ...requestsOf(fired(), link),
      shareOf(fired(), { topic: 'scoring.events', offset: 41 }, link),
    ];
    expect(recorded).toHaveLength(3);
    expect(JSON.stringify(recorded)).not.toContain(link.token);
    expect(JSON.stringify(recorded)).not.toContain('share_url');
    for (const request of requestsOf(fired(), null)) expect(request).not.toHaveProperty('share');
  });

  test('fits into the largest notification', () => {
    const [request] = requestsOf(
      fired(Array.from({ length: 10 }, () => ({ alias_kind: 'external_id', alias: '語'.repeat(500) }))),
      linksTo(`https://app.example.com/${'a'.repeat(2_000)}`).of(firing),
    );
    const long = linksTo(`https://app.example.com/${'a'.repeat(2_000)}`);
    const sent = request && withLink(request.payload, long.of(firing));
    expect(Buffer.byteLength(JSON.stringify(sent))).toBeLessThan(maximumNotificationBytes);
    expect(notificationPayload.parse(sent)).toEqual(sent);
  });
});

describe('the link that is sent along', () => {
  const payload = firedPayload({ firing_id: firing });
  const ends = Date.parse(second(0)) + shareLifetimeMs;
  const share = { id: link.fields.share_id, expires_at: new Date(ends).toISOString() };

  test('is the firing’s link, the same for every attempt until it expires', () => {
    fc.assert(
      fc.property(fc.integer({ min: -10_000, max: 10_000 }), (ms) => {
        const sent = linkToSend({ payload, share }, links, new Date(ends + ms));
        expect(sent).toEqual(ms < 0 ? link : null);
      }),
    );
    expect(withLink(payload, link)).toMatchObject({ data: { firing_id: firing, share_url: link.url } });
  });

  test('is left out without a share, for a test, and when its key is no longer in force', () => {
    const at = new Date(second(0));
    const other = createShareLinks(
      createSealing('another secret of tests, as long as that'),
      'https://app.example.com',
    );
    expect(linkToSend({ payload }, links, at)).toBeNull();
    expect(linkToSend({ payload, share }, null, at)).toBeNull();
    expect(linkToSend({ payload, share }, other, at)).toBeNull();
  });
});
