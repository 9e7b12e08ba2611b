// The records of the notification service: channels, triggers, firings and deliveries.
import { notificationAccountFiringRecords } from './notification-account-firings.js';
import { notificationConfigurationRecords } from './notification-configuration.js';
import { notificationDeliveryRecords } from './notification-deliveries.js';
import { notificationFiringRecords } from './notification-firings.js';

export * from './notification-account-firings.js';
export * from './notification-configuration.js';
export * from './notification-deliveries.js';
export * from './notification-firings.js';

export const notificationRecords = [
  ...notificationConfigurationRecords,
  ...notificationFiringRecords,
  ...notificationAccountFiringRecords,
  ...notificationDeliveryRecords,
] as const;
