// A site that could not be analysed, and why.

export type SiteNotFetchedReason =
  | 'unreachable'
  | 'name_not_found'
  | 'timeout'
  | 'tls_failed'
  | 'login_required'
  | 'blocked'
  | 'not_html'
  | 'error';

/** The site gave nothing that can be analysed. The message is a sentence for who asked for the analysis. */
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

/** A page redirects to another site: it is none of this one. */
export class LeftSite extends SiteNotFetched {
  constructor(site: string) {
    super('unreachable', `The page redirects to another site, ${site}.`);
  }
}
