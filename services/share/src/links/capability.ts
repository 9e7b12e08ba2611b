// Share links as a capability: commands about one link, whose decision depends on whether the lead exists.
import { aggregate, storedAsDocuments, type AggregateShape } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { uuidToBinary } from '@lead-scoring/read-model';
import { decideShare, presenceFromCommand, type LeadPresence } from './decide.js';
import { shares, toShare, toShareDocument, type ShareDocument } from './documents.js';
import type { ShareCommand, ShareEvent } from './messages.js';
import { evolveShare } from './evolve.js';
import type { Share } from './state.js';

interface ShareLink extends AggregateShape {
  state: Share | null;
  command: ShareCommand;
  event: ShareEvent;
  /** Whether the leads of the commands exist. */
  context: PresenceOf;
}

type PresenceOf = (ouId: string, leadId: string) => LeadPresence;

/** Finds out for each of the leads whether it exists. */
export type FindLeads = (
  wanted: readonly Pick<records.CreateShare, 'ou_id' | 'lead_id' | 'lead_seen_in'>[],
) => Promise<PresenceOf>;

export interface ShareLinksDependencies {
  findLeads: FindLeads;
}

export function shareLinks({ findLeads }: ShareLinksDependencies) {
  return aggregate<ShareLink>({
    name: 'share-links',
    commands: { CreateShare: records.createShare, RevokeShare: records.revokeShare },
    events: { ShareCreated: records.shareCreated, ShareRevoked: records.shareRevoked },
    keyOf: ({ payload }) => payload.share_id,
    initial: () => null,
    contextOf: (commands) =>
      findLeads(
        commands.flatMap((command) =>
          command.type === 'CreateShare' && !presenceFromCommand(command.payload) ? [command.payload] : [],
        ),
      ),
    decide: (command, share, presenceOf) => decideShare(command, share, presenceIn(command, presenceOf)),
    evolve: evolveShare,
    resultOf: ({ type }, share) =>
      type === 'CreateShare' && share ? { expires_at: share.expires_at } : undefined,
    stored: storedAsDocuments<Share | null, ShareDocument>({
      collection: shares,
      idOf: uuidToBinary,
      toState: toShare,
      toDocument: (share, at) => share && toShareDocument(share, at),
    }),
  });
}

function presenceIn(command: ShareCommand, presenceOf: PresenceOf): LeadPresence {
  if (command.type !== 'CreateShare') return 'unknown';
  const { ou_id, lead_id } = command.payload;
  return presenceFromCommand(command.payload) ?? presenceOf(ou_id, lead_id);
}
