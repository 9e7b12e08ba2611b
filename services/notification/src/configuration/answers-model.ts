// The answers of routes on channels and triggers, with secrets shortened to their last four characters.
import { filterLabel, type records, type routeDeclarations } from '@lead-scoring/contracts';
import {
  lineOf,
  type MilestoneTrigger,
  type SequenceTrigger,
  type SurgeTrigger,
  type Trigger,
} from '@lead-scoring/scoring-domain/triggers';
import { shownAddress } from './destination-model.js';
import type { KnownScoring } from './scoring-names-model.js';
import type { Channel } from './state.js';

export type ChannelAnswer = routeDeclarations.NotificationChannel;
/** Whether a channel takes notifications. */
export type ChannelCondition = Pick<ChannelAnswer, 'status' | 'paused_reason' | 'last_error'>;
/** The number of leads for which a trigger is silent now. */
export type Suppression = NonNullable<routeDeclarations.MilestoneTriggerAnswer['suppressed']>;

/** The state of a trigger besides its definition. */
export interface TriggerCondition {
  suppressed?: Suppression | undefined;
  /** The OU's current levels and filters. */
  scoring: NonNullable<KnownScoring>;
}

export interface TriggerAnswers {
  milestone: routeDeclarations.MilestoneTriggerAnswer;
  sequence: routeDeclarations.SequenceTriggerAnswer;
  surge: routeDeclarations.SurgeTriggerAnswer;
}

export function shownChannel(channel: Channel, condition: ChannelCondition): ChannelAnswer {
  const { id, ou_id, name, destination, created_at, updated_at, changed_by } = channel;
  const common = { id, unit_id: ou_id, name, created_at, updated_at, changed_by, ...condition };
  switch (destination.type) {
    case 'slack':
      return { ...common, type: 'slack', config: destination.config };
    case 'email':
      return { ...common, type: 'email', config: destination.config };
    case 'teams': {
      const { webhook_url, channel_name } = destination.config;
      return { ...common, type: 'teams', config: { webhook_url: shortened(webhook_url), channel_name } };
    }
    case 'webhook': {
      const { url, auth_header } = destination.config;
      return {
        ...common,
        type: 'webhook',
        config: { url: shownAddress(url), ...(auth_header && { auth_header: shortened(auth_header) }) },
      };
    }
  }
}

function shortened({ last_four }: records.SealedSecret): string {
  return `…${last_four}`;
}

export function shownTrigger(trigger: Trigger, condition: TriggerCondition): TriggerAnswers[Trigger['kind']] {
  switch (trigger.kind) {
    case 'milestone':
      return shownMilestone(trigger, condition);
    case 'sequence':
      return shownSequence(trigger, condition);
    case 'surge':
      return shownSurge(trigger, condition);
  }
}

export function shownMilestone(
  trigger: MilestoneTrigger,
  condition: TriggerCondition,
): TriggerAnswers['milestone'] {
  const { event_type, score_type, score_threshold, level, direction, rearm, filter_id } = trigger;
  return {
    ...shownFields(trigger, condition),
    ...(event_type !== undefined && { event_type }),
    score_type,
    ...(score_threshold !== undefined && { score_threshold }),
    ...(level !== undefined && { level, level_missing: lineOf(trigger, condition.scoring) === null }),
    ...(filter_id !== undefined && {
      filter_id,
      filter_missing: !condition.scoring.filters.has(filter_id.toLowerCase()),
    }),
    direction,
    rearm,
  };
}

export function shownSequence(
  trigger: SequenceTrigger,
  condition: TriggerCondition,
): TriggerAnswers['sequence'] {
  const { steps, ordered, window_seconds, cooldown_seconds } = trigger;
  return {
    ...shownFields(trigger, condition),
    event_types: steps.map(({ event_type }) => event_type),
    steps: steps.map(({ event_type, attribute_filters }) => {
      const label = filterLabel(attribute_filters);
      return {
        event_type,
        attribute_filters,
        // Filters with long lists of values give long labels: bounds the answer.
        ...(label !== undefined && { filter_label: label.slice(0, 50_000).toWellFormed() }),
      };
    }),
    ordered,
    window_seconds,
    cooldown_seconds,
  };
}

export function shownSurge(trigger: SurgeTrigger, condition: TriggerCondition): TriggerAnswers['surge'] {
  const { event_type, threshold, window_seconds, cooldown_seconds } = trigger;
  return {
    ...shownFields(trigger, condition),
    event_type,
    score_type: 'engagement',
    threshold,
    window_seconds,
    cooldown_seconds,
  };
}

function shownFields(
  { id, name, channel_ids, active, version, created_at, updated_at, changed_by }: Trigger,
  { suppressed }: TriggerCondition,
) {
  return {
    id,
    name,
    channel_ids,
    has_destination: channel_ids.length > 0,
    active,
    version,
    created_at,
    updated_at,
    changed_by,
    ...(suppressed && { suppressed }),
  };
}
