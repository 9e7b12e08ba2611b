// The settings of the notification service, besides those of every service.
import { commonConfiguration, exchangeableSecret, setting } from '@lead-scoring/service';
import { z } from 'zod';
import { deliverySettings } from './delivery/settings.js';

export const notificationConfiguration = commonConfiguration.extend({
  /** The key that opens the secrets that the gateway has sealed, and derives share tokens. The same as the gateway's. */
  ...exchangeableSecret('SEALING_SECRET'),
  /** The gateway's URL for browsers, for share links. Without it notifications have no share links. */
  APP_URL: setting.baseUrl.optional(),
  /** Ports that webhooks may be sent to; the port of a private target is allowed by ALLOW_PRIVATE_TARGETS. */
  NOTIFICATION_PORTS: z
    .string()
    .regex(/^\d{1,5}(,\d{1,5})*$/, 'must be port numbers separated by commas, for example 80,443')
    .transform((text) => text.split(',').map(Number))
    .pipe(z.array(z.int().min(1).max(65_535)))
    .default([80, 443]),
  /** Maximum number of leads that each partition keeps in memory, for triggers and for explanations; about 1 KB each. */
  CACHED_LEADS: setting.whole(100, 10_000_000).default(50_000),
  /** Maximum number of attempts under way in this process, over all channels. */
  MAXIMUM_DELIVERIES: setting.whole(10, 10_000).default(1_000),
  ...deliverySettings,
});
