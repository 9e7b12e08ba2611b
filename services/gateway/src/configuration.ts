// The gateway's settings, read from its environment, besides those of every service.
import { isWellFormedSecret } from '@lead-scoring/contracts';
import { commonConfiguration, exchangeableSecret, leastUploadRate, setting } from '@lead-scoring/service';
import { z } from 'zod';
import type { RateLimit } from './identity/messages.js';
import { issuersSetting } from './sign-in/issuers.js';
import type { BucketLimits } from './rate-limit/token-bucket.js';

const { whole, httpUrl, baseUrl } = setting;
const label = z.string().trim().min(1, 'must be 1 to 100 characters').max(100, 'must be 1 to 100 characters');

export const gatewayConfiguration = commonConfiguration
  .extend({
    ...exchangeableSecret(
      'TOKEN_SECRET',
      'Tokens and secrets of service accounts are derived from it, and commands of identity are signed with it. The same for all gateways.',
    ),
    ...exchangeableSecret(
      'SEALING_SECRET',
      'Secrets that the system must use again, such as those of notification channels, are sealed with it. The same for gateway and notification.',
    ),
    INGEST_URL: httpUrl.describe('The query port of ingest.'),
    SCORING_URL: httpUrl.describe('The query port of scoring.'),
    NOTIFICATION_URL: httpUrl.describe('The query port of notification.'),
    SHARE_URL: httpUrl.describe('The query port of share.'),
    APP_URL: baseUrl.describe(
      "The gateway's public address, at which browsers open share links and invitations.",
    ),
    SITE_ANALYSIS_URL: httpUrl.describe('The query port of site-analysis.'),
    BOOTSTRAP_ORGANISATION: label
      .optional()
      .describe('The name of the first organisation, which is made at the start unless it exists.'),
    BOOTSTRAP_OU: label.default('Main').describe("The name of the first organisation's organizational unit."),
    BOOTSTRAP_TOKEN: z
      .string()
      .refine(
        (token) => isWellFormedSecret('lsp_', token),
        'must be lsp_ with 30 characters and their checksum: make one with the command line',
      )
      .optional()
      .describe("The first token of the first organisation's administrator."),
    OIDC_ISSUERS: issuersSetting
      .optional()
      .describe(
        'The OpenID Connect issuers whose people may come in, in the organisation of BOOTSTRAP_ORGANISATION, as JSON: docs/sign-in.md.',
      ),
    RATE_LIMIT_PER_MINUTE: whole(1, 1_000_000)
      .default(100)
      .describe(
        'Requests per minute of a credential without a limit of its own, and of a client address: docs/limits.md.',
      ),
    RATE_LIMIT_BURST: whole(1, 1_000_000)
      .default(200)
      .describe('Requests that such a credential or address may send at once.'),
    ORGANISATION_RATE_LIMIT_PER_MINUTE: whole(1, 10_000_000)
      .optional()
      .describe(
        'Requests per minute of all credentials of an organisation together. Without it: ten times RATE_LIMIT_PER_MINUTE.',
      ),
    ORGANISATION_RATE_LIMIT_BURST: whole(1, 10_000_000)
      .optional()
      .describe('Requests that they may send at once. Without it: ten times RATE_LIMIT_BURST.'),
    INTAKE_MAXIMUM_BYTES: whole(40_000_000, 10_000_000_000)
      .default(128_000_000)
      .describe(
        'The most bytes of event bodies in memory at a time; a sender that has used its share of them gets 503.',
      ),
    INTAKE_LEAST_BYTES: whole(1, 1_000_000)
      .default(leastUploadRate.bytes)
      .describe(
        'The fewest bytes that an upload of events must bring in every 10 s; a slower one is ended with 408.',
      ),
    REQUESTS_IN_FLIGHT_PER_CREDENTIAL: whole(1, 100_000)
      .default(256)
      .describe('The most requests of a credential in flight in one process; further ones get 429.'),
    REQUESTS_IN_FLIGHT_PER_ORGANISATION: whole(1, 100_000)
      .default(1_024)
      .describe('The most requests of an organisation in flight in one process; further ones get 429.'),
    REPLY_TIMEOUT_MS: whole(100, 60_000)
      .default(10_000)
      .describe(
        'Milliseconds after which a command without a reply is answered with 504; routes with longer work declare a longer time.',
      ),
    ANSWER_IDLE_MS: whole(100, 3_600_000)
      .default(60_000)
      .describe(
        'The longest time in milliseconds in which a caller takes nothing of an answer that waits for it; then its connection is closed.',
      ),
    INTERNAL_PORT: whole(0, 65_535)
      .optional()
      .describe(
        'The port of health and Prometheus metrics, for operators, apart from the public port; 0 is any free port. Without it there is none.',
      ),
    TRUSTED_PROXIES: whole(0, 10)
      .default(0)
      .describe('The number of proxies in front of the gateway whose X-Forwarded-For is trusted.'),
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
