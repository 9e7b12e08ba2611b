// The kinds of capability that a service is made of, and the runtime that runs them.
export type {
  AggregateDecision,
  AggregateDeclaration,
  AggregateShape,
  Refusal,
  Rejection,
} from './aggregate.js';
export { aggregate, type Aggregate } from './aggregate-capability.js';
export {
  storedAsDocuments,
  type AggregateStorage,
  type ChangedState,
  type DocumentForm,
  type StoredState,
} from './aggregate-storage.js';
export { callerHeaders, callerOf, WaitingCommands, type Caller } from './callers.js';
export type {
  Capability,
  CapabilityDecision,
  CapabilityKind,
  OpenCapability,
  PartitionedCollection,
  PartitionScope,
  ReadTable,
  RecordTable,
} from './capability.js';
export {
  documentProjection,
  type DocumentProjectionDeclaration,
  type EventPlace,
} from './document-projection.js';
export {
  batchEffect,
  effect,
  type BatchEffect,
  type EffectDecider,
  type EffectDeclaration,
  type EffectWork,
} from './effect.js';
export { FoldedDocuments, type DocumentChange } from './folded-documents.js';
export {
  createFollower,
  fewLargeBatches,
  followingProjection,
  openFollowerPartition,
  type FollowerBatching,
  type FollowerOptions,
  type FollowerScope,
  type FollowingProjection,
  type FollowingProjectionDeclaration,
  type OpenFollower,
} from './following-projection.js';
export type { StepErrorListener } from './job-step.js';
export { jobs, type FedJobKind, type JobKind, type JobsCapability } from './job.js';
export { cursorBehindJob, findJob, findJobs, findListedJobs, jobCollection } from './job-documents.js';
export { errorHeader, errorLines } from './job-errors.js';
export { jobAnswer, jobNotFound, type Job, type JobPart, type JobStep } from './job-model.js';
export { createFoldWatch, type FoldWatch } from './fold-watch.js';
export type { OpenAggregate } from './open-aggregate.js';
export { openServicePartition } from './partition.js';
export { policy, type PolicyDeclaration } from './policy.js';
export { projection, type ProjectionDeclaration } from './projection.js';
export { createPublishedStates, type PublishedDocument, type PublishedStates } from './published-states.js';
export { createServiceProcessor, type ServiceProcessorOptions } from './processor.js';
export { capabilitiesOf, type Batching, type ServiceCapabilities, type ServiceOptions } from './service.js';
export { tick, type OpenTick, type TickDeclaration } from './tick.js';
export {
  storedWith,
  unfinishedIndex,
  type UnfinishedDocument,
  type UnfinishedIndex,
  type WrittenBeside,
} from './stored-beside.js';
export { auditTrail } from './audit/trail.js';
export {
  auditTrailCollections,
  readAuditEntries,
  type AuditEntryDocument,
  type AuditSubjectDocument,
} from './audit/documents.js';
