// The typed client of the API.
export type { CallAnswer, CallInput, CallOptions } from './call.js';
export { createClient, type Client } from './client.js';
export { IngestFailed, RequestFailed, ServiceUnreachable } from './errors.js';
export type { EventToSend, IngestOptions, IngestProgress, IngestResult } from './ingest.js';
export type { ImportOptions, ImportProgress, ImportResult } from './import.js';
export type { LeadFileOptions } from './lead-files.js';
export type { RetrySchedule } from './retry.js';
export type { ClientOptions } from './send.js';
export type { DroppedEvents, ProducerOptions } from './producer/options.js';
export { createProducer, ProducerClosed, type Producer } from './producer/producer.js';
