// The service's settings, read from its environment, besides those of every service.
import { privateTargetsSetting } from '@lead-scoring/outbound';
import { commonConfiguration, setting } from '@lead-scoring/service';
import { z } from 'zod';

export const siteAnalysisConfiguration = commonConfiguration.extend({
  SITE_ANALYSIS_CONTACT: z
    .string()
    .regex(/^[\x21-\x27\x2a-\x7e]{1,200}$/, 'must be a URL or an e-mail address')
    .optional()
    .describe(
      "The contact for owners of websites, a part of the user agent. Without it: postmaster@ and the machine's name.",
    ),
  SITE_ANALYSIS_PORTS: z
    .string()
    .regex(/^\d{1,5}(,\d{1,5})*$/, 'must be port numbers separated by commas, such as 80,443')
    .transform((text) => text.split(',').map(Number))
    .pipe(z.array(z.int().min(1).max(65_535)))
    .default([80, 443])
    .describe(
      'The ports of websites that may be requested; those of private targets are allowed by ALLOW_PRIVATE_TARGETS.',
    ),
  ALLOW_PRIVATE_TARGETS: privateTargetsSetting.describe(
    'The private addresses that requests to addresses of users may reach, as host:port or host:from-to, separated by commas.',
  ),
  MAXIMUM_ANALYSES: setting
    .whole(1, 1_000)
    .default(32)
    .describe('The most analyses that the process runs at a time; further requests get 503.'),
});
