// What the service takes from its environment, beyond what every service takes.
import { hostname } from 'node:os';
import { parsePrivateTargets, type PrivateTarget } from '@lead-scoring/outbound';
import { commonConfiguration, setting } from '@lead-scoring/service';
import { z } from 'zod';

export const siteAnalysisConfiguration = commonConfiguration.extend({
  /** Whom the owner of a site can turn to: a URL or an e-mail address, part of the user agent. */
  SITE_ANALYSIS_CONTACT: z
    .string()
    .regex(/^[\x21-\x27\x2a-\x7e]{1,200}$/, 'must be a URL or an e-mail address')
    .default(`postmaster@${hostname()}`),
  /** Ports that sites are asked on; a private target's are allowed by naming them. */
  SITE_ANALYSIS_PORTS: z
    .string()
    .regex(/^\d{1,5}(,\d{1,5})*$/, 'must be port numbers separated by commas, such as 80,443')
    .transform((text) => text.split(',').map(Number))
    .pipe(z.array(z.int().min(1).max(65_535)))
    .default([80, 443]),
  /** Private addresses that requests may reach all the same. */
  ALLOW_PRIVATE_TARGETS: z
    .string()
    .transform((text, context): PrivateTarget[] => {
      try {
        return parsePrivateTargets(text);
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
        return z.NEVER;
      }
    })
    .default([]),
  /** Analyses that the process runs at once; beyond, a request is refused with 503. */
  MAXIMUM_ANALYSES: setting.whole(1, 1_000).default(32),
});
