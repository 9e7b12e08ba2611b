// The two ways in which a request can end without an answer: we would not make it, or it did not work.

/** Why a request is not made. */
export type OutboundRefusedCode =
  'invalid_url' | 'scheme_not_allowed' | 'credentials_in_url' | 'port_not_allowed' | 'address_not_public';

/** The request is not made: its address is not one that may be reached. The message is written for who gave the address. */
export class OutboundRefused extends Error {
  override readonly name = 'OutboundRefused';
  constructor(
    readonly code: OutboundRefusedCode,
    message: string,
  ) {
    super(message);
  }
}

/** Why a request that was allowed brought no answer. */
export type OutboundFailedReason =
  | 'name_not_found'
  | 'unreachable'
  | 'timeout'
  | 'tls'
  | 'too_many_redirects'
  | 'redirect_refused'
  | 'malformed';

/** The request was allowed and brought no answer. The message is a sentence that may be shown to who gave the address. */
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
