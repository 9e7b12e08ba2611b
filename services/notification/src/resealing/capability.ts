// The resealing capability: one command seals the secrets of some channels of its partition with the current key. It comes after
// the configuration capability in the service's list, so that it sees the changes of the same batch.
import {
  policy,
  type Aggregate,
  type CapabilityDecision,
  type OpenAggregate,
  type PartitionScope,
} from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { outgoing, type IncomingRecord, type OutgoingRecord, type Reply } from '@lead-scoring/event-log';
import type { ConfigurationShape } from '../configuration/capability.js';
import { configurations } from '../configuration/documents.js';
import { resealPartition, type ResealOptions } from './reseal.js';

export interface ResealingDependencies {
  /** The configuration capability, which folds `ChannelResealed`. */
  configuration: Aggregate<ConfigurationShape>;
  sealing: ResealOptions['sealing'];
}

export function resealingCapability(dependencies: ResealingDependencies) {
  return policy({
    name: 'resealing',
    commands: { ResealSecrets: records.resealSecrets },
    events: { ChannelResealed: records.channelResealed },
    collections: [],
    open: (scope) => new OpenResealing(dependencies, scope),
  });
}

class OpenResealing {
  readonly #configuration: OpenAggregate<ConfigurationShape>;

  constructor(
    private readonly dependencies: ResealingDependencies,
    private readonly scope: PartitionScope,
  ) {
    this.#configuration = scope.opened(dependencies.configuration);
  }

  async decide(
    steps: readonly IncomingRecord[],
    batch: readonly IncomingRecord[],
  ): Promise<CapabilityDecision> {
    const { readModel, partition } = this.scope;
    // The changes of this batch are only in memory.
    const changing = new Map(this.#configuration.decidedIn(batch));
    const events: OutgoingRecord[] = [];
    const replies: Reply[] = [];
    for (const step of steps) {
      const { maximum_channels, requested_at } = step.payload as records.ResealSecrets;
      const sealedAnew = await resealPartition(readModel.collection(configurations), partition, {
        sealing: this.dependencies.sealing,
        maximum: maximum_channels,
        at: requested_at,
        changing,
      });
      for (const [ouId, configuration] of sealedAnew.changed) changing.set(ouId, configuration);
      for (const payload of sealedAnew.events)
        events.push(outgoing(records.channelResealed, { key: payload.ou_id, payload }));
      replies.push({ to: step, reply: { outcome: 'done', result: sealedAnew.result } });
    }
    return { outcome: 'decided', events, replies };
  }
}
