// The typed client of the API.
export type { CallInput, CallResult } from './call.js';
export {
  createClient,
  type Client,
  type ClientOptions,
  type EventToSend,
  type SendOptions,
  type SendResult,
} from './client.js';
export { RequestFailed, ServiceUnreachable } from './errors.js';
export type { RetrySchedule } from './retry.js';
