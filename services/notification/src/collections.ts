// Everything that the notification service stores.
import { explanationCollections } from '@lead-scoring/explanations';
import { configurationCollections } from './configuration/store.js';
import { deliveryCollections } from './delivery/store.js';
import { firingCollections } from './firing/store.js';

export const notificationCollections = [
  ...configurationCollections,
  ...firingCollections,
  ...deliveryCollections,
  ...explanationCollections,
];
