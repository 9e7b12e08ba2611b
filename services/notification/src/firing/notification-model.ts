// Makes the complete event of a firing, the payload of its notifications, and the share link in them.
import {
  maximumNotificationBytes,
  shareExpiryOf,
  type Alias,
  type FiredPayload,
  type FiringCause,
  type NotificationDriver,
  type NotifiedLead,
  type records,
} from '@lead-scoring/contracts';
import { levelOf, type Levels } from '@lead-scoring/scoring-domain';
import {
  type FiredDraft,
  type FiredEvent,
  notificationIdOf,
  positionText,
} from '@lead-scoring/scoring-domain/triggers';
import type { ShareLink } from '../share-links.js';

/** Fields of a lead that notifications show where events gave them. */
export type LeadDetails = Pick<NotifiedLead, 'company' | 'title' | 'owner'>;

/** The lead's part of a firing. */
export interface Description extends LeadDetails {
  name: string;
  aliases: readonly Alias[];
  /** The newest known score: used for sequences. Milestones and surges have the score that made them fire. */
  score: number;
  top_drivers: readonly NotificationDriver[];
  /** The OU's levels of the score that the trigger watches; the firing names the level of that score. */
  levels: Levels;
  /** A record of the lead: distinguishes it from a later lead with the same id. */
  seen_in: NonNullable<records.CreateShare['lead_seen_in']>;
}

const maximumAliases = 10;
const maximumDrivers = 10;

export function describeFiring(
  draft: FiredDraft,
  { name, company, title, owner, aliases, score, top_drivers, levels }: Description,
): FiredEvent {
  const currentScore = draft.type === 'SequenceFired' ? score : draft.payload.score;
  const shared = {
    lead: {
      id: draft.payload.lead_id,
      name: name.slice(0, 512).toWellFormed(),
      ...(company !== undefined && { company }),
      ...(title !== undefined && { title }),
      ...(owner !== undefined && { owner }),
      aliases: aliases.slice(0, maximumAliases),
    },
    level: levelOf(levels, currentScore)?.name ?? null,
    top_drivers: top_drivers.slice(0, maximumDrivers),
  };
  switch (draft.type) {
    case 'MilestoneFired':
      return { type: draft.type, payload: { ...shared, ...draft.payload } };
    case 'SequenceFired':
      return { type: draft.type, payload: { ...draft.payload, ...shared, score, previous_score: score } };
    case 'SurgeFired':
      return { type: draft.type, payload: { ...draft.payload, ...shared } };
  }
}

/** The command that creates the share link of a firing. */
export function shareOf(
  event: FiredEvent,
  lead_seen_in: Description['seen_in'],
  { fields }: ShareLink,
): records.CreateShare {
  const { ou_id, lead_id, trigger, fired_at } = event.payload;
  return {
    ...fields,
    ou_id,
    lead_id,
    lead_seen_in,
    created_by: trigger.id,
    requested_at: fired_at,
    actor: { kind: 'trigger', id: trigger.id, name: trigger.name },
  };
}

/** The commands that request the notifications of a firing, one per channel of the trigger. */
export function requestsOf(event: FiredEvent, link: ShareLink | null): records.RequestNotification[] {
  const { ou_id, firing_id, fired_at, channel_ids } = event.payload;
  if (channel_ids.length === 0) return [];
  const payload = fitted(payloadOf(event), link);
  const share = link && { id: link.fields.share_id, expires_at: shareExpiryOf(fired_at) };
  return channel_ids.map((channel_id) => ({
    ou_id,
    channel_id,
    notification_id: notificationIdOf(firing_id, channel_id),
    payload,
    ...(share && { share }),
    requested_at: fired_at,
  }));
}

function payloadOf(event: FiredEvent): FiredPayload {
  const { firing_id, lead, score, previous_score, level, top_drivers, ou_id, fired_at, source } =
    event.payload;
  const shared = {
    firing_id,
    lead,
    score,
    previous_score,
    level,
    top_drivers,
    unit_id: ou_id,
    position: positionText(source),
  };
  switch (event.type) {
    case 'MilestoneFired': {
      const { trigger, score_type, threshold, threshold_level, previous_level, direction } = event.payload;
      const { event_id, event_type, reason, rule_ids } = event.payload.cause;
      const cause = { event_id, event_type, ...(reason && { reason }), rule_ids };
      const data = { ...shared, cause, trigger, score_type, threshold, direction };
      if (threshold_level === undefined || previous_level === undefined)
        return { type: 'trigger.milestone.fired', timestamp: fired_at, data };
      return {
        type: 'lead.level_changed',
        timestamp: fired_at,
        data: { ...data, previous_level, threshold_level },
      };
    }
    case 'SequenceFired': {
      const { trigger, steps } = event.payload;
      const data = { ...shared, cause: eventIn(event.payload.cause), trigger, steps };
      return { type: 'trigger.sequence.fired', timestamp: fired_at, data };
    }
    case 'SurgeFired': {
      const { trigger, threshold, window_seconds, gained } = event.payload;
      const cause = eventIn(event.payload.cause);
      return {
        type: 'trigger.surge.fired',
        timestamp: fired_at,
        data: { ...shared, cause, trigger, threshold, window_seconds, gained },
      };
    }
  }
}

/** The event as notifications name it: they have one time, that of the firing. */
function eventIn({ event_id, event_type, rule_ids }: FiringCause): Omit<FiringCause, 'timestamp'> {
  return { event_id, event_type, rule_ids };
}

/** Drops the last aliases, then the last drivers, until the body with the link is smaller than `maximumNotificationBytes`. */
function fitted(payload: FiredPayload, link: ShareLink | null): FiredPayload {
  const linkBytes = link ? Buffer.byteLength(JSON.stringify({ share_url: link.url })) : 0;
  let { data } = payload;
  const put = (): FiredPayload => ({ ...payload, data }) as FiredPayload;
  while (Buffer.byteLength(JSON.stringify(put())) + linkBytes >= maximumNotificationBytes) {
    const { lead, top_drivers } = data;
    if (lead.aliases.length > 1) data = { ...data, lead: { ...lead, aliases: lead.aliases.slice(0, -1) } };
    else if (top_drivers.length > 0) data = { ...data, top_drivers: top_drivers.slice(0, -1) };
    else break;
  }
  return put();
}
