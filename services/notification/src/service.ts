// The notification service's table of contents: its capabilities, their dependencies and collections, and the size of a batch.
import { auditTrail, auditTrailCollections, capabilitiesOf, jobCollection } from '@lead-scoring/capability';
import { explanationCollections } from '@lead-scoring/explanations';
import { accountFiringCapability } from './account-firing/capability.js';
import { accountFiringCollections } from './account-firing/documents.js';
import { configurationCapability, type ConfigurationDependencies } from './configuration/capability.js';
import { configurationCollections } from './configuration/documents.js';
import { deliveryCapability, type DeliveryOptions } from './delivery/capability.js';
import { deliveryCollections } from './delivery/documents.js';
import { notificationExplanations } from './explanations/capability.js';
import { firingCapability } from './firing/capability.js';
import type { FiringOptions } from './firing/partition.js';
import { firingCollections } from './firing/documents.js';
import { notificationJobs } from './jobs/capability.js';
import { countedDeliveries, countedDeliveriesProjection } from './usage/counted-deliveries.js';
import { resealingCapability, type ResealingDependencies } from './resealing/capability.js';

/** All collections of the service. */
export const notificationCollections = [
  ...configurationCollections,
  ...firingCollections,
  ...accountFiringCollections,
  ...deliveryCollections,
  countedDeliveries,
  ...explanationCollections,
  jobCollection,
  ...auditTrailCollections,
];

export interface NotificationDependencies {
  configuration: ConfigurationDependencies;
  sealing: ResealingDependencies['sealing'];
  firing: Omit<FiringOptions, 'cachedLeads'>;
  delivery: DeliveryOptions;
  /**
   * Maximum number of leads that each partition keeps in memory, once for firing and once for the explanations, and of accounts
   * for which triggers have fired.
   */
  cachedLeads: number;
}

export function notificationService({ sealing, cachedLeads, ...dependencies }: NotificationDependencies) {
  const configuration = configurationCapability(dependencies.configuration);
  const delivery = deliveryCapability(dependencies.delivery);
  const { configurations, logger } = dependencies.delivery;
  return capabilitiesOf(
    'notification',
    [
      notificationExplanations({ cachedLeads }),
      firingCapability({ ...dependencies.firing, cachedLeads }),
      accountFiringCapability({ triggers: dependencies.firing.triggers, cachedAccounts: cachedLeads }),
      configuration,
      resealingCapability({ configuration, sealing }),
      delivery,
      countedDeliveriesProjection,
      notificationJobs({ delivery, configurations, logger }),
      auditTrail('notification'),
    ],
    {
      // 5: delivered notifications are counted by hour; 6: the audit trail.
      version: 6,
      // Most records concern no trigger, so large batches are cheap. With larger ones a processor that is behind falls further behind.
      maxRecordsPerBatch: 2_000,
      maxBytesPerBatch: 1024 * 1024,
      decidesTogether: true,
      // Scoring's decisions on ingest's events come a moment after the events: a batch waits for both.
      patienceMs: { 'ingest.events': 150 },
      // States of leads change with nearly every event, so few writes are better. A restart folds half a minute of events in seconds.
      storeEveryMs: 30_000,
    },
  );
}
