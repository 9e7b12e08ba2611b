// Configuration changes as a projection: every event is stored, for explanations of past times, and once more for each rule that it
// concerns, for the history of the rule.
import { projection } from '@lead-scoring/capability';
import { insertMissing, offsetToNumber } from '@lead-scoring/read-model';
import { configurationEventOf, configurationRecords } from '@lead-scoring/scoring-domain';
import { ruleChanges, toRuleChangeDocuments } from '../rule-history/documents.js';
import { configurationChanges, toChangeDocument } from './documents.js';

export const configurationHistory = projection({
  name: 'configuration-changes',
  events: configurationRecords,
  collections: [configurationChanges, ruleChanges],
  open: ({ readModel, partition }) => {
    const stored = readModel.collection(configurationChanges);
    const ofRules = readModel.collection(ruleChanges);
    return {
      fold: async (events) => {
        const changes = events.flatMap((record) => {
          const event = configurationEventOf(record);
          return event ? [{ event, at: { partition, offset: offsetToNumber(record.offset) } }] : [];
        });
        await insertMissing(
          stored,
          changes.map(({ event, at }) => toChangeDocument(event, at)),
        );
        await insertMissing(
          ofRules,
          changes.flatMap(({ event, at }) => toRuleChangeDocuments(event, at)),
        );
      },
    };
  },
});
