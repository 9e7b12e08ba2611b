// Decides on commands on an OU's channels. Pure.
import type { records } from '@lead-scoring/contracts';
import {
  canonical,
  configurationLimits,
  done,
  limitReached,
  rejected,
  unlessTooLarge,
} from './decision-model.js';
import { destinationOf, type DestinationCheck } from './destination-model.js';
import type { ConfigurationDecision } from './messages.js';
import type { Channel, NotificationConfiguration } from './state.js';

/** Time after a rotation in which a channel signs with the previous secret too. */
export const rotationOverlapMs = 24 * 3_600_000;

export function createChannel(
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

export function replaceChannel(
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

export function deleteChannel(
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

export function rotateChannelSecret(
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

function isSameDestination(one: records.ChannelDestination, other: records.ChannelDestination): boolean {
  return canonical(one) === canonical(other);
}

function secretNotShownAgain(): ConfigurationDecision {
  return rejected({
    code: 'idempotency_key_reused',
    message:
      'This Idempotency-Key created the channel earlier, and the signing secret of then is no longer valid. Send the request with another Idempotency-Key.',
  });
}

function channelNotFound(): ConfigurationDecision {
  return rejected({
    code: 'notification_channel_not_found',
    message:
      'No notification channel of this organizational unit has this id. GET /notification-channels lists them.',
  });
}
