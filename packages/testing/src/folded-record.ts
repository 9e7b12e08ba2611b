// Records as folds and deciders are given them, without a log.
import type { PayloadOf, RecordDeclaration } from '@lead-scoring/contracts';
import type { FoldedRecord } from '@lead-scoring/event-log';

/** A record at an offset of a topic's partition 0, as it was decoded. */
export function foldedRecord<Declaration extends RecordDeclaration>(
  declaration: Declaration,
  payload: PayloadOf<Declaration>,
  offset = 0,
): FoldedRecord {
  const { type, topic } = declaration;
  return {
    type,
    declaration,
    topic,
    partition: 0,
    offset: BigInt(offset),
    key: null,
    payload,
    json: Buffer.from(JSON.stringify(payload)),
    headers: { type, id: '', time: '' },
  };
}
