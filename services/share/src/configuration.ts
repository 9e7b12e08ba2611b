// The settings of the share service, read from its environment, besides those of every service.
import { commonConfiguration, setting } from '@lead-scoring/service';

export const shareConfiguration = commonConfiguration.extend({
  APP_URL: setting.baseUrl.describe(
    "The gateway's public address, at which browsers open share links and invitations.",
  ),
  CACHED_LEADS: setting
    .whole(100, 10_000_000)
    .default(50_000)
    .describe('Leads that each partition keeps in memory, at most 1 KB each.'),
});
