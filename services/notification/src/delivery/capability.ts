// Delivery as a capability: notifications are sent to channels by the owner of the channel's partition, and each attempt is
// recorded.
import type { Capability, PartitionScope } from '@lead-scoring/capability';
import { deliveryCollections } from './documents.js';
import { deliveryCommands, deliveryRecords } from './messages.js';
import { DeliveryPartition, type DeliveryOptions } from './partition.js';

export function deliveryCapability(options: DeliveryOptions) {
  return {
    name: 'delivery',
    kind: 'effect',
    commands: deliveryCommands,
    reads: {},
    events: deliveryRecords,
    collections: deliveryCollections,
    open: (scope: PartitionScope) => new DeliveryPartition(scope, options),
  } satisfies Capability<keyof typeof deliveryCommands, keyof typeof deliveryRecords>;
}
