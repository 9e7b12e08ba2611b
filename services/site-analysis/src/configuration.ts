// The service's settings, read from its environment, besides those of every service.
import { hostname } from 'node:os';
import { privateTargetsSetting } from '@lead-scoring/outbound';
import { commonConfiguration, setting } from '@lead-scoring/service';
import { z } from 'zod';

export const siteAnalysisConfiguration = commonConfiguration.extend({
  /** The contact for owners of sites, a URL or an e-mail address; it is part of the user agent. */
  SITE_ANALYSIS_CONTACT: z
    .string()
    .regex(/^[\x21-\x27\x2a-\x7e]{1,200}$/, 'must be a URL or an e-mail address')
    .default(`postmaster@${hostname()}`),
  /** The ports of sites that may be requested; those of private targets are allowed by ALLOW_PRIVATE_TARGETS. */
  SITE_ANALYSIS_PORTS: z
    .string()
    .regex(/^\d{1,5}(,\d{1,5})*$/, 'must be port numbers separated by commas, such as 80,443')
    .transform((text) => text.split(',').map(Number))
    .pipe(z.array(z.int().min(1).max(65_535)))
    .default([80, 443]),
  /** The private addresses that may be requested. */
  ALLOW_PRIVATE_TARGETS: privateTargetsSetting,
  /** The most analyses that the process runs at a time; further requests get 503. */
  MAXIMUM_ANALYSES: setting.whole(1, 1_000).default(32),
});
