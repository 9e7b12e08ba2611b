// The service's own settings, beyond those of every service.
import { commonConfiguration, exchangeableSecret, setting } from '@lead-scoring/service';
import { z } from 'zod';
import { deliverySettings } from './delivery/settings.js';

export const notificationConfiguration = commonConfiguration.extend({
  /** Opens the secrets that the gateway has sealed; tokens of links are made from it. The gateway has the same. */
  ...exchangeableSecret('SEALING_SECRET'),
  /** Where browsers open share links: the gateway, as its callers see it. Without it messages carry no links. */
  APP_URL: setting.baseUrl.optional(),
  /** Ports that webhooks are sent to; a private target's are allowed by naming them. */
  NOTIFICATION_PORTS: z
    .string()
    .regex(/^\d{1,5}(,\d{1,5})*$/, 'must be port numbers separated by commas, such as 80,443')
    .transform((text) => text.split(',').map(Number))
    .pipe(z.array(z.int().min(1).max(65_535)))
    .default([80, 443]),
  /** Leads that each partition keeps in memory, for triggers and for explanations; about 1 KB each. */
  CACHED_LEADS: setting.whole(100, 10_000_000).default(50_000),
  /** Notifications under way at once in this process, over all channels. */
  MAXIMUM_DELIVERIES: setting.whole(10, 10_000).default(1_000),
  ...deliverySettings,
});
