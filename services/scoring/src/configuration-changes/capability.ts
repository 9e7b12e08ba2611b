// Configuration changes as a projection: every event is stored, for explanations of past times.
import { projection } from '@lead-scoring/capability';
import { insertMissing, offsetToNumber } from '@lead-scoring/read-model';
import { configurationEventOf, configurationRecords } from '@lead-scoring/scoring-domain';
import { configurationChanges, toChangeDocument } from './documents.js';

export const configurationHistory = projection({
  name: 'configuration-changes',
  events: configurationRecords,
  collections: [configurationChanges],
  open: ({ readModel, partition }) => {
    const stored = readModel.collection(configurationChanges);
    return {
      fold: async (events) => {
        const documents = events.flatMap((record) => {
          const event = configurationEventOf(record);
          return event ? [toChangeDocument(event, { partition, offset: offsetToNumber(record.offset) })] : [];
        });
        await insertMissing(stored, documents);
      },
    };
  },
});
