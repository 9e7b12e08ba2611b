// Which problems a route can answer: what its declaration says itself, and what follows from the rest of it.
import { problemTypes, type ProblemCode } from '../rejections.js';
import type { RouteDeclaration } from './route.js';

/** A URL counts among the headers, and may be too long whatever the route. */
const always: readonly ProblemCode[] = ['headers_too_large', 'rate_limited', 'internal_error'];
const ofCredential: readonly ProblemCode[] = [
  'credential_missing',
  'credential_invalid',
  'credential_expired',
  'role_not_allowed',
  'scope_not_allowed',
  'too_many_in_flight',
  'database_unavailable',
];
const ofBody: readonly ProblemCode[] = [
  'invalid_request',
  'malformed_json',
  'malformed_utf8',
  'malformed_gzip',
  'json_too_deep',
  'incomplete_body',
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
  'unsupported_charset',
  'unsupported_content_encoding',
];
/** Of the Idempotency-Key that every write takes, and of the log that it is written to. */
const ofWrite: readonly ProblemCode[] = [
  'invalid_request',
  'idempotency_key_reused',
  'request_in_progress',
  'log_unavailable',
];
const ofKind: Record<RouteDeclaration['kind'], readonly ProblemCode[]> = {
  command: [...ofWrite, 'command_parked', 'reply_timeout'],
  intake: [...ofWrite, 'log_overloaded'],
  query: ['service_unavailable', 'service_timeout'],
  local: [],
};
const ofUnit: Record<'active' | 'path' | 'none', readonly ProblemCode[]> = {
  active: ['org_unit_not_selected', 'org_unit_not_allowed'],
  path: ['org_unit_not_found'],
  none: [],
};
const ofQueryParameter: Readonly<Record<string, readonly ProblemCode[]>> = {
  cursor: ['invalid_cursor'],
  min_position: ['position_unknown', 'position_not_reached'],
};

/** Every problem that the route can answer, in the order of `problemTypes`. */
export function problemCodesOfRoute(route: RouteDeclaration): ProblemCode[] {
  const { access, parameters, query, body } = route;
  const codes = new Set<ProblemCode>([
    ...always,
    ...route.problems,
    ...ofKind[route.kind],
    ...(access.credential ? [...ofCredential, ...ofUnit[access.organisationUnit]] : []),
    ...(parameters ? (['invalid_request', 'malformed_path'] as const) : []),
    ...(query ? (['invalid_request', 'malformed_query'] as const) : []),
    ...Object.keys(query?.shape ?? {}).flatMap((parameter) => ofQueryParameter[parameter] ?? []),
    ...(body ? ofBody : []),
  ]);
  return (Object.keys(problemTypes) as ProblemCode[]).filter((code) => codes.has(code));
}

/** The status codes of those problems. */
export function problemsOf(route: RouteDeclaration): number[] {
  const statuses = new Set(problemCodesOfRoute(route).map((code): number => problemTypes[code].status));
  return [...statuses].sort((a, b) => a - b);
}
