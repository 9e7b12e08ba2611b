// Sends the answers to commands to the gateway instances that wait for them.
import {
  records as declarations,
  type ProblemCode,
  type ServiceName,
  type TopicName,
} from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import { headerText } from './codec.js';
import type { RawRecord } from './kafka/record-batch.js';
import type { OutgoingRecord } from './records.js';
import type { RecordWriter } from './writer.js';

/** The headers that name the waiting caller; a record without them has none. */
interface Caller {
  'reply-to'?: string | undefined;
  'correlation-id'?: string | undefined;
}

export interface Answer {
  to: Caller;
  reply: declarations.CommandReplied;
}

export function callerIn({ headers }: RawRecord): Caller {
  return {
    'reply-to': headerText(headers, 'reply-to'),
    'correlation-id': headerText(headers, 'correlation-id'),
  };
}

const parked: ProblemCode = 'command_parked';

/**
 * The reply to the caller of a parked command. The reason is only in the dead letter, for operators: it may contain
 * internal details.
 */
export function parkedReply(
  service: ServiceName,
  { topic, partition, offset }: { topic: TopicName; partition: number; offset: bigint },
): declarations.CommandReplied {
  return {
    outcome: 'rejected',
    code: parked,
    message: `The ${service} service could not process the command and has not carried it out. The command is kept in ${service}.dead-letters with the reason (it came on ${topic}, partition ${partition}, offset ${offset}); it is carried out only if an operator sends it again.`,
  };
}

/** Sends answers without waiting for them: when they cannot be written, each caller runs into its own timeout. */
export function createReplies(
  writer: Pick<RecordWriter, 'write'>,
  logger: Logger,
): (answers: readonly Answer[]) => void {
  return (answers) => {
    const sent = answers.flatMap(({ to, reply: payload }): OutgoingRecord[] => {
      const { 'reply-to': instance, 'correlation-id': correlationId } = to;
      if (instance === undefined || correlationId === undefined) return [];
      return [
        {
          declaration: declarations.commandReplied,
          key: instance,
          payload,
          headers: { 'correlation-id': correlationId, 'reply-to': instance },
        },
      ];
    });
    writer.write(sent).catch((error: unknown) => {
      logger.warn({ err: error }, 'replies could not be sent');
    });
  };
}
