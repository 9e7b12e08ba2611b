// The gateway's limits on requests: by credential and organisation, by address, and on requests in flight.
import type { Request, RequestHandler, Response } from 'express';
import { organisationLimitsOf, standardLimitsOf, type GatewayConfiguration } from '../configuration.js';
import { callerOf } from '../edge/request.js';
import type { OrganisationRateLimit } from '../identity/messages.js';
import { addressLimit, createLimiter, takeFromAll } from './limiter.js';
import type { OrganisationLimitsReader } from './organisation-limits.js';
import type { RequestLimit } from './request-limit.js';
import { limitRequestsInFlight } from './requests-in-flight.js';
import type { Buckets } from './shared-buckets.js';
import type { BucketLimits } from './token-bucket.js';

export interface RequestLimits {
  /** Limits by credential and organisation. */
  limitCaller: RequestHandler;
  /** Limits the requests in flight of a credential and of an organisation. */
  limitInFlight: RequestHandler;
  /** Limits by client address. */
  limitAddress: RequestHandler;
  /** Like limitAddress, for a request that may turn out not to count. @returns the function that puts it back @throws ProblemError 429 */
  chargeAddress: (req: Request, res: Response) => Promise<() => void>;
}

export function createRequestLimits(
  configuration: GatewayConfiguration,
  buckets: Buckets,
  organisationLimits: OrganisationLimitsReader,
): RequestLimits {
  const standard = standardLimitsOf(configuration);
  const organisation = organisationLimitsOf(configuration);
  return {
    limitCaller: createLimiter(buckets, async (req) => {
      const { organisationId } = callerOf(req);
      const set = bucketLimitsOf((await organisationLimits.limitsOf(organisationId)).rate_limit);
      return callerLimits(req, standard, set ?? organisation);
    }),
    limitInFlight: limitRequestsInFlight({
      perCredential: configuration.REQUESTS_IN_FLIGHT_PER_CREDENTIAL,
      perOrganisation: configuration.REQUESTS_IN_FLIGHT_PER_ORGANISATION,
    }),
    limitAddress: createLimiter(buckets, (req) => [addressLimit(req, standard)]),
    chargeAddress: (req, res) => takeFromAll(buckets, [addressLimit(req, standard)], res),
  };
}

function callerLimits(req: Request, standard: BucketLimits, organisation: BucketLimits): RequestLimit[] {
  const { credentialId, organisationId, rateLimit } = callerOf(req);
  return [
    { policy: 'credential', id: credentialId, limits: bucketLimitsOf(rateLimit) ?? standard },
    {
      policy: 'organisation',
      id: organisationId,
      limits: organisation,
    },
  ];
}

function bucketLimitsOf(limit: OrganisationRateLimit | null | undefined): BucketLimits | null {
  return limit ? { perMinute: limit.per_minute, burst: limit.burst } : null;
}
