// Builds triggers and records of leads for tests of firing, with fixed ids and times and defaults for all fields.
import { nameBasedId, type JsonObject, type records } from '@lead-scoring/contracts';
import type { IncomingRecord, OutgoingRecord } from '@lead-scoring/event-log';
import type { Levels } from '@lead-scoring/scoring-domain';
import type {
  FiringDraft,
  MilestoneTrigger,
  SequenceTrigger,
  Source,
  SurgeTrigger,
  Trigger,
} from '@lead-scoring/scoring-domain/triggers';
import { emptyNotificationConfiguration, type NotificationConfiguration } from '../configuration/state.js';
import type { FiringPartition } from '../firing/partition.js';

export const ouId = '11111111-1111-4111-8111-111111111111';
export const began = Date.parse('2026-01-01T12:00:00.000Z');

/** A stable id for a short name. */
export const idOf = (name: string): string => nameBasedId(ouId, `test:${name}`);
export const leadId = idOf('ada');
/** The time a number of seconds after `began`. */
export const second = (seconds: number): string => new Date(began + seconds * 1_000).toISOString();

const common = (name: string) => ({
  id: idOf(name),
  ou_id: ouId,
  name,
  channel_ids: [],
  active: true,
  version: 1,
  since: 1,
  created_at: second(0),
  updated_at: second(0),
});

const milestoneFields = {
  kind: 'milestone',
  score_type: 'engagement',
  direction: 'up',
  rearm: { cooldown_seconds: 0 },
} as const;

export const milestone = (more: Partial<MilestoneTrigger> = {}, name = 'milestone'): MilestoneTrigger => ({
  ...common(name),
  ...milestoneFields,
  score_threshold: 100,
  ...more,
});

/** A milestone by level. */
export const milestoneAt = (
  level: string,
  more: Partial<MilestoneTrigger> = {},
  name = 'milestone',
): MilestoneTrigger => ({ ...common(name), ...milestoneFields, level, ...more });

/** Levels by name and lower bound, the lowest first. */
export function levelsFrom(bounds: readonly (readonly [name: string, min_score: number | null])[]): Levels {
  return bounds.map(([name, min_score], index) => {
    const next = bounds[index + 1]?.[1];
    return { id: idOf(name), name, min_score, max_score: next == null ? null : next - 1, color: '#e8590c' };
  });
}

/** A sequence with steps of these event types. */
export const sequence = (
  types: readonly string[],
  more: Partial<SequenceTrigger> = {},
  name = 'sequence',
): SequenceTrigger => ({
  ...common(name),
  kind: 'sequence',
  steps: types.map((event_type) => ({ event_type, attribute_filters: [] })),
  ordered: false,
  window_seconds: 60,
  cooldown_seconds: 0,
  ...more,
});

export const surge = (more: Partial<SurgeTrigger> = {}, name = 'surge'): SurgeTrigger => ({
  ...common(name),
  kind: 'surge',
  event_type: null,
  score_type: 'engagement',
  threshold: 30,
  window_seconds: 60,
  cooldown_seconds: 0,
  ...more,
});

export function configurationOf(triggers: readonly Trigger[], version = 1): NotificationConfiguration {
  return {
    ...emptyNotificationConfiguration(ouId),
    version,
    triggers: new Map(triggers.map((trigger) => [trigger.id, trigger])),
  };
}

/** An event of a lead. */
export interface Act {
  id: string;
  type: string;
  /** Event time in seconds after `began`. */
  at: number;
  points?: number;
  metadata?: JsonObject;
}

export const act = (id: string, type: string, at: number, points = 0, metadata?: JsonObject): Act => ({
  id,
  type,
  at,
  points,
  ...(metadata && { metadata }),
});

const told = (takenAt: number) => ({
  ou_id: ouId,
  lead_id: leadId,
  fire_triggers: true,
  aliases: [{ alias_kind: 'email', alias: 'ada@example.com' }],
  taken: second(takenAt),
});

/** Scoring's decision on these acts, decided at a second after `began`. */
export function leadScored(
  acts: readonly Act[],
  previous: number,
  takenAt: number,
  more: Partial<records.LeadScored> = {},
): records.LeadScored {
  const { taken, ...fields } = told(takenAt);
  const scored = acts.filter(({ points }) => points !== undefined && points !== 0);
  return {
    ...fields,
    previous_score: previous,
    score: scored.reduce((sum, { points = 0 }) => sum + points, previous),
    configuration_version: 1,
    event_count: Math.max(1, acts.length),
    first_activity_at: taken,
    last_activity_at: taken,
    decided_at: taken,
    scored_events: scored.map(({ id, type, at, points = 0 }) => ({
      event_id: idOf(id),
      event_type: type,
      timestamp: second(at),
      matches: [{ rule_id: idOf('rule'), rule_version: 1, ruleset_id: idOf('ruleset'), points }],
    })),
    ...more,
  };
}

/** What all decisions on the lead that no event caused have. */
const adjusted = (previous_score: number, score: number, takenAt: number) => ({
  ou_id: ouId,
  lead_id: leadId,
  previous_score,
  score,
  configuration_version: 1,
  decided_at: second(takenAt),
});

/** Somebody has reset the lead's score. */
export const scoreReset = (previous: number, takenAt: number): records.ScoreAdjusted => ({
  ...adjusted(previous, 0, takenAt),
  score_type: 'engagement',
  adjustments: [{ reason: 'reset', points: 0 - previous }],
  fire_triggers: false,
  reset_id: idOf('reset'),
});

/** A rescoring came to another score. */
export const scoreRescored = (
  previous: number,
  score: number,
  takenAt: number,
  more: Partial<records.ScoreAdjusted> = {},
): records.ScoreAdjusted => ({
  ...adjusted(previous, score, takenAt),
  score_type: 'engagement',
  adjustments: [{ reason: 'rescored', points: score - previous }],
  fire_triggers: false,
  rescored: {
    job_id: idOf('rescoring'),
    engagement: { rulesets: [], matches: [], others: [{ reason: 'rescored', points: score }] },
  },
  ...more,
});

/** The profile of the lead changed: the rule of this name gives points, or takes them back. */
export const profileScored = (
  previous: number,
  score: number,
  takenAt: number,
  more: Partial<records.ScoreAdjusted> = {},
): records.ScoreAdjusted => ({
  ...adjusted(previous, score, takenAt),
  score_type: 'profile',
  adjustments: [
    {
      reason: 'profile_rule',
      points: score - previous,
      rule_id: idOf('profile rule'),
      rule_version: 1,
      ruleset_id: idOf('profile ruleset'),
    },
  ],
  fire_triggers: true,
  ...more,
});

/** A deal of the lead changed: the rule of this name gives points, or takes them back. */
export const dealScored = (
  previous: number,
  score: number,
  takenAt: number,
  more: Partial<records.ScoreAdjusted> = {},
): records.ScoreAdjusted =>
  profileScored(previous, score, takenAt, {
    score_type: 'deal',
    adjustments: [
      {
        reason: 'deal_rule',
        deal_id: 'D-1',
        points: score - previous,
        rule_id: idOf('deal rule'),
        rule_version: 1,
        ruleset_id: idOf('deal ruleset'),
      },
    ],
    ...more,
  });

export function eventsIngested(
  acts: readonly Act[],
  takenAt: number,
  more: Partial<records.EventsIngested> = {},
): records.EventsIngested {
  const { taken, ...fields } = told(takenAt);
  return {
    ...fields,
    batch_id: idOf('batch'),
    source: 'ingest',
    received_at: taken,
    events: acts.map(({ id, type, at, metadata }) => ({
      id: idOf(id),
      event_type: type,
      timestamp: second(at),
      ...(metadata && { metadata }),
    })),
    ...more,
  };
}

/** Scoring's report of a lead's deletion. */
export function leadRemoved(
  deletion: string,
  previous = 0,
  more: Partial<records.LeadRemoved> = {},
): records.LeadRemoved {
  return {
    ou_id: ouId,
    lead_id: leadId,
    previous_score: previous,
    deletion_id: idOf(deletion),
    removed_at: second(0),
    ...more,
  };
}

export function leadDeleted(deletion: string, more: Partial<records.LeadDeleted> = {}): records.LeadDeleted {
  return {
    ou_id: ouId,
    lead_id: leadId,
    deletion_id: idOf(deletion),
    deleted_by: idOf('credential'),
    deleted_at: second(0),
    ...more,
  };
}

export const scoredAt = (offset: number): Source => ({ topic: 'scoring.events', partition: 0, offset });
export const ingestedAt = (offset: number): Source => ({ topic: 'ingest.events', partition: 0, offset });

/** The ids of the acts that made triggers fire. */
export function firedBy(events: readonly FiringDraft[], acts: readonly Act[]): string[] {
  const names = new Map(acts.map(({ id }) => [idOf(id), id]));
  return events.flatMap((event) =>
    event.type === 'MilestoneFired' || event.type === 'SequenceFired' || event.type === 'SurgeFired'
      ? [names.get(event.payload.cause.event_id ?? '') ?? '?']
      : [],
  );
}

/** The decision of a partition on one batch. */
export async function decidedBy(
  firing: Pick<FiringPartition, 'decide'>,
  incoming: readonly IncomingRecord[],
): Promise<{ events: readonly OutgoingRecord[]; commands: readonly OutgoingRecord[] }> {
  const decision = await firing.decide(incoming);
  if (decision.outcome === 'split') throw new Error(decision.reason);
  const { events, commands = [] } = decision;
  return { events, commands };
}
