// Classifies the errors that kafkajs throws by their classes, and makes the errors that this package throws in their
// place.
import { isSocketFault } from '@lead-scoring/contracts';
import kafkajs from 'kafkajs';

type ErrorClass = abstract new (...values: never[]) => Error;

/** kafkajs exports this class, but its type declarations omit it. */
const { KafkaJSNoBrokerAvailableError } = kafkajs as unknown as { KafkaJSNoBrokerAvailableError: ErrorClass };

/** Request timeouts: the broker was connected and did not answer in time. */
const silences: readonly ErrorClass[] = [kafkajs.KafkaJSRequestTimeoutError, kafkajs.KafkaJSLockTimeout];
const connectionErrors: readonly ErrorClass[] = [
  ...silences,
  // KafkaJSConnectionClosedError and KafkaJSTopicMetadataNotLoaded are subclasses.
  kafkajs.KafkaJSConnectionError,
  kafkajs.KafkaJSBrokerNotFound,
  kafkajs.KafkaJSMetadataNotLoaded,
  KafkaJSNoBrokerAvailableError,
];

/**
 * Makes an error that counts as this answer of a broker. @param type the protocol's name, such as LEADER_NOT_AVAILABLE
 */
export function protocolError(type: string, message: string): Error {
  return new kafkajs.KafkaJSProtocolError(Object.assign(new Error(message), { type, retriable: true }));
}

/** The name of a Kafka protocol error (NOT_LEADER_FOR_PARTITION, …), anywhere in the chain of causes. */
export function protocolErrorType(error: unknown): string | undefined {
  for (const one of causesOf(error)) if (one instanceof kafkajs.KafkaJSProtocolError) return one.type;
  return undefined;
}

/** Whether a request to a broker timed out: the broker was connected and did not answer in time. */
export function isSilence(error: unknown): boolean {
  return causesOf(error).some((one) => isOneOf(silences, one));
}

/** Whether the connection failed or no answer arrived: the broker may or may not have executed the request. */
export function isConnectionError(error: unknown): boolean {
  return causesOf(error).some((one) => isSocketFault(one) || isOneOf(connectionErrors, one));
}

function isOneOf(classes: readonly ErrorClass[], error: unknown): boolean {
  return classes.some((one) => error instanceof one);
}

/** The error and its causes, the outermost first. */
function causesOf(error: unknown): object[] {
  const causes: object[] = [];
  for (let at = error; typeof at === 'object' && at !== null && causes.length < 8;) {
    causes.push(at);
    at = 'cause' in at ? at.cause : undefined;
  }
  return causes;
}
