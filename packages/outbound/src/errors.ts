// The two errors of a request: it was refused before it was made, or it was made and failed.

/** Why a request is not made. */
export type OutboundRefusedCode =
  'invalid_url' | 'scheme_not_allowed' | 'credentials_in_url' | 'port_not_allowed' | 'address_not_public';

/**
 * The request was refused, because its address may not be reached. The message is for the person who gave the address.
 */
export class OutboundRefused extends Error {
  override readonly name = 'OutboundRefused';
  constructor(
    readonly code: OutboundRefusedCode,
    message: string,
  ) {
    super(message);
  }
}

/** Why an allowed request got no answer. */
export type OutboundFailedReason =
  | 'name_not_found'
  | 'unreachable'
  | 'timeout'
  | 'tls'
  | 'too_many_redirects'
  | 'redirect_refused'
  | 'malformed';

/** The request was allowed and got no answer. The message may be shown to the person who gave the address. */
export class OutboundFailed extends Error {
  override readonly name = 'OutboundFailed';
  constructor(
    readonly reason: OutboundFailedReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
