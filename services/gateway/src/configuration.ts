// The gateway's settings, read from its environment, besides those of every service.
import { isWellFormedSecret } from '@lead-scoring/contracts';
import { commonConfiguration, exchangeableSecret, leastUploadRate, setting } from '@lead-scoring/service';
import { z } from 'zod';
import type { RateLimit } from './identity/messages.js';
import { issuersSetting } from './sign-in/issuers.js';
import type { BucketLimits } from './rate-limit/token-bucket.js';

const { whole, httpUrl, baseUrl } = setting;
const label = z.string().trim().min(1).max(100);

export const gatewayConfiguration = commonConfiguration
  .extend({
    /** Tokens and secrets of service accounts are derived from it, and commands of identity are signed with it; all instances have the same. */
    ...exchangeableSecret('TOKEN_SECRET'),
    /** Secrets that the system must use again are sealed with it; the notification service has the same. */
    ...exchangeableSecret('SEALING_SECRET'),
    /** Query ports of the owners. */
    INGEST_URL: httpUrl,
    SCORING_URL: httpUrl,
    NOTIFICATION_URL: httpUrl,
    SHARE_URL: httpUrl,
    /** The address at which browsers open share links: the gateway's public address. */
    APP_URL: baseUrl,
    SITE_ANALYSIS_URL: httpUrl,
    /** The first organisation, its OU, and its administrator's token: created at start-up unless they exist. */
    BOOTSTRAP_ORGANISATION: label.optional(),
    BOOTSTRAP_OU: label.default('Main'),
    BOOTSTRAP_TOKEN: z
      .string()
      .refine(
        (token) => isWellFormedSecret('lsp_', token),
        'must be lsp_ with 30 characters and their checksum: make one with the command line',
      )
      .optional(),
    /** The OpenID Connect issuers whose people may come in, in the organisation of BOOTSTRAP_ORGANISATION. */
    OIDC_ISSUERS: issuersSetting.optional(),
    /** The limit of credentials that have none of their own, and of client addresses (SPEC.md, Limits). */
    RATE_LIMIT_PER_MINUTE: whole(1, 1_000_000).default(100),
    RATE_LIMIT_BURST: whole(1, 1_000_000).default(200),
    /** The limit of all credentials of an organisation together; default: ten times that of a credential. */
    ORGANISATION_RATE_LIMIT_PER_MINUTE: whole(1, 10_000_000).optional(),
    ORGANISATION_RATE_LIMIT_BURST: whole(1, 10_000_000).optional(),
    /** The most bytes of event bodies in memory at a time; a sender that has used its share of them gets 503. */
    INTAKE_MAXIMUM_BYTES: whole(40_000_000, 10_000_000_000).default(128_000_000),
    /** The fewest bytes that an upload of events must bring in every 10 s; a slower one is ended with 408. */
    INTAKE_LEAST_BYTES: whole(1, 1_000_000).default(leastUploadRate.bytes),
    /** The most requests in flight in one instance; further ones get 429. */
    REQUESTS_IN_FLIGHT_PER_CREDENTIAL: whole(1, 100_000).default(256),
    REQUESTS_IN_FLIGHT_PER_ORGANISATION: whole(1, 100_000).default(1_024),
    /** The time after which a command without a reply is answered with 504; routes with longer work declare a longer time. */
    REPLY_TIMEOUT_MS: whole(100, 60_000).default(10_000),
    /** The longest time in which a caller takes nothing of an answer that waits for it; then its connection is closed. */
    ANSWER_IDLE_MS: whole(100, 3_600_000).default(60_000),
    /** The port of health and Prometheus metrics, for operators; absent: none, 0: any free port. */
    INTERNAL_PORT: whole(0, 65_535).optional(),
    /** The number of proxies in front of the gateway whose X-Forwarded-For is trusted. */
    TRUSTED_PROXIES: whole(0, 10).default(0),
  })
  .refine(
    ({ BOOTSTRAP_ORGANISATION, BOOTSTRAP_TOKEN }) =>
      (BOOTSTRAP_ORGANISATION === undefined) === (BOOTSTRAP_TOKEN === undefined),
    { path: ['BOOTSTRAP_TOKEN'], error: 'must be set together with BOOTSTRAP_ORGANISATION' },
  )
  .refine(
    ({ BOOTSTRAP_ORGANISATION, OIDC_ISSUERS }) =>
      OIDC_ISSUERS === undefined || BOOTSTRAP_ORGANISATION !== undefined,
    { path: ['OIDC_ISSUERS'], error: 'needs BOOTSTRAP_ORGANISATION: it says whose members come in' },
  );
export type GatewayConfiguration = z.output<typeof gatewayConfiguration>;

type RateLimits = Pick<
  GatewayConfiguration,
  | 'RATE_LIMIT_PER_MINUTE'
  | 'RATE_LIMIT_BURST'
  | 'ORGANISATION_RATE_LIMIT_PER_MINUTE'
  | 'ORGANISATION_RATE_LIMIT_BURST'
>;

/** The limits of a credential without limits of its own, and of a client address. */
export function standardLimitsOf(limits: RateLimits): BucketLimits {
  return { perMinute: limits.RATE_LIMIT_PER_MINUTE, burst: limits.RATE_LIMIT_BURST };
}

/** The limits of all credentials of an organisation together. */
export function organisationLimitsOf(limits: RateLimits): BucketLimits {
  return {
    perMinute: limits.ORGANISATION_RATE_LIMIT_PER_MINUTE ?? limits.RATE_LIMIT_PER_MINUTE * 10,
    burst: limits.ORGANISATION_RATE_LIMIT_BURST ?? limits.RATE_LIMIT_BURST * 10,
  };
}

/** The same in the form of records and answers. */
export function organisationRateLimitOf(limits: RateLimits): RateLimit {
  const { perMinute: per_minute, burst } = organisationLimitsOf(limits);
  return { per_minute, burst };
}

const greatestOfCredential = 1_000_000;

/** The limit of the operator's first token: that of its organisation, so that it can give other credentials as much. */
export function bootstrapRateLimitOf(limits: RateLimits): RateLimit {
  const { perMinute, burst } = organisationLimitsOf(limits);
  return {
    per_minute: Math.min(greatestOfCredential, perMinute),
    burst: Math.min(greatestOfCredential, burst),
  };
}
