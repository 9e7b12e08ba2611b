// The dropped repeats and the refused aliases of each batch of events, as a projection.
import { projection } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { isRecord } from '@lead-scoring/event-log';
import { insertMissing, offsetToNumber } from '@lead-scoring/read-model';
import {
  droppedRepeats,
  refusedAliases,
  refusedDocument,
  repeatsDocument,
  type DroppedRepeatsDocument,
  type RefusedAliasesDocument,
} from './documents.js';

export const repeats = projection({
  name: 'repeats',
  events: { RepeatsDropped: records.repeatsDropped, AliasesRefused: records.aliasesRefused },
  collections: [droppedRepeats, refusedAliases],
  open: ({ readModel, partition }) => ({
    fold: async (folded) => {
      const dropped: DroppedRepeatsDocument[] = [];
      const refused: RefusedAliasesDocument[] = [];
      for (const record of folded) {
        const at = { partition, offset: offsetToNumber(record.offset) };
        if (isRecord(record, records.repeatsDropped)) dropped.push(repeatsDocument(record.payload, at));
        else if (isRecord(record, records.aliasesRefused)) refused.push(refusedDocument(record.payload, at));
      }
      if (dropped.length > 0) await insertMissing(readModel.collection(droppedRepeats), dropped);
      if (refused.length > 0) await insertMissing(readModel.collection(refusedAliases), refused);
    },
  }),
});
