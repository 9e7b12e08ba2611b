// Connects the service with the analysis of sites: running one, refusing an address, and the answers for errors.
import type { ProblemCode } from '@lead-scoring/contracts';
import { OutboundRefused, type Outbound } from '@lead-scoring/outbound';
import { analyzeSite } from '../analysis/analyze.js';
import { SiteNotFetched } from '../analysis/errors.js';
import { siteUrl } from '../analysis/site.js';
import type { Refusal } from '../analyses/messages.js';
import type { RunnerDependencies } from './runner.js';

export interface Sites extends Pick<RunnerDependencies, 'analyze' | 'failureOf'> {
  /** The reason why an address may not be requested, judged by its text; null when it may. */
  refusalOf: (url: string) => Refusal | null;
}

export function createSites(outbound: Outbound): Sites {
  return {
    analyze: (url, signal) => analyzeSite(url, { outbound, signal }),
    refusalOf: (url) => {
      try {
        outbound.check(siteUrl(url));
        return null;
      } catch (error) {
        const refusal = failureOf(error);
        if (!refusal) throw error;
        return refusal;
      }
    },
    failureOf,
  };
}

function failureOf(error: unknown): Refusal | null {
  if (error instanceof OutboundRefused) return { code: error.code, message: error.message };
  if (error instanceof SiteNotFetched)
    return { code: `site_${error.reason}` satisfies ProblemCode, message: error.message };
  return null;
}
