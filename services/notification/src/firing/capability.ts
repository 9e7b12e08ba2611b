// The firing capability: leads' events make triggers fire, and each firing requests a notification to the trigger's channels.
import { policy, type PartitionScope } from '@lead-scoring/capability';
import { firingCollections } from './documents.js';
import { firingReads, firingRecords } from './messages.js';
import { FiringPartition, type FiringOptions } from './partition.js';

export function firingCapability(options: FiringOptions) {
  return policy({
    name: 'firing',
    reads: firingReads,
    events: firingRecords,
    collections: firingCollections,
    open: (scope: PartitionScope) => new FiringPartition(scope, options),
  });
}
