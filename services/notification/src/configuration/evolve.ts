// Folds what happened to an OU's channels and triggers: pure, the state before is left as it was.
import type { records } from '@lead-scoring/contracts';
import type { ConfigurationEvent } from './messages.js';
import type { Channel, NotificationConfiguration, Trigger } from './state.js';

export function evolveConfiguration(
  configuration: NotificationConfiguration,
  event: ConfigurationEvent,
): NotificationConfiguration {
  const version = configuration.version + 1;
  switch (event.type) {
    case 'ChannelCreated': {
      const { channel_id, ou_id, name, destination, version: own, at, actor } = event.payload;
      const { signing_key_id, signing_secret } = event.payload;
      return withChannel(configuration, version, {
        id: channel_id,
        ou_id,
        name,
        destination,
        signing: { key_id: signing_key_id, secret: signing_secret, previous: null },
        version: own,
        created_at: at,
        updated_at: at,
        changed_by: actor,
      });
    }
    case 'ChannelReplaced': {
      const { channel_id, name, destination, version: own, at, actor } = event.payload;
      const known = configuration.channels.get(channel_id);
      if (!known) return { ...configuration, version };
      return withChannel(configuration, version, {
        ...known,
        name,
        destination,
        version: own,
        updated_at: at,
        changed_by: actor,
      });
    }
    case 'ChannelSecretRotated': {
      const { channel_id, signing_key_id, signing_secret, previous_key_id, previous_valid_until } =
        event.payload;
      const { at, actor } = event.payload;
      const known = configuration.channels.get(channel_id);
      if (!known) return { ...configuration, version };
      return withChannel(configuration, version, {
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
        version: event.payload.version,
        updated_at: at,
        changed_by: actor,
      });
    }
    case 'ChannelResealed': {
      const { channel_id, destination, signing_secret, previous_signing_secret } = event.payload;
      const known = configuration.channels.get(channel_id);
      if (!known) return { ...configuration, version };
      const { key_id, previous } = known.signing;
      return withChannel(configuration, version, {
        ...known,
        destination,
        signing: {
          key_id,
          secret: signing_secret,
          previous: previous && { ...previous, secret: previous_signing_secret ?? previous.secret },
        },
      });
    }
    case 'ChannelDeleted': {
      const { channel_id, detached_triggers, at, actor } = event.payload;
      const channels = new Map(configuration.channels);
      channels.delete(channel_id);
      const triggers = new Map(configuration.triggers);
      for (const { trigger_id, version: own } of detached_triggers) {
        const known = triggers.get(trigger_id);
        if (known)
          triggers.set(trigger_id, {
            ...known,
            channel_ids: known.channel_ids.filter((id) => id !== channel_id),
            version: own,
            updated_at: at,
            changed_by: actor,
          });
      }
      return { ...configuration, version, channels, triggers };
    }
    case 'TriggerCreated': {
      const { trigger_id, ou_id, definition, version: own, at, actor } = event.payload;
      return withTrigger(configuration, version, {
        ...definition,
        id: trigger_id,
        ou_id,
        version: own,
        since: version,
        created_at: at,
        updated_at: at,
        changed_by: actor,
      });
    }
    case 'TriggerReplaced': {
      const { trigger_id, definition, version: own, at, actor } = event.payload;
      const known = configuration.triggers.get(trigger_id);
      if (!known) return { ...configuration, version };
      const { id, ou_id, since, created_at } = known;
      return withTrigger(configuration, version, {
        ...definition,
        id,
        ou_id,
        version: own,
        since: looksForTheSame(known, definition) ? since : version,
        created_at,
        updated_at: at,
        changed_by: actor,
      });
    }
    case 'TriggerDeleted': {
      const triggers = new Map(configuration.triggers);
      triggers.delete(event.payload.trigger_id);
      return { ...configuration, version, triggers };
    }
  }
}

function withChannel(
  configuration: NotificationConfiguration,
  version: number,
  channel: Channel,
): NotificationConfiguration {
  return { ...configuration, version, channels: new Map(configuration.channels).set(channel.id, channel) };
}

function withTrigger(
  configuration: NotificationConfiguration,
  version: number,
  trigger: Trigger,
): NotificationConfiguration {
  return { ...configuration, version, triggers: new Map(configuration.triggers).set(trigger.id, trigger) };
}

/** Whether two definitions fire for the same events. */
export function looksForTheSame(one: records.TriggerDefinition, other: records.TriggerDefinition): boolean {
  return JSON.stringify(lookedFor(one)) === JSON.stringify(lookedFor(other));
}

/** What of a trigger decides for which events it fires: neither its name, nor whom it tells, nor whether it is active. */
function lookedFor(trigger: records.TriggerDefinition): unknown {
  switch (trigger.kind) {
    case 'milestone': {
      const { event_type, score_type, score_threshold, level, direction, rearm } = trigger;
      const { below, above, cooldown_seconds } = rearm;
      const line = [score_threshold, level?.toLowerCase()];
      return [event_type, score_type, line, direction, below, above, cooldown_seconds];
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
