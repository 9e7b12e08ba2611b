// The errors of sites that could not be analysed, with their reasons.

export type SiteNotFetchedReason =
  | 'unreachable'
  | 'name_not_found'
  | 'timeout'
  | 'tls_failed'
  | 'login_required'
  | 'blocked'
  | 'not_html'
  | 'error';

/** The site has nothing that can be analysed. The message is a sentence for the caller. */
export class SiteNotFetched extends Error {
  override readonly name = 'SiteNotFetched';
  constructor(
    readonly reason: SiteNotFetchedReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A page redirects to another site, so it is not a page of this one. */
export class LeftSite extends SiteNotFetched {
  constructor(site: string) {
    super('unreachable', `The page redirects to another site, ${site}.`);
  }
}
