// Decoded records for folds and deciders, made without a log.
import type { PayloadOf, RecordDeclaration } from '@lead-scoring/contracts';
import type { FoldedRecord } from '@lead-scoring/event-log';

/** A decoded record at an offset of partition 0 of its topic. */
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
