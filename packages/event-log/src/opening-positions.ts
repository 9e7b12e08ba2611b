// What whoever opens a partition reads of the positions that its predecessors left: in the group's offsets, and in the
// output, from where the offsets say or, where Kafka has forgotten them, backwards from the end.
import type { TopicName } from '@lead-scoring/contracts';
import { headerText } from './codec.js';
import { EventLogError } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import {
  furthestPositions,
  parseInputPositions,
  positionsHeader,
  type GroupOffset,
} from './input-positions.js';
import type { KafkaConnection } from './kafka-connection.js';
import { readUntil, type Fetched } from './partition-reader.js';
import type { TransactionalProducer } from './transactional-producer.js';

/** How far a partition was decided by those who owned it before. */
export interface InputPositions {
  /** Where to read each input on; of an input that nobody has read, its first record. */
  positions: Map<TopicName, bigint>;
  /** Whether the group's offsets say as much. */
  isCommitted: boolean;
  /** Whether the output's records say as much. */
  isNoted: boolean;
  /** Whoever has read the output up to here has read all that was decided. */
  outputEnd: bigint;
}

export interface OpenedPlace {
  groupId: string;
  inputs: readonly TopicName[];
  output: TopicName;
  partition: number;
}

interface Progress {
  signal: AbortSignal;
  /** Called whenever something was read. */
  touch: () => void;
}

const readBytes = 2 * 1024 * 1024;
/** Offsets that are looked at before the place where something is expected; each further look is that many times as long. */
const firstLook = 100n;
const growth = 4n;

/** Reads it; call it once the producer has fenced, so that nobody else can write. */
export async function readInputPositions(
  log: EventLog,
  connection: KafkaConnection,
  producer: TransactionalProducer,
  place: OpenedPlace,
  progress: Progress,
): Promise<InputPositions> {
  const { wire } = log[internals];
  const { inputs, partition } = place;
  const own = { topic: wire(place.output), partition };
  const end = await connection.offset(own.topic, partition, 'latest');
  const isMark = await producer.mark(own);
  const group = await readGroupOffsets(log, connection, place);
  const earliest = await connection.offset(own.topic, partition, 'earliest');
  const notedAt = notedBefore(group, end);
  const from = atLeast(earliest, (notedAt ?? end) - firstLook);
  const isEnd = ({ markers }: Fetched) => markers.some(isMark);
  const latest = await lastStatement(connection, { ...own, from }, isEnd, progress);
  const stated =
    latest.stated ??
    (notedAt === undefined
      ? await searchBackwards(connection, { ...own, earliest, end: from }, progress)
      : undefined) ??
    new Map<string, bigint>();
  const known = furthestPositions(group, stated);
  const positions = new Map<TopicName, bigint>();
  for (const topic of inputs)
    positions.set(topic, known.get(topic) ?? (await connection.offset(wire(topic), partition, 'earliest')));
  const all = [...known];
  return {
    positions,
    isCommitted: all.every(([topic, position]) => group.get(topic)?.position === position),
    isNoted: all.every(([topic, position]) => stated.get(topic) === position),
    outputEnd: latest.nextOffset,
  };
}

async function readGroupOffsets(
  log: EventLog,
  connection: KafkaConnection,
  { groupId, inputs, partition }: OpenedPlace,
): Promise<Map<TopicName, GroupOffset>> {
  const { wire } = log[internals];
  const coordinator = await connection.groupCoordinator(groupId);
  const { responses } = await coordinator.offsetFetch({
    groupId,
    topics: inputs.map((topic) => ({ topic: wire(topic), partitions: [{ partition }] })),
  });
  return new Map(
    inputs.map((topic): [TopicName, GroupOffset] => {
      const found = responses
        .find((response) => response.topic === wire(topic))
        ?.partitions.find((one) => one.partition === partition);
      if (!found)
        throw new EventLogError('log_unavailable', `the group's offset of ${topic} is not known`, {
          retriable: true,
        });
      const position = BigInt(found.offset);
      if (position < 0n) return [topic, {}];
      const isNoted = found.metadata && /^\d+$/.test(found.metadata);
      return [topic, { position, ...(isNoted && { notedAt: BigInt(found.metadata ?? '') }) }];
    }),
  );
}

/**
 * From where on the output may say more than the group's offsets; undefined where they do not tell, as those that Kafka has
 * forgotten, or that somebody has set by its tools.
 */
function notedBefore(group: ReadonlyMap<TopicName, GroupOffset>, end: bigint): bigint | undefined {
  let least: bigint | undefined;
  for (const { position, notedAt } of group.values()) {
    if (position === undefined) continue;
    if (notedAt === undefined || notedAt > end) return undefined;
    if (least === undefined || notedAt < least) least = notedAt;
  }
  return least;
}

/** The last that the records up to an end say of the inputs' positions. */
async function lastStatement(
  connection: KafkaConnection,
  since: { topic: string; partition: number; from: bigint },
  isEnd: (fetched: Fetched) => boolean,
  { signal, touch }: Progress,
  before?: bigint,
): Promise<{ stated: Map<string, bigint> | undefined; nextOffset: bigint }> {
  let stated: Map<string, bigint> | undefined;
  let end = since.from;
  for await (const { records, nextOffset } of readUntil(connection, since, isEnd, {
    maxBytes: readBytes,
    signal,
  })) {
    if (nextOffset > end) touch();
    end = nextOffset;
    for (const { headers, offset } of records) {
      if (before !== undefined && offset >= before) break;
      const text = headerText(headers, positionsHeader);
      if (text !== undefined) stated = parseInputPositions(text);
    }
  }
  return { stated, nextOffset: end };
}

/** Until a record that says something is found, or the first record is reached: each look is longer than the one before. */
async function searchBackwards(
  connection: KafkaConnection,
  { topic, partition, earliest, end }: { topic: string; partition: number; earliest: bigint; end: bigint },
  progress: Progress,
): Promise<Map<string, bigint> | undefined> {
  let length = firstLook * growth;
  for (let before = end; before > earliest; length *= growth) {
    const from = atLeast(earliest, before - length);
    const limit = before;
    const isEnd = ({ nextOffset }: Fetched) => nextOffset >= limit;
    const { stated } = await lastStatement(connection, { topic, partition, from }, isEnd, progress, limit);
    if (stated) return stated;
    before = from;
  }
  return undefined;
}

function atLeast(least: bigint, one: bigint): bigint {
  return one < least ? least : one;
}
