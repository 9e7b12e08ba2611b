// Seals the secrets of some channels of a partition with the current key, and counts the secrets by key: the previous key can be
// removed when no secret needs it. See docs/runbooks/secrets.md.
import type { records } from '@lead-scoring/contracts';
import { withClassifiedErrors, type Collection } from '@lead-scoring/read-model';
import { toConfiguration, type ConfigurationDocument } from '../configuration/documents.js';
import { evolveConfiguration } from '../configuration/evolve.js';
import type { NotificationConfiguration } from '../configuration/state.js';
import { countsOf, resealed, type Resealing } from './reseal-model.js';

export interface ResealOptions {
  sealing: Resealing & { readonly keyId: string };
  /** Maximum number of channels to reseal. */
  maximum: number;
  at: string;
  /** Configurations by OU that are newer than the stored ones. */
  changing: ReadonlyMap<string, NotificationConfiguration>;
}

export interface ResealedPartition {
  events: records.ChannelResealed[];
  /** By OU id. */
  changed: Map<string, NotificationConfiguration>;
  /** Number of secrets by key afterwards. */
  result: records.ResealResult;
}

/** Reseals a partition with one configuration in memory at a time, besides the changed ones. */
export async function resealPartition(
  stored: Collection<ConfigurationDocument>,
  partition: number,
  { sealing, maximum, at, changing }: ResealOptions,
): Promise<ResealedPartition> {
  const events: records.ChannelResealed[] = [];
  const changed: ResealedPartition['changed'] = new Map();
  const secrets = { current: 0, superseded: 0, unreadable: 0 };
  const count = (ofChannel: typeof secrets) => {
    for (const standing of standings) secrets[standing] += ofChannel[standing];
  };
  const look = (before: NotificationConfiguration) => {
    let configuration = before;
    for (const channel of before.channels.values()) {
      const counts = countsOf(channel, sealing);
      if (counts.superseded === 0 || events.length >= maximum) {
        count(counts);
        continue;
      }
      const payload = resealed(channel, sealing, at);
      events.push(payload);
      configuration = evolveConfiguration(configuration, { type: 'ChannelResealed', payload });
      const after = configuration.channels.get(channel.id);
      if (after) count(countsOf(after, sealing));
    }
    if (configuration !== before) changed.set(before.ou_id, configuration);
  };
  for (const configuration of changing.values()) look(configuration);
  await withClassifiedErrors(async () => {
    for await (const document of stored.find({ partition })) {
      const configuration = toConfiguration(document);
      if (!changing.has(configuration.ou_id)) look(configuration);
    }
  });
  return { events, changed, result: { key_id: sealing.keyId, channels: events.length, secrets } };
}

const standings = ['current', 'superseded', 'unreadable'] as const;
