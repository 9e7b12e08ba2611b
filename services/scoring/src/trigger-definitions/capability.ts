// The definitions of triggers: scoring's own copy, folded from the public events of notification, so that a what-if can say which would have fired.
import {
  fewLargeBatches,
  FoldedDocuments,
  followingProjection,
  type DocumentChange,
  type FollowerScope,
  type FollowingProjection,
  type OpenFollower,
} from '@lead-scoring/capability';
import { projectorNames } from '@lead-scoring/contracts';
import { takenOf, type FoldedRecord } from '@lead-scoring/event-log';
import { offsetToNumber, uuidToBinary } from '@lead-scoring/read-model';
import {
  definitionId,
  toDefinitionDocument,
  triggerDefinitions,
  type DefinitionDocument,
} from './documents.js';
import { definitionReads } from './reads.js';

export const [triggerDefinitionsName] = projectorNames.scoring;

export function followedTriggerDefinitions(): FollowingProjection {
  return followingProjection({
    name: triggerDefinitionsName,
    reads: definitionReads,
    collections: [triggerDefinitions],
    // Nearly all records are firings and deliveries, which are ignored.
    batching: fewLargeBatches,
    follow: openDefinitions,
  });
}

/** Documents that a partition keeps in memory. */
const cachedDocuments = 500;

function openDefinitions({ readModel, partition }: FollowerScope): OpenFollower {
  const definitions = new FoldedDocuments(readModel, {
    collection: triggerDefinitions,
    idOf: uuidToBinary,
    cachedDocuments,
  });
  return {
    fold: (records) => definitions.fold(records.flatMap((record) => changeIn(record, partition) ?? [])),
    forget: () => {
      definitions.forget();
    },
  };
}

/** null: the record changes no trigger. */
function changeIn(record: FoldedRecord, partition: number): DocumentChange<DefinitionDocument> | null {
  const taken = takenOf('notification.events', definitionReads['notification.events'], record);
  if (!taken) return null;
  const offset = offsetToNumber(record.offset);
  const { ou_id, trigger_id } = taken.payload;
  const document =
    taken.type === 'TriggerDeleted' ? null : toDefinitionDocument(taken.payload, { partition, offset });
  return { key: definitionId(ou_id, trigger_id), offset, after: () => document };
}
