// Firing as a capability: leads' events make triggers fire, and channels are sent notifications of it.
import { policy, type PartitionScope } from '@lead-scoring/capability';
import { firingInputs } from '../inputs.js';
import { firingRecords } from './messages.js';
import { openFiring, type FiringOptions } from './partition.js';
import { firingCollections } from './documents.js';

export function firingCapability(options: FiringOptions) {
  return policy({
    name: 'firing',
    reads: firingInputs,
    events: firingRecords,
    collections: firingCollections,
    open: ({ readModel, partition }: PartitionScope) => {
      const firing = openFiring(readModel, partition, options);
      return {
        decide: async (records) => ({ outcome: 'decided', ...(await firing.decide(records)) }),
        fold: (events) => firing.fold(events),
        write: (awaited) => firing.write(awaited),
        forget: () => {
          firing.clear();
        },
        // A partition that is reset is opened anew.
        beforeReset: () => firing.close(),
        close: () => firing.close(),
      };
    },
  });
}
