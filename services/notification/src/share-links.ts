// The share links that go with what is told of firings, one for each. A link's token is made whenever it is needed, and is
// on no topic, in no database and in no log.
import { shareFieldsOf, shareUrlOf } from '@lead-scoring/contracts';
import type { Sealing } from '@lead-scoring/service';

export interface ShareLink {
  token: string;
  url: string;
  /** What of the token may be recorded. */
  fields: ReturnType<typeof shareFieldsOf>;
}

export interface ShareLinks {
  /** The same for the same firing. */
  of(firingId: string): ShareLink;
}

/** @param appUrl where browsers open links; undefined: no links are made */
export function createShareLinks(
  { shareToken }: Pick<Sealing, 'shareToken'>,
  appUrl: string | undefined,
): ShareLinks | null {
  if (appUrl === undefined) return null;
  return {
    of: (firingId) => {
      const token = shareToken(firingId);
      return { token, url: shareUrlOf(appUrl, token), fields: shareFieldsOf(token) };
    },
  };
}
