// How far a processor has read its inputs, exactly once with what it decided: each transaction says so itself.
//
// A header of its last event says it, at no cost. The group's offsets say it where a transaction has no event, and now and
// then, for those who watch the lag: to commit them takes two of a transaction's five requests and a marker on another log,
// about a third of what it costs the brokers. docs/decisions/0012-positions-are-in-the-records.md
import type { TopicName } from '@lead-scoring/contracts';
import { headerText } from './codec.js';
import { EventLogError } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import type { KafkaConnection } from './kafka-connection.js';
import { readUntil, type Fetched } from './partition-reader.js';
import type { TransactionalProducer } from './transactional-producer.js';

/** On a transaction's last event: where to read each input on. */
export const positionsHeader = 'positions';

const readBytes = 2 * 1024 * 1024;

/** `ingest.commands:42,scoring.commands:7`. */
export function formatInputPositions(positions: ReadonlyMap<string, bigint>): string {
  return [...positions].map(([topic, offset]) => `${topic}:${offset}`).join(',');
}

/** What formatInputPositions has made; what is not of that form is passed over. */
export function parseInputPositions(text: string): Map<string, bigint> {
  return new Map(
    text.split(',').flatMap((entry): [string, bigint][] => {
      const [, topic, offset] = /^([^:]+):(\d+)$/.exec(entry) ?? [];
      return topic === undefined || offset === undefined ? [] : [[topic, BigInt(offset)]];
    }),
  );
}

/** A group's offsets as they are committed: with each, where in the output to look for what was noted later. */
export function committedOffsets(
  positions: Iterable<readonly [topic: string, position: bigint]>,
  partition: number,
  outputEnd: bigint,
): { topic: string; partition: number; offset: bigint; metadata: string }[] {
  const metadata = outputEnd.toString();
  return [...positions].map(([topic, offset]) => ({ topic, partition, offset, metadata }));
}

/** How far a partition was decided by those who owned it before. */
export interface InputPositions {
  /** Where to read each input on: the furthest that the group's offsets or the output's records say, or its first record. */
  positions: Map<TopicName, bigint>;
  /** Whether the group's offsets say as much. */
  isCommitted: boolean;
  /** Whoever has read the output up to here has read all that was decided. */
  outputEnd: bigint;
}

/** Reads it; call it once the producer has fenced, so that nobody else can write. */
export async function readInputPositions(
  log: EventLog,
  connection: KafkaConnection,
  producer: TransactionalProducer,
  from: { groupId: string; inputs: readonly TopicName[]; output: TopicName; partition: number },
  { signal, touch }: { signal: AbortSignal; touch: () => void },
): Promise<InputPositions> {
  const { wire } = log[internals];
  const { groupId, inputs, output, partition } = from;
  const own = { topic: wire(output), partition };
  const before = await connection.offset(own.topic, partition, 'latest');
  const isMark = await producer.mark(own);
  const coordinator = await connection.groupCoordinator(groupId);
  const { responses } = await coordinator.offsetFetch({
    groupId,
    topics: inputs.map((topic) => ({ topic: wire(topic), partitions: [{ partition }] })),
  });
  const positions = new Map<TopicName, bigint>();
  const notedFrom: bigint[] = [];
  for (const topic of inputs) {
    const found = responses
      .find((response) => response.topic === wire(topic))
      ?.partitions.find((one) => one.partition === partition);
    if (!found)
      throw new EventLogError('log_unavailable', `the group's offset of ${topic} is not known`, {
        retriable: true,
      });
    const committed = BigInt(found.offset);
    positions.set(
      topic,
      committed >= 0n ? committed : await connection.offset(wire(topic), partition, 'earliest'),
    );
    if (found.metadata && /^\d+$/.test(found.metadata)) notedFrom.push(BigInt(found.metadata));
  }
  // Without any, no transaction was committed yet: the first of every session commits the group's offsets. Or somebody has
  // set them, who is obeyed.
  const isNoted = notedFrom.length > 0;
  const earliest = notedFrom.reduce((least, one) => (one < least ? one : least), before);
  let isCommitted = true;
  let outputEnd = earliest;
  const isEnd = ({ markers }: Fetched) => markers.some(isMark);
  const since = { ...own, from: earliest };
  const fetches = readUntil(connection, since, isEnd, { maxBytes: readBytes, signal });
  for await (const { records, nextOffset } of fetches) {
    if (nextOffset > outputEnd) touch();
    outputEnd = nextOffset;
    if (!isNoted) continue;
    for (const { headers } of records) {
      const noted = parseInputPositions(headerText(headers, positionsHeader) ?? '');
      for (const [topic, position] of positions) {
        const later = noted.get(topic);
        if (later === undefined || later <= position) continue;
        positions.set(topic, later);
        isCommitted = false;
      }
    }
  }
  return { positions, isCommitted, outputEnd };
}
