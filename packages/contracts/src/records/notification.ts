// The records of the notification service: channels, triggers, firings and deliveries.
import { notificationConfigurationRecords } from './notification-configuration.js';
import { notificationDeliveryRecords } from './notification-deliveries.js';
import { notificationFiringRecords } from './notification-firings.js';

export * from './notification-configuration.js';
export * from './notification-deliveries.js';
export * from './notification-firings.js';

export const notificationRecords = [
  ...notificationConfigurationRecords,
  ...notificationFiringRecords,
  ...notificationDeliveryRecords,
] as const;
