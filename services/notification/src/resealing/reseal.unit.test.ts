// Resealing: afterwards no secret of a channel needs the previous key, and channel and secrets are the same.
import { describe, expect, test } from '@jest/globals';
import { signingContext, type records } from '@lead-scoring/contracts';
import { createSealing } from '@lead-scoring/service';
import { channelId, createChannel, ouId, requestedAt } from '../testing/builders.js';
import { shownChannel } from '../configuration/answers-model.js';
import { decideConfiguration } from '../configuration/decide.js';
import { evolveConfiguration } from '../configuration/evolve.js';
import type { ConfigurationCommand } from '../configuration/messages.js';
import { resultOf } from '../configuration/result-model.js';
import { countsOf, resealed } from './reseal-model.js';
import {
  emptyNotificationConfiguration,
  type Channel,
  type NotificationConfiguration,
} from '../configuration/state.js';

const old = createSealing('a secret of tests that is long enough');
const during = createSealing({
  current: 'another secret of tests, as long as that',
  previous: 'a secret of tests that is long enough',
});
const afterwards = createSealing('another secret of tests, as long as that');
const check = { refusalOf: () => null, warningsOf: () => [] };
const id = channelId(1);

const secretOf = (text: string, sealing = old) => ({ sealed: sealing.seal(text, id), last_four: '' });
const webhook: records.WrittenDestination = {
  type: 'webhook',
  config: {
    url: { ...secretOf('https://example.com/hook'), origin: 'https://example.com' },
    auth_header: secretOf('Bearer 1234'),
  },
};
const teams: records.WrittenDestination = {
  type: 'teams',
  config: { webhook_url: secretOf('https://example.com/teams'), channel_name: 'Sales' },
};
const signing = (keyId: string, secret: string) => ({
  signing_key_id: keyId,
  signing_secret: old.seal(secret, signingContext(keyId)),
});
const rotate = (keyId: string, secret?: string): ConfigurationCommand => ({
  type: 'RotateChannelSecret',
  payload: {
    ou_id: ouId,
    channel_id: id,
    ...(secret === undefined ? { signing_key_id: keyId } : signing(keyId, secret)),
    requested_at: requestedAt,
  },
});

function given(...commands: ConfigurationCommand[]): NotificationConfiguration {
  return commands.reduce((configuration, command) => {
    const decision = decideConfiguration(command, configuration, check, null);
    if (decision.outcome === 'rejected') throw new Error(decision.message);
    return decision.events.reduce(evolveConfiguration, configuration);
  }, emptyNotificationConfiguration(ouId));
}

function channelOf({ channels }: NotificationConfiguration): Channel {
  const channel = channels.get(id);
  if (!channel) throw new Error('there is none');
  return channel;
}

function sealedAnew(configuration: NotificationConfiguration): Channel {
  const payload = resealed(channelOf(configuration), during, requestedAt);
  return channelOf(evolveConfiguration(configuration, { type: 'ChannelResealed', payload }));
}

describe('sealing anew', () => {
  test.each<[string, ConfigurationCommand[], number]>([
    ['a webhook', [createChannel(1, { destination: webhook, ...signing(id, 'whsec_1') })], 3],
    ['Teams', [createChannel(1, { destination: teams, ...signing(id, 'whsec_1') })], 2],
    [
      'a webhook whose secret was rotated',
      [
        createChannel(1, { destination: webhook, ...signing(id, 'whsec_1') }),
        rotate(channelId(2), 'whsec_2'),
      ],
      4,
    ],
    [
      'a webhook of an earlier version, whose signing secrets are derived and not stored',
      [createChannel(1, { destination: webhook }), rotate(channelId(2))],
      4,
    ],
  ])('%s leaves nothing that needs the previous key', (_title, commands, secrets) => {
    const before = given(...commands);
    expect(countsOf(channelOf(before), during)).toEqual({ current: 0, superseded: secrets, unreadable: 0 });
    const channel = sealedAnew(before);
    expect(countsOf(channel, afterwards)).toEqual({ current: secrets, superseded: 0, unreadable: 0 });
    expect(countsOf(channel, old)).toEqual({ current: 0, superseded: 0, unreadable: secrets });
    // Nothing else of the channel has changed.
    const active = { status: 'active' } as const;
    expect(shownChannel(channel, active)).toEqual(shownChannel(channelOf(before), active));
    expect(channel.version).toBe(channelOf(before).version);
  });

  test('keeps every secret, derived ones included', () => {
    const { destination, signing: keys } = sealedAnew(
      given(createChannel(1, { destination: webhook }), rotate(channelId(2), 'whsec_2')),
    );
    if (destination.type !== 'webhook' || typeof destination.config.url === 'string')
      throw new Error('it is a webhook with a sealed address');
    expect(afterwards.unseal(destination.config.url.sealed, id)).toBe('https://example.com/hook');
    expect(afterwards.unseal(destination.config.auth_header?.sealed ?? '', id)).toBe('Bearer 1234');
    expect(afterwards.unseal(keys.secret ?? '', signingContext(channelId(2)))).toBe('whsec_2');
    expect(afterwards.unseal(keys.previous?.secret ?? '', signingContext(id))).toBe(old.signingSecret(id));
  });

  test('leaves and counts secrets that no key opens', () => {
    const lost = createSealing('a secret that nobody has any more, alas');
    const destination: records.WrittenDestination = {
      type: 'teams',
      config: { webhook_url: secretOf('https://example.com/teams', lost), channel_name: 'Sales' },
    };
    const channel = sealedAnew(given(createChannel(1, { destination, ...signing(id, 'whsec_1') })));
    expect(countsOf(channel, during)).toEqual({ current: 1, superseded: 0, unreadable: 1 });
    expect(channel.destination).toEqual(destination);
  });

  test('of a channel that was deleted meanwhile changes only the version', () => {
    const before = given(createChannel(1, { destination: teams }));
    const payload = resealed(channelOf(before), during, requestedAt);
    const gone = given();
    const after = evolveConfiguration(gone, { type: 'ChannelResealed', payload });
    expect(after).toEqual({ ...gone, version: 1 });
  });
});

describe('a command that is repeated', () => {
  const first = createChannel(1, { destination: webhook, ...signing(id, 'whsec_1') });
  const again = createChannel(1, { destination: webhook, ...signing(id, 'whsec_another') });
  const resultFor = (command: ConfigurationCommand, configuration: NotificationConfiguration) =>
    resultOf(command, configuration, null, check);

  test('is answered with the channel’s secret, whatever secret the repeat has', () => {
    const kept = signing(id, 'whsec_1').signing_secret;
    expect(resultFor(again, given(first))).toMatchObject({ signing_secret: kept });
    const rotated = given(first, rotate(channelId(2), 'whsec_2'));
    expect(decideConfiguration(again, rotated, check, null)).toEqual({ outcome: 'done', events: [] });
    expect(resultFor(again, rotated)).toMatchObject({ signing_secret: kept });
    expect(resultFor(rotate(channelId(2), 'whsec_another'), rotated)).toMatchObject({
      signing_secret: signing(channelId(2), 'whsec_2').signing_secret,
    });
  });

  test('is refused once its secret is no longer valid', () => {
    const rotated = given(first, rotate(channelId(2), 'whsec_2'), rotate(channelId(3), 'whsec_3'));
    expect(decideConfiguration(again, rotated, check, null)).toMatchObject({
      outcome: 'rejected',
      code: 'idempotency_key_reused',
    });
  });
});
