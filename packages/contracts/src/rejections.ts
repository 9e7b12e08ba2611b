// Every problem that the system answers: its stable code, HTTP status and title. A rejected command has one of these
// codes (CommandReplied), and this table alone gives its HTTP status.

export interface ProblemType {
  status: number;
  /** The same for every problem of the code. The problem's `detail` says what to change. */
  title: string;
}

export const problemTypes = {
  // Faults in the request
  invalid_request: { status: 400, title: 'The request is not valid' },
  malformed_json: { status: 400, title: 'The body is not JSON' },
  malformed_utf8: { status: 400, title: 'The body is not UTF-8' },
  malformed_gzip: { status: 400, title: 'The body is not gzip' },
  malformed_query: { status: 400, title: 'The query is not well-formed' },
  unreadable_file: { status: 400, title: 'The file cannot be read' },
  malformed_request: { status: 400, title: 'The request is not HTTP' },
  json_too_deep: { status: 400, title: 'The body nests too deep' },
  incomplete_body: { status: 400, title: 'The body broke off' },
  malformed_path: { status: 400, title: 'The path is not well-formed' },
  invalid_cursor: { status: 400, title: 'The cursor is not one of this list' },
  org_unit_not_selected: { status: 400, title: 'No organizational unit is selected' },
  position_unknown: { status: 400, title: 'The position is not one of this system' },
  invalid_url: { status: 400, title: 'The URL is not valid' },
  scheme_not_allowed: { status: 400, title: 'The URL has a scheme that is not taken here' },
  credentials_in_url: { status: 400, title: 'The URL holds credentials' },
  port_not_allowed: { status: 400, title: 'The URL names a port that is not allowed' },
  address_not_public: { status: 400, title: 'The address is not a public one' },
  method_not_allowed: { status: 405, title: 'The path does not take this method' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  configuration_changed: { status: 412, title: 'The configuration has changed meanwhile' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body has a media type that is not taken here' },
  unsupported_charset: { status: 415, title: 'The body has a character set that is not taken here' },
  unsupported_content_encoding: {
    status: 415,
    title: 'The body is compressed in a way that is not taken here',
  },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  too_many_gains: { status: 422, title: 'The range has too many gains' },
  field_not_allowed: { status: 422, title: 'A field may not be changed here' },
  range_too_large: { status: 422, title: 'The range holds more than can be counted at once' },
  idempotency_key_reused: { status: 422, title: 'The Idempotency-Key was used for another request' },
  // Credentials and permissions
  credential_missing: { status: 401, title: 'A credential is needed' },
  credential_invalid: { status: 401, title: 'The credential is not valid' },
  credential_expired: { status: 401, title: 'The credential has expired' },
  internal_authorization_invalid: { status: 401, title: 'This port is for services of this system only' },
  role_not_allowed: { status: 403, title: "The credential's role does not allow this" },
  scope_not_allowed: { status: 403, title: "The credential's scopes do not allow this" },
  org_unit_not_allowed: { status: 403, title: 'The credential may not use this organizational unit' },
  rate_limit_not_allowed: { status: 403, title: 'The credential may not give a rate limit beyond its own' },
  rate_limited: { status: 429, title: 'Too many requests' },
  quota_used_up: { status: 429, title: 'The quota is used up' },
  too_many_in_flight: { status: 429, title: 'Too many requests at the same time' },
  // Things that do not exist
  route_not_found: { status: 404, title: 'There is nothing at this path' },
  org_unit_not_found: { status: 404, title: 'The organizational unit does not exist' },
  token_not_found: { status: 404, title: 'The token does not exist' },
  member_not_found: { status: 404, title: 'The member does not exist' },
  invitation_not_found: { status: 404, title: 'The invitation does not exist' },
  service_account_not_found: { status: 404, title: 'The service account does not exist' },
  configuration_version_not_found: { status: 404, title: 'The configuration has had no such version' },
  lead_not_found: { status: 404, title: 'The lead does not exist' },
  event_type_not_found: { status: 404, title: 'The event type does not exist' },
  deal_not_found: { status: 404, title: 'The deal does not exist' },
  account_not_found: { status: 404, title: 'The account does not exist' },
  ruleset_not_found: { status: 404, title: 'The ruleset does not exist' },
  rule_not_found: { status: 404, title: 'The rule does not exist' },
  mapping_not_found: { status: 404, title: 'The mapping does not exist' },
  notification_channel_not_found: { status: 404, title: 'The notification channel does not exist' },
  trigger_not_found: { status: 404, title: 'The trigger does not exist' },
  job_not_found: { status: 404, title: 'The job does not exist' },
  lead_file_not_found: { status: 404, title: 'The file is not here' },
  delivery_not_found: { status: 404, title: 'The delivery does not exist' },
  grid_not_found: { status: 404, title: 'There is no grid' },
  level_not_found: { status: 404, title: 'The level does not exist' },
  filter_not_found: { status: 404, title: 'The filter does not exist' },
  challenger_not_found: { status: 404, title: 'The challenger does not exist' },
  decay_not_found: { status: 404, title: 'The decay rule does not exist' },
  share_not_found: { status: 404, title: 'The share link does not exist' },
  invitation_expired: { status: 410, title: 'The invitation has expired' },
  share_expired: { status: 410, title: 'The share link has expired' },
  // Conflicts with the present state
  duplicate_name: { status: 409, title: 'The name is taken' },
  duplicate_mapping: { status: 409, title: 'The field is read from this place already' },
  already_merged: { status: 409, title: 'The account was merged already' },
  duplicate_email: { status: 409, title: 'The address is taken' },
  last_admin: { status: 409, title: 'The last administrator stays' },
  built_in_member: { status: 409, title: 'The built-in member stays as it is' },
  member_has_token: { status: 409, title: 'The member has a token' },
  last_org_unit: { status: 409, title: 'The last organizational unit stays' },
  limit_reached: { status: 409, title: 'No more of these can be created' },
  channel_signs_nothing: { status: 409, title: 'The channel is no webhook and signs nothing' },
  levels_overlap: { status: 409, title: 'Two levels would take the same score' },
  ruleset_not_empty: { status: 409, title: 'The ruleset still has rules' },
  lead_merged: { status: 409, title: 'The lead has joined another' },
  lead_not_merged: { status: 409, title: 'The lead is not merged into that lead' },
  merge_not_possible: { status: 409, title: 'These leads cannot be merged' },
  job_running: { status: 409, title: 'A job of this kind is running' },
  job_not_cancellable: { status: 409, title: 'The job goes on to its end' },
  event_type_protected: { status: 409, title: 'Rules or triggers use the event type' },
  job_ended: { status: 409, title: 'The job has ended' },
  job_not_completed: { status: 409, title: 'The job has no result' },
  rules_changed: { status: 409, title: 'The rules have changed since the draft was tried' },
  already_deleted: { status: 409, title: 'It was made and has been deleted since' },
  request_in_progress: { status: 409, title: 'The same request is still being answered' },
  // Failures of another site
  site_unreachable: { status: 502, title: 'The site does not answer' },
  site_name_not_found: { status: 502, title: "The site's name leads nowhere" },
  site_timeout: { status: 502, title: 'The site is too slow' },
  site_tls_failed: { status: 502, title: "The site's certificate is not valid" },
  site_login_required: { status: 502, title: 'The site requires a login' },
  site_blocked: { status: 502, title: 'The site blocks automated requests' },
  site_not_html: { status: 502, title: 'The site answers with something that is not HTML' },
  site_error: { status: 502, title: 'The site answers with an error' },
  // Temporary failures of the system
  internal_error: { status: 500, title: 'Something went wrong on our side' },
  command_parked: { status: 500, title: 'A service could not take the command' },
  log_unavailable: { status: 503, title: 'The log does not acknowledge' },
  log_overloaded: { status: 503, title: 'The log takes no more for now' },
  database_unavailable: { status: 503, title: 'The database does not answer' },
  service_unavailable: { status: 503, title: 'A service does not answer' },
  position_not_reached: { status: 503, title: 'The position is not visible yet' },
  too_many_analyses: { status: 503, title: 'Too many sites are being analysed' },
  analysis_interrupted: { status: 503, title: 'The analysis was interrupted' },
  reply_timeout: { status: 504, title: 'The outcome is not known yet' },
  service_timeout: { status: 504, title: 'A service did not answer in time' },
  // Endless loops
  delivery_loop: { status: 508, title: 'A notification came back as an event' },
} as const satisfies Record<string, ProblemType>;

export type ProblemCode = keyof typeof problemTypes;

export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(problemTypes, code);
}

/** Status and title of a code. An undeclared code is a fault of the system, and is answered as `internal_error`. */
export function problemTypeOf(code: string): ProblemType {
  return problemTypes[isProblemCode(code) ? code : 'internal_error'];
}
