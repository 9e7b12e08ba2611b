// Which rules and triggers use which event types: ingest's own copy, folded from the public events of scoring and notification. A type
// that one of them uses is protected. What scoring has dealt with of deletions comes from the same events.
import {
  fewLargeBatches,
  FoldedDocuments,
  followingProjection,
  type DocumentChange,
  type FollowerScope,
  type FollowingProjection,
  type OpenFollower,
} from '@lead-scoring/capability';
import { projectorNames, records } from '@lead-scoring/contracts';
import { isRecord, takenOf, type FoldedRecord } from '@lead-scoring/event-log';
import { insertMissing, offsetToNumber, uuidToBinary } from '@lead-scoring/read-model';
import { deletedScores, toDeletedScores, type DeletedScoresDocument } from '../event-deletions/documents.js';
import { eventTypeUses, packedUse, useId, type UseDocument } from './documents.js';
import { useReads } from './reads.js';
import { useOfRule, useOfTrigger, type EventTypeUse } from './use-model.js';

export const [eventTypeUsesName] = projectorNames.ingest;

export function followedEventTypeUses(): FollowingProjection {
  return followingProjection({
    name: eventTypeUsesName,
    reads: useReads,
    collections: [eventTypeUses, deletedScores],
    // Nearly all records are decisions of scoring, which may wait and are ignored. Rules and triggers do not wait.
    batching: fewLargeBatches,
    follow: openUses,
  });
}

/** Documents that a partition keeps in memory. */
const cachedDocuments = 500;

function openUses({ readModel, partition }: FollowerScope): OpenFollower {
  const uses = new FoldedDocuments(readModel, {
    collection: eventTypeUses,
    idOf: uuidToBinary,
    cachedDocuments,
  });
  const scores = readModel.collection(deletedScores);
  return {
    async fold(folded) {
      const told = folded.flatMap((record) => deletedScoresIn(record) ?? []);
      if (told.length > 0) await insertMissing(scores, told);
      await uses.fold(folded.flatMap((record) => changeIn(record, partition) ?? []));
    },
    forget: () => {
      uses.forget();
    },
  };
}

/** null: the record changes no use. */
function changeIn(record: FoldedRecord, partition: number): DocumentChange<UseDocument> | null {
  const changed = changedUse(record);
  if (!changed) return null;
  const { key, ouId, use } = changed;
  const offset = offsetToNumber(record.offset);
  const document = use && {
    _id: uuidToBinary(key),
    ou: uuidToBinary(ouId),
    use: packedUse(use),
    partition,
    offset,
  };
  return { key, offset, after: () => document };
}

/** What a rule or trigger uses from this record on. */
interface ChangedUse {
  /** The id of its document. */
  readonly key: string;
  readonly ouId: string;
  /** null: it uses no event type, or is gone. */
  readonly use: EventTypeUse | null;
}

function changedUse(record: FoldedRecord): ChangedUse | null {
  const ofScoring = takenOf('scoring.events', useReads['scoring.events'], record);
  if (ofScoring?.type === 'EventScoresDeleted') return null;
  if (ofScoring) {
    const { ou_id: ouId, rule_id } = ofScoring.payload;
    const use = ofScoring.type === 'RuleDeleted' ? null : useOfRule(ofScoring.payload);
    return { key: useId(ouId, 'rule', rule_id), ouId, use };
  }
  const ofNotification = takenOf('notification.events', useReads['notification.events'], record);
  if (!ofNotification) return null;
  const { ou_id: ouId, trigger_id } = ofNotification.payload;
  const use = ofNotification.type === 'TriggerDeleted' ? null : useOfTrigger(ofNotification.payload);
  return { key: useId(ouId, 'trigger', trigger_id), ouId, use };
}

/** null: the record does not say that scoring has dealt with a part of a deletion. */
function deletedScoresIn(record: FoldedRecord): DeletedScoresDocument | null {
  return isRecord(record, records.eventScoresDeleted) ? toDeletedScores(record.payload) : null;
}
