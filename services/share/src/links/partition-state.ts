// What the share service's processor knows of one partition: decides on share links and folds its own events.
import { records } from '@lead-scoring/contracts';
import {
  isRecord,
  outgoing,
  takenOf,
  type Decision,
  type FoldedRecord,
  type IncomingRecord,
  type OutgoingRecord,
  type PartitionState,
  type Reply,
} from '@lead-scoring/event-log';
import {
  createCheckpoints,
  createGuardedWriter,
  deletePartition,
  findByIds,
  offsetToNumber,
  uuidToBinary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { shareInputs } from '../inputs.js';
import { beginRebuild, type EndOf } from '../rebuilds.js';
import { decideShare, presenceTold, type LeadPresence } from './decide.js';
import type { ShareCommand, ShareEvent } from './events.js';
import { evolveShare } from './evolve.js';
import { shares, toShare, toShareDocument, type ShareDocument } from './model.js';
import type { Share } from './state.js';

export const processorName = 'share';

/** Says of each of these leads whether it is there. */
export type FindLeads = (
  wanted: readonly Pick<records.CreateShare, 'ou_id' | 'lead_id' | 'lead_seen_in'>[],
) => Promise<(ouId: string, leadId: string) => LeadPresence>;

export function openSharePartition(
  readModel: ReadModel,
  partition: number,
  { findLeads, endOf }: { findLeads: FindLeads; endOf: EndOf },
): PartitionState {
  const collection = readModel.collection(shares);
  const checkpoints = createCheckpoints(readModel);
  const writer = createGuardedWriter(readModel);

  async function load(ids: Iterable<string>): Promise<Map<string, ShareDocument>> {
    const found = await findByIds(collection, [...new Set(ids)].map(uuidToBinary));
    return new Map(found.map((document) => [toShare(document).id, document]));
  }

  return {
    checkpoint: () => checkpoints.load(processorName, partition),
    store: (checkpoint) => checkpoints.store(processorName, partition, checkpoint),

    decide: async (incoming: IncomingRecord[]): Promise<Decision> => {
      const commands = incoming.flatMap((record) => {
        const command: ShareCommand | null = takenOf('share.commands', shareInputs['share.commands'], record);
        return command ? [{ record, command }] : [];
      });
      const [stored, presenceOf] = await Promise.all([
        load(commands.map(({ command }) => command.payload.share_id)),
        findLeads(
          commands.flatMap(({ command }) =>
            command.type === 'CreateShare' && !presenceTold(command.payload) ? [command.payload] : [],
          ),
        ),
      ]);
      const current = new Map<string, Share | null>(
        [...stored].map(([id, document]) => [id, toShare(document)]),
      );
      const events: OutgoingRecord[] = [];
      const again: OutgoingRecord[] = [];
      const replies: Reply[] = [];
      for (const { record, command } of commands) {
        const { share_id } = command.payload;
        const before = current.get(share_id) ?? null;
        const decision = decideShare(
          command,
          before,
          command.type === 'CreateShare'
            ? (presenceTold(command.payload) ?? presenceOf(command.payload.ou_id, command.payload.lead_id))
            : 'unknown',
        );
        if (decision.outcome === 'postponed') {
          again.push(outgoing(records.createShare, { key: share_id, payload: decision.command }));
          continue;
        }
        if (decision.outcome === 'rejected') {
          replies.push({ to: record, reply: decision });
          continue;
        }
        const after = decision.events.reduce(evolveShare, before);
        current.set(share_id, after);
        events.push(...decision.events.map(eventRecord));
        replies.push({
          to: record,
          reply: {
            outcome: 'done',
            ...(command.type === 'CreateShare' && after && { result: { expires_at: after.expires_at } }),
          },
        });
      }
      return { events, commands: again, replies };
    },

    fold: async (events: FoldedRecord[]): Promise<void> => {
      const happened = events.flatMap((record) => {
        const event = shareEvent(record);
        return event ? [{ event, offset: offsetToNumber(record.offset) }] : [];
      });
      const documents = await load(happened.map(({ event }) => event.payload.share_id));
      const changed = new Set<string>();
      for (const { event, offset } of happened) {
        const { share_id } = event.payload;
        const known = documents.get(share_id);
        if (known && known.offset >= offset) continue;
        const share = evolveShare(known ? toShare(known) : null, event);
        if (!share) continue;
        documents.set(share_id, toShareDocument(share, { partition, offset }));
        changed.add(share_id);
      }
      await writer.write(
        collection,
        [...changed].flatMap((id) => documents.get(id) ?? []),
      );
    },

    reset: async (touch) => {
      await beginRebuild(readModel, { name: processorName, partition, topic: 'share.events' }, endOf);
      await checkpoints.reset(processorName, partition);
      await deletePartition(readModel, shares, partition, touch);
    },
  };
}

function shareEvent(record: FoldedRecord): ShareEvent | null {
  if (isRecord(record, records.shareCreated)) return { type: 'ShareCreated', payload: record.payload };
  if (isRecord(record, records.shareRevoked)) return { type: 'ShareRevoked', payload: record.payload };
  return null;
}

function eventRecord(event: ShareEvent): OutgoingRecord {
  const key = event.payload.share_id;
  switch (event.type) {
    case 'ShareCreated':
      return outgoing(records.shareCreated, { key, payload: event.payload });
    case 'ShareRevoked':
      return outgoing(records.shareRevoked, { key, payload: event.payload });
  }
}
