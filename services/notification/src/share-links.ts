// The share links in notifications, one for each firing. A link's token is made whenever it is needed, and is
// on no topic, in no database and in no log.
import { shareFieldsOf, shareUrlOf } from '@lead-scoring/contracts';
import type { Sealing } from '@lead-scoring/service';

export interface ShareLink {
  token: string;
  url: string;
  /** The parts of the token that may be recorded. */
  fields: ReturnType<typeof shareFieldsOf>;
}

export interface ShareLinks {
  /** To make now; the same for the same firing while the key is the same. */
  of(firingId: string): ShareLink;
  /** The one that was made with this id; null where it was made with a key that is not in force. */
  made(firingId: string, shareId: string): ShareLink | null;
}

/** @param appUrl where browsers open links; undefined: no links are made */
export function createShareLinks(
  { shareToken, shareTokens }: Pick<Sealing, 'shareToken' | 'shareTokens'>,
  appUrl: string | undefined,
): ShareLinks | null {
  if (appUrl === undefined) return null;
  const linkOf = (token: string): ShareLink => ({
    token,
    url: shareUrlOf(appUrl, token),
    fields: shareFieldsOf(token),
  });
  return {
    of: (firingId) => linkOf(shareToken(firingId)),
    made: (firingId, shareId) =>
      shareTokens(firingId)
        .map(linkOf)
        .find(({ fields }) => fields.share_id === shareId) ?? null,
  };
}
