// Converts Kafka's error codes to the errors that kafkajs throws for them: an answer about several partitions has one
// code for each.
// @ts-expect-error -- kafkajs has no types of its inner modules
import kafkajsErrors from 'kafkajs/src/protocol/error.js';

const { createErrorFromCode } = kafkajsErrors as {
  createErrorFromCode: (code: number) => Error;
};

/** The error of a code; undefined for 0, which means success. */
export function errorOfCode(code: number): Error | undefined {
  return code === 0 ? undefined : createErrorFromCode(code);
}
