// The event log: everything that the system does with Kafka and the schema registry.
export { backUpLog, type BackupOptions } from './backup/back-up.js';
export type { BackupManifest } from './backup/manifest.js';
export { restoreLog, type RestoreOptions, type RestoreReport, type RestoreWork } from './backup/restore.js';
export type { Component } from './component.js';
export { wasSentAgain, type RetryOutcome } from './dead-letter-record.js';
export * from './dead-letters.js';
export {
  eraseLog,
  type ErasedRecords,
  type ErasureOptions,
  type ErasureReport,
  type ErasureStep,
} from './erasure/erase.js';
export { maintenanceOf, type LogMaintenance } from './erasure/turn.js';
export * from './errors.js';
export type { EventLogConfig, EventLogEnvironment } from './config.js';
export type { Touch } from './liveness.js';
export {
  acceptPositions,
  isBeyondEnd,
  listPositions,
  type AcceptPositionsOptions,
  type ServicePositions,
} from './accept-positions.js';
export { createEventLog, createEventLogComponent, eventLogOf, type EventLog } from './event-log.js';
export { readHistory, type HistoryReadingOptions, type StoredRecord } from './history-reading.js';
export { readToFold, type FoldedReading, type FoldedReadingOptions } from './folded-reading.js';
export {
  takenOf,
  takingAll,
  topicsOf,
  useOf,
  type InputTable,
  type TakenRecord,
  type TypeUse,
} from './inputs.js';
export * from './operations.js';
export {
  createPositionWatch,
  type PositionToReach,
  type PositionWatch,
  type PositionWatchOptions,
  type ReaderPositions,
} from './position-watch.js';
export { createProcessor } from './processor.js';
export type {
  Checkpoint,
  Decision,
  PartitionState,
  ProcessorOptions,
  ProcessorStatus,
  Reply,
} from './processor-options.js';
export * from './projector.js';
export * from './records.js';
export { replicationSentence, type Replication } from './replication.js';
export * from './requester.js';
export { ReopenSession } from './session.js';
export type { SessionLease } from './session-lease.js';
export * from './tail.js';
export {
  createSourceDecoder,
  sourceFormats,
  type SourceDecoder,
  type SourceFormat,
} from './topic-source/source-decoder.js';
export type { SourceAccess, TopicSourceConfig } from './topic-source/source-config.js';
export type { SourceLetter } from './topic-source/source-letter.js';
export { createSourceMetrics, type SourceMetrics } from './topic-source/source-metrics.js';
export {
  createTopicSource,
  type SourceBatch,
  type SourceRecord,
  type TopicSourceStatus,
} from './topic-source/topic-source.js';
export { createWriteAhead, type WriteAhead } from './topic-source/write-ahead.js';
export { pause, Turns } from './timing.js';
export { createTopicEnds, type TopicEnds } from './topic-ends.js';
export * from './writer.js';
