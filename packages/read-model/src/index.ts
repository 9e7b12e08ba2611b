// MongoDB for read models: guarded folds, checkpoints, paging, indexes.
export {
  Binary,
  type AnyBulkWriteOperation,
  type Collection,
  type Db,
  type Document,
  type Filter,
} from 'mongodb';
export { createCheckpoints, type Checkpoint, type Checkpoints } from './checkpoints.js';
export { inChunks } from './chunks.js';
export { underLease } from './lease.js';
export {
  defineCollection,
  type CollectionDeclaration,
  type IndexDeclaration,
} from './collection-declaration.js';
export { ensureCollections, type DeclaredCollection } from './collections.js';
export {
  readEditions,
  type EditionedReadModel,
  type Editions,
  type EditionTimes,
} from './editions/editions.js';
export {
  nameInEdition,
  partOf,
  readerOf,
  type FillingEdition,
  type FoldedParts,
  type OwnedPart,
  type StoredEditions,
} from './editions/stored-editions.js';
export { createReadModelComponent, type ReadModelComponentOptions } from './component.js';
export { ensureExpiry } from './expiry.js';
export { BufferedInserts, BufferedReplacements } from './buffered-documents.js';
export { BufferedStates, type BufferedStatesOptions } from './buffered-states.js';
export {
  checkDatabase,
  connectReadModel,
  databaseName,
  databasesOf,
  type Engine,
  type ReadModel,
  type ReadModelConfiguration,
} from './connection.js';
export {
  asReadModelError,
  isDuplicateKey,
  isRetriable,
  ReadModelError,
  withClassifiedErrors,
  type ReadModelErrorCode,
} from './errors.js';
export {
  createGuardedWriter,
  deleteByIds,
  deleteFound,
  deleteMatching,
  insertMissing,
  type GuardedWriteOptions,
  type GuardedWriter,
} from './guarded-writer.js';
export type { GuardedDocument, GuardedWriteResult } from './guarded-settling.js';
export { findByIds, findFields, findStoredIds } from './look-up.js';
export {
  bytesOf,
  hexOf,
  keysWithin,
  offsetBytes,
  orderedKey,
  readOffset,
  readUuid,
  uuidBytes,
  writeOffset,
  writeUuid,
  type KeyRange,
} from './ordered-keys.js';
export { UuidMap } from './uuid-map.js';
export { UuidSet } from './uuid-set.js';
export { deletePartition } from './partition-deletion.js';
export { findWithinEach, oneWithinEach } from './range-look-up.js';
export { RareWrites } from './rare-writes.js';
export {
  afterCursor,
  containsText,
  cursorOf,
  decodeCursor,
  encodeCursor,
  equals,
  escapeForRegex,
  findPage,
  InvalidCursor,
  within,
  type Bounds,
  type Cursor,
  type Page,
  type PageQuery,
  type PageRequest,
  type Scalar,
  type SortOrder,
} from './queries.js';
export { isSilence } from './silence.js';
export { createBoundedCache } from './bounded-cache.js';
export { createStateCache, type StateCache } from './state-cache.js';
export {
  binaryToUuid,
  inLockingOrder,
  keyOf,
  numberToOffset,
  offsetToNumber,
  packJson,
  readJson,
  storedJson,
  unpackJson,
  uuidToBinary,
} from './values.js';
export { replaceEach, replaceSet, strategyFor, type WriteStrategy } from './write-strategies.js';
export { WriteBehind, type TakenChanges, type WriteBehindOptions, type WriteBuffer } from './write-behind.js';
