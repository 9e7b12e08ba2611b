// A decoded batch: the records that the service takes, and the parked ones.
import { internals } from '../event-log.js';
import { isPositionStatement } from '../input-positions.js';
import { useOf } from '../inputs.js';
import type { RawRecord } from '../kafka/record-batch.js';
import { isEventTopic } from '../session.js';
import type { IncomingRecord } from '../records.js';
import { Turns } from '../timing.js';
import type { InputBatch, InputSegment } from './input-batch.js';
import { park, type ParkedRecord } from './parked-records.js';
import type { PartitionContext } from './partition-context.js';

export interface ReceivedBatch {
  /** The records that the service decides on. */
  records: IncomingRecord[];
  /** The same records before decoding. */
  raw: { segment: InputSegment; record: RawRecord }[];
  parked: ParkedRecord[];
}

/** Decodes a batch. A record that cannot be decoded, or that made the decision fail on every attempt, is parked. */
export async function receive(context: PartitionContext, batch: InputBatch): Promise<ReceivedBatch> {
  await context.log[internals].codec.loadSchemas(batch.flatMap(({ records }) => records));
  const turns = new Turns();
  const received: ReceivedBatch = { records: [], raw: [], parked: [] };
  for (const segment of batch) {
    const isEventInput = isEventTopic(segment.topic);
    for (const record of segment.records) {
      if (!(isEventInput && isPositionStatement(record))) receiveOne(context, segment, record, received);
      await turns.giveWay();
    }
  }
  return received;
}

function receiveOne(
  context: PartitionContext,
  segment: InputSegment,
  record: RawRecord,
  received: ReceivedBatch,
): void {
  const { topic } = segment;
  const { options, failed } = context;
  const failure = failed.reasonToPark(segment, record.offset);
  const decoded =
    failure === undefined
      ? context.log[internals].codec.decode(topic, context.partition, record)
      : { problem: failure };
  if ('problem' in decoded) {
    received.parked.push(park(context, segment, record, decoded.problem));
    return;
  }
  const use = useOf(options.inputs, topic, decoded.type);
  if (use === 'ignored') return;
  if (use === undefined) {
    const reason = `the ${options.name} service does not take ${decoded.type} of ${topic}`;
    received.parked.push(park(context, segment, record, reason));
    return;
  }
  received.records.push(decoded);
  received.raw.push({ segment, record });
}
