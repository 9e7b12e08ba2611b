// Sends a command and waits for its reply.
import { randomUUID } from 'node:crypto';
import type { records } from '@lead-scoring/contracts';
import type { Component } from './component.js';
import { EventLogError, PositionBeyondEnd, ReplyTimeout } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { headerText } from './codec.js';
import { createPartitionReader } from './partition-reader.js';
import type { OutgoingRecord } from './records.js';
import { pause } from './timing.js';
import type { RecordWriter } from './writer.js';

export interface Requester {
  /**
   * Writes a command and resolves with the processor's reply.
   * @throws ReplyTimeout when none came in time: the command may still take effect.
   */
  request(record: OutgoingRecord, options: { timeoutMs: number }): Promise<records.CommandReplied>;
}

/**
 * A requester with an instance name of its own: replies carry it as their key, so all of them are in one partition of
 * `replies`, which is read from its end on without any consumer group.
 */
export function createRequester(log: EventLog, { writer }: { writer: RecordWriter }): Component<Requester> {
  const { codec, connect, logger, wire } = log[internals];
  const instance = randomUUID();
  const partition = log.partitionOf(instance);
  const waiting = new Map<string, (reply: records.CommandReplied) => void>();

  const requester: Requester = {
    async request(record, { timeoutMs }) {
      const correlationId = record.headers?.['correlation-id'] ?? randomUUID();
      if (waiting.has(correlationId)) {
        throw new EventLogError(
          'invalid_record',
          `a request with the correlation id ${correlationId} is under way`,
        );
      }
      let timer: NodeJS.Timeout | undefined;
      try {
        const reply = new Promise<records.CommandReplied>((resolve, reject) => {
          waiting.set(correlationId, resolve);
          timer = setTimeout(() => {
            reject(new ReplyTimeout(`no reply to ${record.declaration.type} within ${timeoutMs} ms`));
          }, timeoutMs);
        });
        reply.catch(() => undefined);
        await writer.write([
          {
            ...record,
            headers: { ...record.headers, 'correlation-id': correlationId, 'reply-to': instance },
          },
        ]);
        return await reply;
      } finally {
        clearTimeout(timer);
        waiting.delete(correlationId);
      }
    },
  };

  return {
    name: 'requester',
    async start() {
      const stopping = new AbortController();
      const stopped = () => stopping.signal.aborted;
      const topic = wire('replies');
      let connection = connect();
      await connection.open([topic]);
      let offset = await connection.offset(topic, partition, 'latest');

      const reading = (async () => {
        let reader = createPartitionReader(connection, topic, partition, { signal: stopping.signal });
        while (!stopped()) {
          try {
            const fetched = await reader.fetch(offset, { maxBytes: 1024 * 1024, maxWaitMs: 500 });
            await codec.loadSchemas(fetched.records);
            offset = fetched.nextOffset;
            for (const record of fetched.records) {
              const resolve = waiting.get(headerText(record.headers, 'correlation-id') ?? '');
              if (!resolve || headerText(record.headers, 'reply-to') !== instance) continue;
              const decoded = codec.decode('replies', partition, record);
              if ('problem' in decoded) logger.error({ problem: decoded.problem }, 'a reply cannot be read');
              else resolve(decoded.payload as records.CommandReplied);
            }
          } catch (error) {
            logger.warn({ err: error }, 'replies cannot be read; trying again');
            connection.close();
            await pause(500, stopping.signal);
            connection = connect();
            await connection.open([topic]).catch(() => undefined);
            // What was answered meanwhile is lost with the topic; who waits for it runs into its own time limit.
            if (error instanceof PositionBeyondEnd)
              offset = await connection.offset(topic, partition, 'latest').catch(() => offset);
            reader = createPartitionReader(connection, topic, partition, { signal: stopping.signal });
          }
        }
      })();

      return {
        value: requester,
        async stop() {
          stopping.abort();
          connection.close();
          await Promise.race([reading, pause(1_000)]);
        },
      };
    },
  };
}
