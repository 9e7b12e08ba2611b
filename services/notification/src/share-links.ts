// The share links in notifications, one per firing. A link's token is derived whenever it is needed; it is on no topic, in no
// database and in no log.
import { shareFieldsOf, shareUrlOf } from '@lead-scoring/contracts';
import type { Sealing } from '@lead-scoring/service';

export interface ShareLink {
  token: string;
  url: string;
  /** The fields of the link that may be recorded: the token is not among them. */
  fields: ReturnType<typeof shareFieldsOf>;
}

export interface ShareLinks {
  /** The link of a firing, with the current key; the same link for the same firing and key. */
  of(firingId: string): ShareLink;
  /** The link with this id; null where its key is no longer in force. */
  made(firingId: string, shareId: string): ShareLink | null;
}

/** @param appUrl the gateway's URL for browsers; undefined: no links */
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
