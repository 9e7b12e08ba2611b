// The settings of the notification service, besides those of every service.
import { commonConfiguration, exchangeableSecret, setting } from '@lead-scoring/service';
import { z } from 'zod';
import { deliverySettings } from './delivery/settings.js';

export const notificationConfiguration = commonConfiguration.extend({
  ...exchangeableSecret(
    'SEALING_SECRET',
    'Secrets that the system must use again, such as those of notification channels, are sealed with it. The same for gateway and notification.',
  ),
  APP_URL: setting.baseUrl
    .optional()
    .describe("The gateway's public address, at which browsers open share links and invitations."),
  NOTIFICATION_PORTS: z
    .string()
    .regex(/^\d{1,5}(,\d{1,5})*$/, 'must be port numbers separated by commas, for example 80,443')
    .transform((text) => text.split(',').map(Number))
    .pipe(z.array(z.int().min(1).max(65_535)))
    .default([80, 443])
    .describe(
      'The ports that webhooks may be sent to; the port of a private target is allowed by ALLOW_PRIVATE_TARGETS.',
    ),
  CACHED_LEADS: setting
    .whole(100, 10_000_000)
    .default(50_000)
    .describe('Leads that each partition keeps in memory, at most 1 KB each.'),
  MAXIMUM_DELIVERIES: setting
    .whole(10, 10_000)
    .default(1_000)
    .describe('The most deliveries under way in this process, over all channels.'),
  ...deliverySettings,
});
