// Reads the input positions that earlier owners of a partition left: from the group's offsets and from the output. The
// output is read from the end that the offsets name, or backwards from its end when Kafka has deleted the offsets.
import type { TopicName } from '@lead-scoring/contracts';
import { EventLogError, PositionBeyondEnd } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { furthestPositions, type GroupOffset } from './input-positions.js';
import type { KafkaConnection } from './kafka/kafka-connection.js';
import { assertNotBeyondEnd, readUntil, type FetchResult } from './kafka/partition-reader.js';
import { createStatementReader, type StatedPositions } from './stated-positions.js';

/** The input positions up to which earlier owners have decided a partition. */
export interface InputPositions {
  /** The next offset to read of each input; the first record of an input that was never read. */
  positions: Map<TopicName, bigint>;
  /** Whether the group's offsets equal `positions`. */
  isCommitted: boolean;
  /** Whether the output's records state `positions`. */
  isStated: boolean;
  /** An operator has accepted these positions, and nothing was decided since. */
  isAccepted: boolean;
  /** An operator has declared the output whole: state stored beyond its end is dropped and folded again. */
  isOutputWhole: boolean;
  /** The output's end: all decisions lie before it. */
  outputEnd: bigint;
}

/** A partition of a service, with its inputs and output. */
export interface PartitionPlace {
  groupId: string;
  inputs: readonly TopicName[];
  output: TopicName;
  partition: number;
}

interface Progress {
  signal?: AbortSignal;
  /** Called after each fetch that has returned records. */
  touch: () => void;
}

const readBytes = 2 * 1024 * 1024;
/** Offsets read before the expected statement; each further search reads a window larger by the factor `growth`. */
const firstWindow = 100n;
const growth = 4n;

/**
 * Reads the positions; call it after the partition is claimed, so that no other process can write.
 * @param claimedAt the claim's offset in the output
 * @throws PositionBeyondEnd when an input, or the output itself, ends before its known position
 */
export async function readInputPositions(
  log: EventLog,
  connection: KafkaConnection,
  claimedAt: bigint,
  place: PartitionPlace,
  progress: Progress,
): Promise<InputPositions> {
  const { wire } = log[internals];
  const { inputs, partition } = place;
  const own = { topic: wire(place.output), partition };
  const end = await connection.offset(own.topic, partition, 'latest');
  const group = await readGroupOffsets(log, connection, place);
  const isEnd = ({ nextOffset }: FetchResult) => nextOffset > claimedAt;
  const { stated, outputEnd } = await readStated(connection, own, { group, end, isEnd }, progress);
  const isOutputWhole = stated?.outputIsWhole ?? false;
  for (const { outputEndAtCommit } of group.values())
    if (outputEndAtCommit !== undefined && outputEndAtCommit > outputEnd && !isOutputWhole)
      throw new PositionBeyondEnd({ ...own, position: outputEndAtCommit, end: outputEnd });
  const known = knownPositions(group, stated, outputEnd);
  const positions = new Map<TopicName, bigint>();
  for (const topic of inputs) {
    const position = known.get(topic);
    if (position !== undefined)
      await assertNotBeyondEnd(connection, { topic: wire(topic), partition, position });
    positions.set(topic, position ?? (await connection.offset(wire(topic), partition, 'earliest')));
  }
  const all = [...known];
  return {
    positions,
    isCommitted: all.every(([topic, position]) => group.get(topic)?.position === position),
    isStated: all.every(([topic, position]) => stated?.positions.get(topic) === position),
    isAccepted: stated?.isOperators ?? false,
    isOutputWhole,
    outputEnd,
  };
}

/**
 * The next offset of each input with a known position. After an operator's statement only group offsets committed after
 * it count: earlier ones refer to a log that no longer exists.
 */
export function knownPositions(
  group: ReadonlyMap<TopicName, GroupOffset>,
  stated: StatedPositions | undefined,
  outputEnd: bigint,
): Map<TopicName, bigint> {
  if (!stated) return furthestPositions(group, new Map<string, bigint>());
  if (!stated.isOperators) return furthestPositions(group, stated.positions);
  const isLater = ({ outputEndAtCommit }: GroupOffset) =>
    outputEndAtCommit !== undefined && outputEndAtCommit > stated.offset && outputEndAtCommit <= outputEnd;
  const later = new Map([...group].map(([topic, offset]) => [topic, isLater(offset) ? offset : {}]));
  return furthestPositions(later, stated.positions);
}

export async function readGroupOffsets(
  log: EventLog,
  connection: KafkaConnection,
  { groupId, inputs, partition }: Omit<PartitionPlace, 'output'>,
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
        throw new EventLogError(
          'log_unavailable',
          `the coordinator did not answer with the group's offset of ${topic}`,
          {
            retriable: true,
          },
        );
      const position = BigInt(found.offset);
      if (position < 0n) return [topic, {}];
      const hasOutputEnd = found.metadata && /^\d+$/.test(found.metadata);
      return [topic, { position, ...(hasOutputEnd && { outputEndAtCommit: BigInt(found.metadata ?? '') }) }];
    }),
  );
}

/**
 * The last statement of the output, read up to its end: from the output end that the group offsets name, and further
 * back when that is not enough.
 */
export async function readStated(
  connection: KafkaConnection,
  own: { topic: string; partition: number },
  until: {
    group: ReadonlyMap<TopicName, GroupOffset>;
    end: bigint;
    isEnd: (fetched: FetchResult) => boolean;
  },
  progress: Progress,
): Promise<{ stated: StatedPositions | undefined; outputEnd: bigint }> {
  const earliest = await connection.offset(own.topic, own.partition, 'earliest');
  const outputEndAtCommit = lowestOutputEnd(until.group, until.end);
  const from = atLeast(earliest, (outputEndAtCommit ?? until.end) - firstWindow);
  const newest = { ...own, from, isEnd: until.isEnd };
  const latest = await lastStatement(connection, newest, earliest, progress);
  if (latest.stated || outputEndAtCommit !== undefined)
    return { stated: latest.stated, outputEnd: latest.nextOffset };
  let length = firstWindow * growth;
  for (let before = from; before > earliest; length *= growth) {
    const start = atLeast(earliest, before - length);
    const limit = before;
    const window = {
      ...own,
      from: start,
      before: limit,
      isEnd: ({ nextOffset }: FetchResult) => nextOffset >= limit,
    };
    const { stated } = await lastStatement(connection, window, earliest, progress);
    if (stated) return { stated, outputEnd: latest.nextOffset };
    before = start;
  }
  return { stated: undefined, outputEnd: latest.nextOffset };
}

/**
 * The lowest output end that the group's offsets name: later positions are stated after it. Undefined when Kafka has
 * deleted the offsets or another tool has set them.
 */
function lowestOutputEnd(group: ReadonlyMap<TopicName, GroupOffset>, end: bigint): bigint | undefined {
  let least: bigint | undefined;
  for (const { position, outputEndAtCommit } of group.values()) {
    if (position === undefined) continue;
    if (outputEndAtCommit === undefined || outputEndAtCommit > end) return undefined;
    if (least === undefined || outputEndAtCommit < least) least = outputEndAtCommit;
  }
  return least;
}

interface Window {
  topic: string;
  partition: number;
  from: bigint;
  /** Records from this offset on are ignored. */
  before?: bigint;
  isEnd: (fetched: FetchResult) => boolean;
}

/**
 * The last statement in a window; the window is extended backwards when an operator's statement follows one before it.
 */
async function lastStatement(
  connection: KafkaConnection,
  window: Window,
  earliest: bigint,
  progress: Progress,
): Promise<{ stated: StatedPositions | undefined; nextOffset: bigint }> {
  const { from, before, isEnd, ...own } = window;
  const { signal, touch } = progress;
  const reader = createStatementReader(from <= earliest);
  let nextOffset = from;
  const options = { maxBytes: readBytes, ...(signal && { signal }) };
  for await (const fetched of readUntil(connection, { ...own, from }, isEnd, options)) {
    if (fetched.nextOffset > nextOffset) touch();
    ({ nextOffset } = fetched);
    reader.take(fetched.records, before);
  }
  const needs = reader.needs();
  if (needs === undefined) return { stated: reader.last(), nextOffset };
  const start = needs === 'none' ? earliest : atLeast(earliest, needs < from ? needs : earliest);
  return lastStatement(connection, { ...window, from: start }, earliest, progress);
}

function atLeast(least: bigint, one: bigint): bigint {
  return one < least ? least : one;
}
