// Folds the events of an OU's channels and triggers. Pure: the state before is not changed.
import { shownActor, type records } from '@lead-scoring/contracts';
import { createdTrigger, type Trigger } from '@lead-scoring/scoring-domain/triggers';
import type { ConfigurationEvent } from './messages.js';
import type { Channel, NotificationConfiguration } from './state.js';

export function evolveConfiguration(
  configuration: NotificationConfiguration,
  event: ConfigurationEvent,
): NotificationConfiguration {
  const changed = { ...configuration, version: configuration.version + 1 };
  switch (event.type) {
    case 'ChannelCreated':
      return withChannel(changed, createdChannel(event.payload));
    case 'ChannelReplaced':
      return withKnownChannel(changed, event.payload, replacedChannel);
    case 'ChannelSecretRotated':
      return withKnownChannel(changed, event.payload, rotatedChannel);
    case 'ChannelResealed':
      return withKnownChannel(changed, event.payload, resealedChannel);
    case 'ChannelDeleted':
      return withoutChannel(changed, event.payload);
    case 'TriggerCreated':
      return withTrigger(changed, createdTrigger(event.payload, changed.version));
    case 'TriggerReplaced': {
      const known = changed.triggers.get(event.payload.trigger_id);
      return known ? withTrigger(changed, replacedTrigger(known, event.payload, changed.version)) : changed;
    }
    case 'TriggerDeleted': {
      const triggers = new Map(changed.triggers);
      triggers.delete(event.payload.trigger_id);
      return { ...changed, triggers };
    }
  }
}

function createdChannel({
  channel_id,
  ou_id,
  name,
  destination,
  signing_key_id,
  signing_secret,
  version,
  at,
  actor,
}: records.ChannelCreated): Channel {
  return {
    id: channel_id,
    ou_id,
    name,
    destination,
    signing: { key_id: signing_key_id, secret: signing_secret, previous: null },
    version,
    created_at: at,
    updated_at: at,
    changed_by: shownActor(actor),
  };
}

function replacedChannel(
  known: Channel,
  { name, destination, version, at, actor }: records.ChannelReplaced,
): Channel {
  return { ...known, name, destination, version, updated_at: at, changed_by: shownActor(actor) };
}

function rotatedChannel(known: Channel, event: records.ChannelSecretRotated): Channel {
  const { signing_key_id, signing_secret, previous_key_id, previous_valid_until } = event;
  const { version, at, actor } = event;
  return {
    ...known,
    signing: {
      key_id: signing_key_id,
      secret: signing_secret,
      previous: {
        key_id: previous_key_id,
        secret: known.signing.secret,
        valid_until: previous_valid_until,
      },
    },
    version,
    updated_at: at,
    changed_by: shownActor(actor),
  };
}

function resealedChannel(
  known: Channel,
  { destination, signing_secret, previous_signing_secret }: records.ChannelResealed,
): Channel {
  const { key_id, previous } = known.signing;
  return {
    ...known,
    destination,
    signing: {
      key_id,
      secret: signing_secret,
      previous: previous && { ...previous, secret: previous_signing_secret ?? previous.secret },
    },
  };
}

function withoutChannel(
  configuration: NotificationConfiguration,
  { channel_id, detached_triggers, at, actor }: records.ChannelDeleted,
): NotificationConfiguration {
  const channels = new Map(configuration.channels);
  channels.delete(channel_id);
  const triggers = new Map(configuration.triggers);
  for (const { trigger_id, version } of detached_triggers) {
    const known = triggers.get(trigger_id);
    if (known)
      triggers.set(trigger_id, {
        ...known,
        channel_ids: known.channel_ids.filter((id) => id !== channel_id),
        version,
        updated_at: at,
        changed_by: shownActor(actor),
      });
  }
  return { ...configuration, channels, triggers };
}

/** @param changedIn version of the configuration after this event */
function replacedTrigger(
  known: Trigger,
  { definition, version, at, actor }: records.TriggerReplaced,
  changedIn: number,
): Trigger {
  const { id, ou_id, since, created_at } = known;
  return {
    ...definition,
    id,
    ou_id,
    version,
    since: looksForTheSame(known, definition) ? since : changedIn,
    created_at,
    updated_at: at,
    changed_by: shownActor(actor),
  };
}

function withChannel(configuration: NotificationConfiguration, channel: Channel): NotificationConfiguration {
  return { ...configuration, channels: new Map(configuration.channels).set(channel.id, channel) };
}

/** Changes a channel; a deleted channel stays deleted. */
function withKnownChannel<Change extends { channel_id: string }>(
  configuration: NotificationConfiguration,
  change: Change,
  changed: (known: Channel, change: Change) => Channel,
): NotificationConfiguration {
  const known = configuration.channels.get(change.channel_id);
  return known ? withChannel(configuration, changed(known, change)) : configuration;
}

function withTrigger(configuration: NotificationConfiguration, trigger: Trigger): NotificationConfiguration {
  return { ...configuration, triggers: new Map(configuration.triggers).set(trigger.id, trigger) };
}

/** Whether two definitions fire for the same events. */
export function looksForTheSame(one: records.TriggerDefinition, other: records.TriggerDefinition): boolean {
  return JSON.stringify(lookedFor(one)) === JSON.stringify(lookedFor(other));
}

/** The fields of a trigger that decide for which events it fires: not its name, its channels, or whether it is active. */
function lookedFor(trigger: records.TriggerDefinition): unknown {
  switch (trigger.kind) {
    case 'milestone': {
      const { event_type, score_type, score_threshold, level, direction, rearm, filter_id } = trigger;
      const { below, above, cooldown_seconds } = rearm;
      const line = [score_threshold, level?.toLowerCase()];
      return [event_type, score_type, line, direction, below, above, cooldown_seconds, filter_id];
    }
    case 'sequence': {
      const { steps, ordered, window_seconds, cooldown_seconds } = trigger;
      return [steps, ordered, window_seconds, cooldown_seconds];
    }
    case 'surge': {
      const { event_type, score_type, threshold, window_seconds, cooldown_seconds } = trigger;
      return [event_type, score_type, threshold, window_seconds, cooldown_seconds];
    }
  }
}
