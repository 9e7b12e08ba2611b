// An operator states at which input positions a service continues after a topic was truncated or recreated:
// docs/runbooks/positions.md
import { records as declarations, topics, type ServiceName, type TopicName } from '@lead-scoring/contracts';
import { EventLogError } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { formatInputPositions, positionsHeader, type GroupOffset } from './input-positions.js';
import type { KafkaConnection } from './kafka/kafka-connection.js';
import { knownPositions, readGroupOffsets, readStated } from './opening-positions.js';
import { untilCurrentEnd } from './kafka/partition-reader.js';
import { followsHeader, outputIsWholeHeader, type StatedPositions } from './stated-positions.js';
import { createRecordWriter } from './writer.js';

export interface InputPosition {
  topic: TopicName;
  /** The next offset that the service will read. */
  position: bigint;
  /** The first offset that retention has not deleted. */
  earliest: bigint;
  /** The next offset that will be written. */
  end: bigint;
}

/**
 * The input positions of a service's processor in one partition, as the processor computes them when it opens the
 * partition.
 */
export interface ServicePositions {
  partition: number;
  inputs: InputPosition[];
  /** The end of the service's output, and the highest output end that a committed group offset names. */
  output: { topic: TopicName; end: bigint; known: bigint };
}

interface PositionsWithStatement extends ServicePositions {
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

async function readAll(
  log: EventLog,
  connection: KafkaConnection,
  service: ServiceName,
): Promise<PositionsWithStatement[]> {
  const { wire } = log[internals];
  await connection.open(topics.map(({ name }) => wire(name)));
  const found: PositionsWithStatement[] = [];
  for (let partition = 0; partition < log.config.partitions; partition++)
    found.push(await readPartition(log, connection, service, partition));
  return found;
}

async function readPartition(
  log: EventLog,
  connection: KafkaConnection,
  service: ServiceName,
  partition: number,
): Promise<PositionsWithStatement> {
  const { wire } = log[internals];
  const output: TopicName = `${service}.events`;
  const own = { topic: wire(output), partition };
  const groupId = `${log.config.namespace}.${service}`;
  const inputs = topics.map(({ name }) => name);
  const group = await readGroupOffsets(log, connection, { groupId, inputs, partition });
  const end = await connection.offset(own.topic, partition, 'latest');
  const isEnd = await untilCurrentEnd(connection, own.topic, partition);
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

/**
 * The highest output end that the group's committed offsets name; the current end after an operator has declared the
 * output whole.
 */
function furthestOutput(
  group: ReadonlyMap<TopicName, GroupOffset>,
  stated: StatedPositions | undefined,
  end: bigint,
): bigint {
  if (stated?.outputIsWhole) return end;
  return [...group.values()].reduce(
    (most, { outputEndAtCommit = 0n }) => (outputEndAtCommit > most ? outputEndAtCommit : most),
    end,
  );
}

export interface AcceptPositionsOptions {
  /**
   * The new position of an input whose position is beyond its end. `earliest`: the service decides on all records of
   * the input, also on those that it has decided on before. `end`: the service never decides on the records that the
   * input holds now.
   */
  readOn: 'earliest' | 'end';
  /**
   * Declares that the output holds every event of the service: the service drops state stored beyond the output's end
   * and folds the output again.
   */
  outputIsWhole?: boolean;
  /** Default: all halted partitions. */
  partitions?: readonly number[];
}

/**
 * Writes the accepted positions of the halted partitions to the output; the partitions apply them within seconds. A
 * running partition is not changed, and a partition that has committed since its positions were read ignores the
 * statement.
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
