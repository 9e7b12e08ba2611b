// An operator's word on where a service reads on, after a topic was cut short or made anew. docs/runbooks/positions.md
import { records as declarations, topics, type ServiceName, type TopicName } from '@lead-scoring/contracts';
import { EventLogError } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { formatInputPositions, positionsHeader, type GroupOffset } from './input-positions.js';
import type { KafkaConnection } from './kafka/kafka-connection.js';
import { knownPositions, readGroupOffsets, readStated } from './opening-positions.js';
import { untilNow } from './kafka/partition-reader.js';
import { followsHeader, outputIsWholeHeader, type StatedPositions } from './stated-positions.js';
import { createRecordWriter } from './writer.js';

export interface InputPosition {
  topic: TopicName;
  /** Where it is to be read on. */
  position: bigint;
  /** The first offset that is still there. */
  earliest: bigint;
  /** The next offset that will be written. */
  end: bigint;
}

/** How far a service's processor has come in one partition, as it will see it when it opens the partition. */
export interface ServicePositions {
  partition: number;
  inputs: InputPosition[];
  /** The service's own events: where they end, and the furthest that they were ever known to go. */
  output: { topic: TopicName; end: bigint; known: bigint };
}

interface Read extends ServicePositions {
  stated: StatedPositions | undefined;
}

/** The positions of each partition of a service. */
export async function listPositions(log: EventLog, service: ServiceName): Promise<ServicePositions[]> {
  const connection = log[internals].connect();
  try {
    return await readAll(log, connection, service);
  } finally {
    connection.close();
  }
}

async function readAll(log: EventLog, connection: KafkaConnection, service: ServiceName): Promise<Read[]> {
  const { wire } = log[internals];
  await connection.open(topics.map(({ name }) => wire(name)));
  const found: Read[] = [];
  for (let partition = 0; partition < log.config.partitions; partition++)
    found.push(await readPartition(log, connection, service, partition));
  return found;
}

async function readPartition(
  log: EventLog,
  connection: KafkaConnection,
  service: ServiceName,
  partition: number,
): Promise<Read> {
  const { wire } = log[internals];
  const output: TopicName = `${service}.events`;
  const own = { topic: wire(output), partition };
  const groupId = `${log.config.namespace}.${service}`;
  const inputs = topics.map(({ name }) => name);
  const group = await readGroupOffsets(log, connection, { groupId, inputs, partition });
  const end = await connection.offset(own.topic, partition, 'latest');
  const isEnd = await untilNow(connection, own.topic, partition);
  const { stated, outputEnd } = await readStated(
    connection,
    own,
    { group, end, isEnd },
    { touch: () => undefined },
  );
  const known = knownPositions(group, stated, outputEnd);
  const read: InputPosition[] = [];
  for (const [topic, position] of known)
    read.push({
      topic,
      position,
      earliest: await connection.offset(wire(topic), partition, 'earliest'),
      end: await connection.offset(wire(topic), partition, 'latest'),
    });
  return {
    partition,
    inputs: read,
    output: { topic: output, end, known: furthestOutput(group, stated, end) },
    stated,
  };
}

/** Where the output ended when the group was last told, unless an operator has said since that it is whole. */
function furthestOutput(
  group: ReadonlyMap<TopicName, GroupOffset>,
  stated: StatedPositions | undefined,
  end: bigint,
): bigint {
  if (stated?.outputIsWhole) return end;
  return [...group.values()].reduce((most, { notedAt = 0n }) => (notedAt > most ? notedAt : most), end);
}

export interface AcceptPositionsOptions {
  /**
   * Where an input is read on whose position lies beyond its end. `earliest`: all that it holds is decided on, again where it
   * was before. `end`: what it holds now is never decided on.
   */
  readOn: 'earliest' | 'end';
  /** What the service's own events hold now is all that was decided: what is stored beyond is dropped and folded anew. */
  outputIsWhole?: boolean;
  /** Default: all that stand still. */
  partitions?: readonly number[];
}

/**
 * Writes down where the partitions that stand still read on; they see it within seconds. A partition that works is left
 * alone, and one that has gone on since it was looked at does not heed it.
 */
export async function acceptPositions(
  log: EventLog,
  service: ServiceName,
  { readOn, outputIsWhole = false, partitions }: AcceptPositionsOptions,
): Promise<ServicePositions[]> {
  const declaration = declarations.positionsAccepted.find(({ topic }) => topic === `${service}.events`);
  if (!declaration) throw new EventLogError('unknown_record_type', `${service} has no PositionsAccepted`);
  const connection = log[internals].connect();
  const { value: writer, stop } = await createRecordWriter(log).start();
  try {
    const all = await readAll(log, connection, service);
    const accepted = all
      .filter(({ partition }) => partitions?.includes(partition) ?? true)
      .filter((one) => outputIsWhole || one.inputs.some(isBeyondEnd));
    await writer.write(
      accepted.map(({ partition, inputs, stated }) => {
        const positions = new Map(inputs.map((input) => [input.topic, acceptedPosition(input, readOn)]));
        return {
          declaration,
          key: String(partition),
          partition,
          payload: {
            accepted_at: new Date().toISOString(),
            inputs: [...positions].map(([topic, position]) => ({ topic, position: Number(position) })),
            output_is_whole: outputIsWhole,
          },
          headers: {
            [positionsHeader]: formatInputPositions(positions),
            [followsHeader]: stated?.offset.toString() ?? 'none',
            ...(outputIsWhole && { [outputIsWholeHeader]: 'true' }),
          },
        };
      }),
    );
    return accepted.map(({ partition, inputs, output }) => ({ partition, inputs, output }));
  } finally {
    await stop();
    connection.close();
  }
}

export function isBeyondEnd({ position, end }: { position: bigint; end: bigint }): boolean {
  return position > end;
}

function acceptedPosition(input: InputPosition, readOn: 'earliest' | 'end'): bigint {
  return isBeyondEnd(input) ? input[readOn] : input.position;
}
