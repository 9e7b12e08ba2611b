// Decides on changes of an OU's channels and triggers: pure; time and ids come with the command.
import { actedBy, levelOfName, type records, type Warning } from '@lead-scoring/contracts';
import type { Levels } from '../levels/line-model.js';
import { shownChannel, shownTrigger } from './answers-model.js';
import { destinationOf } from './destination-model.js';
import type {
  CommandResult,
  ConfigurationCommand,
  ConfigurationDecision,
  ConfigurationEvent,
  Refusal,
} from './messages.js';
import { looksForTheSame } from './evolve.js';
import type { Channel, NotificationConfiguration, Trigger } from './state.js';

export const configurationLimits = {
  channels: 200,
  triggers: 1_000,
  /** Of all channels and triggers as JSON, so that a configuration fits into one document. */
  bytes: 8_000_000,
};

/** How long a channel signs with its secret from before a rotation as well. */
export const rotationOverlapMs = 24 * 3_600_000;

export interface DestinationCheck {
  /** Why nothing can be sent to the destination, as far as its text tells; null when it can. */
  refusalOf(destination: records.ChannelDestination, channelId: string): Refusal | null;
  /** What is missing of the service's settings before anything can be sent there. */
  warningsOf(destination: records.ChannelDestination): Warning[];
}

/** The OU's levels, for commands on triggers by level; null: what is known of them may be too old to say what is not there. */
export type KnownLevels = Levels | null;

/** A command that took effect before gives no event again, and resultOf then gives the same answer. */
export function decideConfiguration(
  command: ConfigurationCommand,
  configuration: NotificationConfiguration,
  check: DestinationCheck,
  levels: KnownLevels,
): ConfigurationDecision {
  const decision = decideCommand(command, configuration, check, levels);
  if (decision.outcome === 'rejected') return decision;
  return { ...decision, events: actedBy(decision.events, command.payload) };
}

function decideCommand(
  command: ConfigurationCommand,
  configuration: NotificationConfiguration,
  check: DestinationCheck,
  levels: KnownLevels,
): ConfigurationDecision {
  switch (command.type) {
    case 'CreateChannel':
      return createChannel(command.payload, configuration, check);
    case 'ReplaceChannel':
      return replaceChannel(command.payload, configuration, check);
    case 'DeleteChannel':
      return deleteChannel(command.payload, configuration);
    case 'RotateChannelSecret':
      return rotateChannelSecret(command.payload, configuration);
    case 'CreateTrigger':
      return createTrigger(command.payload, configuration, levels);
    case 'ReplaceTrigger':
      return replaceTrigger(command.payload, configuration, levels);
    case 'DeleteTrigger':
      return deleteTrigger(command.payload, configuration);
  }
}

/** What the command's route answers with, once its events are folded. */
export function resultOf(
  command: ConfigurationCommand,
  configuration: NotificationConfiguration,
  levels: KnownLevels,
  check: Pick<DestinationCheck, 'warningsOf'>,
): CommandResult {
  switch (command.type) {
    case 'CreateChannel':
    case 'ReplaceChannel': {
      const channel = decided(configuration.channels.get(command.payload.channel_id));
      const warnings = check.warningsOf(channel.destination);
      const secret = command.type === 'CreateChannel' && sealedFor(channel, command.payload.signing_key_id);
      // A channel that was given a destination is delivered to, whatever was before.
      return asResult({
        ...shownChannel(channel, { status: 'active' }),
        ...(warnings.length > 0 && { warnings }),
        ...(secret && { signing_secret: secret }),
      });
    }
    case 'RotateChannelSecret': {
      const channel = decided(configuration.channels.get(command.payload.channel_id));
      const secret = sealedFor(channel, command.payload.signing_key_id);
      return {
        previous_valid_until: decided(channel.signing.previous ?? undefined).valid_until,
        ...(secret && { signing_secret: secret }),
      };
    }
    case 'CreateTrigger':
    case 'ReplaceTrigger':
      return asResult(
        shownTrigger(decided(configuration.triggers.get(command.payload.trigger_id)), {
          levels: levels ?? [],
        }),
      );
    case 'DeleteChannel':
    case 'DeleteTrigger':
      return undefined;
  }
}

/** The sealed signing secret of this key: whoever repeats the command that made it is shown the same one. */
function sealedFor({ destination, signing }: Channel, keyId: string): string | undefined {
  if (destination.type !== 'webhook') return undefined;
  return signing.key_id === keyId ? signing.secret : signing.previous?.secret;
}

function createChannel(
  command: records.CreateChannel,
  configuration: NotificationConfiguration,
  check: DestinationCheck,
): ConfigurationDecision {
  const { ou_id, channel_id, name, signing_key_id, signing_secret, requested_at } = command;
  const known = configuration.channels.get(channel_id);
  if (known) return signsWith(known, signing_key_id) ? done() : secretNotShownAgain();
  const destination = destinationOf(command.destination, undefined);
  if ('code' in destination) return rejected(destination);
  const refusal = check.refusalOf(destination, channel_id);
  if (refusal) return rejected(refusal);
  if (configuration.channels.size >= configurationLimits.channels)
    return limitReached(
      `An organizational unit holds at most ${String(configurationLimits.channels)} notification channels. Delete one that is not needed any more.`,
    );
  return unlessTooLarge(configuration, {
    type: 'ChannelCreated',
    payload: {
      ou_id,
      channel_id,
      name,
      destination,
      signing_key_id,
      ...(signing_secret !== undefined && { signing_secret }),
      version: 1,
      at: requested_at,
    },
  });
}

function replaceChannel(
  { ou_id, channel_id, name, destination: written, requested_at }: records.ReplaceChannel,
  configuration: NotificationConfiguration,
  check: DestinationCheck,
): ConfigurationDecision {
  const known = configuration.channels.get(channel_id);
  if (!known) return channelNotFound();
  const destination = destinationOf(written, known);
  if ('code' in destination) return rejected(destination);
  if (name === known.name && isSameDestination(destination, known.destination)) return done();
  const refusal = check.refusalOf(destination, channel_id);
  if (refusal) return rejected(refusal);
  return unlessTooLarge(configuration, {
    type: 'ChannelReplaced',
    payload: { ou_id, channel_id, name, destination, version: known.version + 1, at: requested_at },
  });
}

function deleteChannel(
  { ou_id, channel_id, requested_at }: records.DeleteChannel,
  configuration: NotificationConfiguration,
): ConfigurationDecision {
  if (!configuration.channels.has(channel_id)) return channelNotFound();
  const detached_triggers = [...configuration.triggers.values()]
    .filter(({ channel_ids }) => channel_ids.includes(channel_id))
    .map(({ id, version }) => ({ trigger_id: id, version: version + 1 }));
  return done({
    type: 'ChannelDeleted',
    payload: { ou_id, channel_id, detached_triggers, at: requested_at },
  });
}

function rotateChannelSecret(
  { ou_id, channel_id, signing_key_id, signing_secret, requested_at }: records.RotateChannelSecret,
  configuration: NotificationConfiguration,
): ConfigurationDecision {
  const known = configuration.channels.get(channel_id);
  if (!known) return channelNotFound();
  if (known.destination.type !== 'webhook')
    return rejected({
      code: 'channel_signs_nothing',
      message: 'Only webhook channels sign what they send; this one has no signing secret to rotate.',
    });
  if (signsWith(known, signing_key_id)) return done();
  return done({
    type: 'ChannelSecretRotated',
    payload: {
      ou_id,
      channel_id,
      signing_key_id,
      ...(signing_secret !== undefined && { signing_secret }),
      previous_key_id: known.signing.key_id,
      previous_valid_until: new Date(Date.parse(requested_at) + rotationOverlapMs).toISOString(),
      version: known.version + 1,
      at: requested_at,
    },
  });
}

function signsWith({ signing }: Channel, keyId: string): boolean {
  return signing.key_id === keyId || signing.previous?.key_id === keyId;
}

function secretNotShownAgain(): ConfigurationDecision {
  return rejected({
    code: 'idempotency_key_reused',
    message:
      'The signing secret that this earlier request made is not valid any more. Send the request with another Idempotency-Key.',
  });
}

function createTrigger(
  { ou_id, trigger_id, definition, requested_at }: records.CreateTrigger,
  configuration: NotificationConfiguration,
  levels: KnownLevels,
): ConfigurationDecision {
  const known = configuration.triggers.get(trigger_id);
  const unplaced = refusalOfLevel(definition, known, levels);
  if (unplaced) return rejected(unplaced);
  if (known) return done();
  const refusal = refusalOfChannels(definition.channel_ids, configuration);
  if (refusal) return rejected(refusal);
  if (configuration.triggers.size >= configurationLimits.triggers)
    return limitReached(
      `An organizational unit holds at most ${String(configurationLimits.triggers)} triggers. Delete one that is not needed any more.`,
    );
  return unlessTooLarge(configuration, {
    type: 'TriggerCreated',
    payload: { ou_id, trigger_id, definition, version: 1, at: requested_at },
  });
}

function replaceTrigger(
  { ou_id, trigger_id, definition, requested_at }: records.ReplaceTrigger,
  configuration: NotificationConfiguration,
  levels: KnownLevels,
): ConfigurationDecision {
  const known = configuration.triggers.get(trigger_id);
  if (known?.kind !== definition.kind) return triggerNotFound();
  const refusal =
    refusalOfLevel(definition, known, levels) ?? refusalOfChannels(definition.channel_ids, configuration);
  if (refusal) return rejected(refusal);
  if (isDefinedAs(known, definition)) return done();
  return unlessTooLarge(configuration, {
    type: 'TriggerReplaced',
    payload: { ou_id, trigger_id, definition, version: known.version + 1, at: requested_at },
  });
}

function deleteTrigger(
  { ou_id, trigger_id, kind, requested_at }: records.DeleteTrigger,
  configuration: NotificationConfiguration,
): ConfigurationDecision {
  if (configuration.triggers.get(trigger_id)?.kind !== kind) return triggerNotFound();
  return done({ type: 'TriggerDeleted', payload: { ou_id, trigger_id, kind, at: requested_at } });
}

function refusalOfChannels(
  channelIds: readonly string[],
  { channels }: NotificationConfiguration,
): Refusal | null {
  const errors = channelIds.flatMap((id, index) =>
    channels.has(id)
      ? []
      : [
          {
            path: `body.channel_ids[${String(index)}]`,
            message: 'is not a notification channel of this organizational unit',
          },
        ],
  );
  if (errors.length === 0) return null;
  return {
    code: 'notification_channel_not_found',
    message: `${String(errors.length)} of the channel_ids are not notification channels of this organizational unit. GET /notification-channels lists them.`,
    errors,
  };
}

/** A trigger that has lost its level keeps it while nothing changes of what it looks for: its name and channels still may. */
function refusalOfLevel(
  definition: records.TriggerDefinition,
  known: Trigger | undefined,
  levels: KnownLevels,
): Refusal | null {
  if (definition.kind !== 'milestone' || definition.level === undefined) return null;
  if (levels === null)
    return {
      code: 'position_not_reached',
      message: 'The newest levels are not visible here yet. Send the request again in a moment.',
    };
  if (known && looksForTheSame(known, definition)) return null;
  const level = levelOfName(levels, definition.level);
  if (!level) {
    const names = levels.map(({ name }) => `"${name}"`).join(', ');
    return {
      code: 'level_not_found',
      message: `No engagement level of this organizational unit is named "${definition.level}". ${names === '' ? 'It has none; PUT /engagement-scoring/levels sets them.' : `There are ${names}.`}`,
      errors: [{ path: 'body.level', message: 'is not an engagement level of this organizational unit' }],
    };
  }
  const { name, min_score } = level;
  if (min_score === null)
    return {
      code: 'invalid_request',
      message: `The level "${name}" has no min_score: no score comes to it from below. To be told of leads that fall to it, name the level above with direction down.`,
      errors: [{ path: 'body.level', message: 'must be a level with a min_score' }],
    };
  const { below, above } = definition.rearm;
  const lies = `the min_score of "${name}", which is ${String(min_score)}`;
  if (below !== undefined && below > min_score) return rearmRefused('below', `must not be above ${lies}`);
  if (above !== undefined && above < min_score) return rearmRefused('above', `must not be below ${lies}`);
  return null;
}

function rearmRefused(field: 'below' | 'above', message: string): Refusal {
  const path = `rearm.${field}`;
  return {
    code: 'invalid_request',
    message: `${path} ${message}.`,
    errors: [{ path: `body.${path}`, message }],
  };
}

function unlessTooLarge(
  configuration: NotificationConfiguration,
  event: ConfigurationEvent,
): ConfigurationDecision {
  const { channels, triggers } = configuration;
  const bytes = JSON.stringify([...channels.values(), ...triggers.values(), event.payload]).length;
  if (bytes <= configurationLimits.bytes) return done(event);
  return limitReached(
    `The channels and triggers of an organizational unit may take ${String(configurationLimits.bytes / 1_000_000)} MB in all. Use shorter lists of values in attribute_filters.`,
  );
}

function isSameDestination(one: records.ChannelDestination, other: records.ChannelDestination): boolean {
  return canonical(one) === canonical(other);
}

function isDefinedAs(trigger: Trigger, definition: records.TriggerDefinition): boolean {
  const own = new Set(['id', 'ou_id', 'version', 'since', 'created_at', 'updated_at', 'changed_by']);
  return (
    canonical(Object.fromEntries(Object.entries(trigger).filter(([key]) => !own.has(key)))) ===
    canonical(definition)
  );
}

/** JSON with the keys of every object in order: equal for values that are. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    item !== null && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

function done(...events: ConfigurationEvent[]): ConfigurationDecision {
  return { outcome: 'done', events };
}

function rejected(refusal: Refusal): ConfigurationDecision {
  return { outcome: 'rejected', ...refusal };
}

function limitReached(message: string): ConfigurationDecision {
  return rejected({ code: 'limit_reached', message });
}

function channelNotFound(): ConfigurationDecision {
  return rejected({
    code: 'notification_channel_not_found',
    message:
      'No notification channel of this organizational unit has this id. GET /notification-channels lists them.',
  });
}

function triggerNotFound(): ConfigurationDecision {
  return rejected({
    code: 'trigger_not_found',
    message: 'No trigger of this kind has this id in this organizational unit.',
  });
}

function decided<Resource>(resource: Resource | undefined): Resource {
  if (resource === undefined) throw new Error('a decided resource is not in the state');
  return resource;
}

/** A resource is JSON; what its declared type leaves optional is absent, never undefined. */
function asResult(resource: object): CommandResult {
  return Object.fromEntries(Object.entries(resource).filter(([, value]) => value !== undefined));
}
