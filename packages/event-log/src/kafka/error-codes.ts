// Kafka's error codes as the errors that kafkajs throws for them: an answer about several partitions has one for each.
import { createRequire } from 'node:module';

const { createErrorFromCode } = createRequire(import.meta.url)('kafkajs/src/protocol/error.js') as {
  createErrorFromCode: (code: number) => Error;
};

/** The error that a code stands for; undefined for 0, which says that all is well. */
export function errorOfCode(code: number): Error | undefined {
  return code === 0 ? undefined : createErrorFromCode(code);
}
