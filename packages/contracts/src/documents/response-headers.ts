// The headers of answers, as /openapi.json describes them.
import type { JsonSchema } from './json-schemas.js';

export const responseHeaders: Record<string, JsonSchema> = {
  'X-Request-Id': {
    description: "The request's id: the one that was sent, or a new one. Quote it to the operator.",
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: 128 },
  },
  'X-RateLimit-Limit': {
    description:
      'Requests that the full bucket holds: of the buckets that the call counts in (credential and organisation, or client address), the one that holds fewest now.',
    schema: { type: 'integer', minimum: 1 },
  },
  'X-RateLimit-Remaining': {
    description: 'Requests that this bucket still holds; at most X-RateLimit-Limit.',
    schema: { type: 'integer', minimum: 0 },
  },
  'X-RateLimit-Reset': {
    description: 'Epoch seconds at which this bucket is full again.',
    schema: { type: 'integer', minimum: 0 },
  },
  'RateLimit-Policy': {
    description:
      'All buckets that the call counts in (draft-ietf-httpapi-ratelimit-headers): `q` requests in the full bucket, which an empty one has again after `w` seconds, so that q / w a second are refilled. Behind them all quotas that the call counts in, such as `credential_calls_per_day`: `q` calls, or events (`qu`), of the day or month (UTC) of `w` seconds; POST /import, which is taken in parts, names none of events.',
    schema: {
      type: 'string',
      example: '"credential";q=200;w=120, "credential_calls_per_day";q=20000;w=86400',
    },
  },
  RateLimit: {
    description:
      'Of each of these buckets: `r` requests that it still holds, `t` seconds until it is full. Of each quota: `r` calls or events that are left, `t` seconds until the next day or month.',
    schema: { type: 'string', example: '"credential";r=199;t=1, "credential_calls_per_day";r=412;t=3600' },
  },
  ETag: {
    description: 'The version of the resource, for `If-Match` of a later change.',
    required: true,
    schema: { type: 'string', example: '"12"' },
  },
  'Retry-After': { description: 'Seconds to wait.', required: true, schema: { type: 'integer', minimum: 0 } },
  'WWW-Authenticate': { description: 'How to authenticate.', required: true, schema: { type: 'string' } },
};

export const rateLimitHeaders = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];
