// What callers have set for leads, as a projection.
import { projection, type PartitionScope } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { isRecord, type FoldedRecord } from '@lead-scoring/event-log';
import {
  createGuardedWriter,
  offsetToNumber,
  uuidToBinary,
  withClassifiedErrors,
} from '@lead-scoring/read-model';
import { evolveMetadata } from '../intake/metadata-model.js';
import { leadMetadata, leadMetadataDocument, readLeadMetadata } from './documents.js';

export const leadMetadataProjection = projection({
  name: 'lead-metadata',
  events: { LeadMetadataPatched: records.leadMetadataPatched, LeadDeleted: records.leadDeleted },
  collections: [leadMetadata],
  open: (scope) => openLeadMetadata(scope),
});

interface EndedLead {
  readonly lead_id: string;
  readonly offset: number;
}

function openLeadMetadata({ readModel, partition }: PartitionScope) {
  const stored = readModel.collection(leadMetadata);
  const writer = createGuardedWriter(readModel);

  async function foldPatch(payload: records.LeadMetadataPatched, offset: number): Promise<void> {
    const known = (await readLeadMetadata(readModel, [payload.lead_id])).get(payload.lead_id);
    const after = evolveMetadata(known, payload);
    await writer.write(stored, [leadMetadataDocument(payload, after, { partition, offset })]);
  }

  /** No patch is between these ends on the log. */
  async function foldEnds(ended: readonly EndedLead[]): Promise<void> {
    const [first] = ended;
    if (!first) return;
    await withClassifiedErrors(() =>
      stored.deleteMany({
        _id: { $in: ended.map(({ lead_id }) => uuidToBinary(lead_id)) },
        offset: { $lt: first.offset },
      }),
    );
  }

  return {
    async fold(folded: readonly FoldedRecord[]): Promise<void> {
      let ended: EndedLead[] = [];
      for (const record of folded) {
        const offset = offsetToNumber(record.offset);
        if (isRecord(record, records.leadMetadataPatched)) {
          await foldEnds(ended);
          ended = [];
          await foldPatch(record.payload, offset);
        } else if (isRecord(record, records.leadDeleted)) {
          const { lead_id, joined_to } = record.payload;
          // A lead that is divided keeps what is set for it: after its events have come again, that is told again.
          if (joined_to !== lead_id) ended.push({ lead_id, offset });
        }
      }
      await foldEnds(ended);
    },
  };
}
