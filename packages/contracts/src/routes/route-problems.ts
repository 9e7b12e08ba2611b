// The problems that a route can answer: the declared ones, and those that follow from the rest of its declaration.
import { problemTypes, type ProblemCode } from '../rejections.js';
import type { RouteDeclaration } from './route.js';

/** Problems of every route. `headers_too_large` covers a URL that is too long. */
const commonProblems: readonly ProblemCode[] = ['headers_too_large', 'rate_limited', 'internal_error'];
const credentialProblems: readonly ProblemCode[] = [
  'credential_missing',
  'credential_invalid',
  'credential_expired',
  'role_not_allowed',
  'scope_not_allowed',
  'too_many_in_flight',
  'quota_used_up',
  'database_unavailable',
];
const bodyProblems: readonly ProblemCode[] = [
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
/** Problems of every write: of its Idempotency-Key, and of the log. */
const writeProblems: readonly ProblemCode[] = [
  'invalid_request',
  'idempotency_key_reused',
  'request_in_progress',
  'log_unavailable',
];
const problemsByKind: Record<RouteDeclaration['kind'], readonly ProblemCode[]> = {
  command: [...writeProblems, 'command_parked', 'reply_timeout'],
  intake: [...writeProblems, 'log_overloaded'],
  query: ['service_unavailable', 'service_timeout'],
  local: [],
};
const problemsByUnit: Record<'active' | 'path' | 'none', readonly ProblemCode[]> = {
  active: ['org_unit_not_selected', 'org_unit_not_allowed'],
  path: ['org_unit_not_found'],
  none: [],
};
const problemsByQueryParameter: Readonly<Record<string, readonly ProblemCode[]>> = {
  cursor: ['invalid_cursor'],
  min_position: ['position_unknown', 'position_not_reached'],
};

/** Every problem that the route can answer, in the order of `problemTypes`. */
export function problemCodesOfRoute(route: RouteDeclaration): ProblemCode[] {
  const { access, parameters, query, body } = route;
  const codes = new Set<ProblemCode>([
    ...commonProblems,
    ...route.problems,
    ...problemsByKind[route.kind],
    ...(access.credential ? [...credentialProblems, ...problemsByUnit[access.organisationUnit]] : []),
    ...(parameters ? (['invalid_request', 'malformed_path'] as const) : []),
    ...(query ? (['invalid_request', 'malformed_query'] as const) : []),
    ...Object.keys(query?.shape ?? {}).flatMap((parameter) => problemsByQueryParameter[parameter] ?? []),
    ...(body ? bodyProblems : []),
  ]);
  return (Object.keys(problemTypes) as ProblemCode[]).filter((code) => codes.has(code));
}

/** The status codes of these problems. */
export function problemsOf(route: RouteDeclaration): number[] {
  const statuses = new Set(problemCodesOfRoute(route).map((code): number => problemTypes[code].status));
  return [...statuses].sort((a, b) => a - b);
}
