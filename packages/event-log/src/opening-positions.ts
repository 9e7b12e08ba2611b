// What whoever opens a partition reads of the positions that its predecessors left: in the group's offsets, and in the
// output, from where the offsets say or, where Kafka has forgotten them, backwards from the end.
import type { TopicName } from '@lead-scoring/contracts';
import { EventLogError, PositionBeyondEnd } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { furthestPositions, type GroupOffset } from './input-positions.js';
import type { KafkaConnection } from './kafka/kafka-connection.js';
import { assertNotBeyondEnd, readUntil, type Fetched } from './kafka/partition-reader.js';
import { createStatementReader, type StatedPositions } from './stated-positions.js';

/** How far a partition was decided by those who owned it before. */
export interface InputPositions {
  /** Where to read each input on; of an input that nobody has read, its first record. */
  positions: Map<TopicName, bigint>;
  /** Whether the group's offsets say as much. */
  isCommitted: boolean;
  /** Whether the output's records say as much. */
  isNoted: boolean;
  /** An operator has said where to read on, and nothing was decided since. */
  isAccepted: boolean;
  /** What is stored beyond the output's end is to be folded anew from what the output holds, as an operator has said. */
  isOutputWhole: boolean;
  /** Whoever has read the output up to here has read all that was decided. */
  outputEnd: bigint;
}

/** A partition of a service, and what it reads. */
export interface OpenedPlace {
  groupId: string;
  inputs: readonly TopicName[];
  output: TopicName;
  partition: number;
}

interface Progress {
  signal?: AbortSignal;
  /** Called whenever something was read. */
  touch: () => void;
}

const readBytes = 2 * 1024 * 1024;
/** Offsets that are looked at before the place where something is expected; each further look is that many times as long. */
const firstLook = 100n;
const growth = 4n;

/**
 * Reads it; call it once the partition is claimed, so that nobody else can write.
 * @param claimedAt the claim's offset in the output
 * @throws PositionBeyondEnd when an input, or the output itself, ends before where it was
 */
export async function readInputPositions(
  log: EventLog,
  connection: KafkaConnection,
  claimedAt: bigint,
  place: OpenedPlace,
  progress: Progress,
): Promise<InputPositions> {
  const { wire } = log[internals];
  const { inputs, partition } = place;
  const own = { topic: wire(place.output), partition };
  const end = await connection.offset(own.topic, partition, 'latest');
  const group = await readGroupOffsets(log, connection, place);
  const isEnd = ({ nextOffset }: Fetched) => nextOffset > claimedAt;
  const { stated, outputEnd } = await readStated(connection, own, { group, end, isEnd }, progress);
  const isOutputWhole = stated?.outputIsWhole ?? false;
  for (const { notedAt } of group.values())
    if (notedAt !== undefined && notedAt > outputEnd && !isOutputWhole)
      throw new PositionBeyondEnd({ ...own, position: notedAt, end: outputEnd });
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
    isNoted: all.every(([topic, position]) => stated?.positions.get(topic) === position),
    isAccepted: stated?.isOperators ?? false,
    isOutputWhole,
    outputEnd,
  };
}

/**
 * Where to read on what anybody knows of. Right after an operator has spoken, the group counts only where it was told
 * afterwards: before, it was told of a log that is no more.
 */
export function knownPositions(
  group: ReadonlyMap<TopicName, GroupOffset>,
  stated: StatedPositions | undefined,
  outputEnd: bigint,
): Map<TopicName, bigint> {
  if (!stated) return furthestPositions(group, new Map<string, bigint>());
  if (!stated.isOperators) return furthestPositions(group, stated.positions);
  const isLater = ({ notedAt }: GroupOffset) =>
    notedAt !== undefined && notedAt > stated.offset && notedAt <= outputEnd;
  const later = new Map([...group].map(([topic, offset]) => [topic, isLater(offset) ? offset : {}]));
  return furthestPositions(later, stated.positions);
}

export async function readGroupOffsets(
  log: EventLog,
  connection: KafkaConnection,
  { groupId, inputs, partition }: Omit<OpenedPlace, 'output'>,
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

/** What the output says last, read up to an end: from where the group tells, and further back where that is not enough. */
export async function readStated(
  connection: KafkaConnection,
  own: { topic: string; partition: number },
  until: { group: ReadonlyMap<TopicName, GroupOffset>; end: bigint; isEnd: (fetched: Fetched) => boolean },
  progress: Progress,
): Promise<{ stated: StatedPositions | undefined; outputEnd: bigint }> {
  const earliest = await connection.offset(own.topic, own.partition, 'earliest');
  const notedAt = notedBefore(until.group, until.end);
  const from = atLeast(earliest, (notedAt ?? until.end) - firstLook);
  const look = { ...own, from, isEnd: until.isEnd };
  const latest = await lastStatement(connection, look, earliest, progress);
  if (latest.stated || notedAt !== undefined) return { stated: latest.stated, outputEnd: latest.nextOffset };
  let length = firstLook * growth;
  for (let before = from; before > earliest; length *= growth) {
    const start = atLeast(earliest, before - length);
    const limit = before;
    const window = {
      ...own,
      from: start,
      before: limit,
      isEnd: ({ nextOffset }: Fetched) => nextOffset >= limit,
    };
    const { stated } = await lastStatement(connection, window, earliest, progress);
    if (stated) return { stated, outputEnd: latest.nextOffset };
    before = start;
  }
  return { stated: undefined, outputEnd: latest.nextOffset };
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

interface Window {
  topic: string;
  partition: number;
  from: bigint;
  /** Records from here on are not looked at. */
  before?: bigint;
  isEnd: (fetched: Fetched) => boolean;
}

/** The last that the records of a window say; read from further back where that follows what an operator saw there. */
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
