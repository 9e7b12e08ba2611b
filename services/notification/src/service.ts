// The notification service's table of contents: its capabilities, what they need and store, and how it batches.
import { capabilitiesOf } from '@lead-scoring/capability';
import { explanationCollections } from '@lead-scoring/explanations';
import { configurationCapability, type ConfigurationDependencies } from './configuration/capability.js';
import { configurationCollections } from './configuration/documents.js';
import { deliveryCapability } from './delivery/capability.js';
import type { DeliveryOptions } from './delivery/partition.js';
import { deliveryCollections } from './delivery/store.js';
import { firingCapability } from './firing/capability.js';
import type { FiringOptions } from './firing/partition.js';
import { firingCollections } from './firing/store.js';
import { resealingCapability, type ResealingDependencies } from './resealing/capability.js';

/** What the processor stores, and what the projector of explanations does. */
export const notificationCollections = [
  ...configurationCollections,
  ...firingCollections,
  ...deliveryCollections,
  ...explanationCollections,
];

export interface NotificationDependencies {
  configuration: ConfigurationDependencies;
  sealing: ResealingDependencies['sealing'];
  firing: FiringOptions;
  delivery: DeliveryOptions;
}

export function notificationService({ sealing, ...dependencies }: NotificationDependencies) {
  const configuration = configurationCapability(dependencies.configuration);
  return capabilitiesOf(
    'notification',
    [
      firingCapability(dependencies.firing),
      configuration,
      resealingCapability({ configuration, sealing }),
      deliveryCapability(dependencies.delivery),
    ],
    {
      // Most records concern no trigger: many are looked at together. With more, who is behind would fall further behind.
      maxRecordsPerBatch: 2_000,
      maxBytesPerBatch: 1024 * 1024,
      decidesTogether: true,
      // What scoring makes of ingest's events comes a moment after them.
      patienceMs: { 'ingest.events': 150 },
      // The states of leads change with nearly every event; half a minute of them is folded in a few seconds.
      storeEveryMs: 30_000,
    },
  );
}
