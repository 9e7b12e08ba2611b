// Records that a test writes in transactions of its own and reads back, in partition 0 of a log.
import { randomUUID } from 'node:crypto';
import { leadIdOf, records as declarations, type TopicName } from '@lead-scoring/contracts';
import type { Producer, Transaction } from 'kafkajs';
import { internals, type EventLog } from '../event-log.js';
import { readUntil, type RawRecord } from '../kafka/partition-reader.js';
import { encodeRecord } from '../outgoing.js';
import { outgoing, type OutgoingRecord } from '../records.js';
import { pause } from '../timing.js';
import { ouId } from './test-support.js';

/** The time in the payloads of all records. */
export const writtenAt = '2026-01-31T09:30:00.000Z';

/** The deletion of the lead with this address. */
export function leadDeleted(address: string, headers: Record<string, string> = {}): OutgoingRecord {
  const lead_id = leadIdOf(ouId, 'email', address);
  const deletion = { deletion_id: randomUUID(), deleted_by: randomUUID(), deleted_at: writtenAt };
  return outgoing(declarations.leadDeleted, {
    key: lead_id,
    partition: 0,
    headers,
    payload: { ou_id: ouId, lead_id, ...deletion },
  });
}

/** Writes records in a transaction of their own, which leaves a marker behind them. */
export async function writeTransaction(
  { log, producer }: { log: EventLog; producer: Producer },
  records: readonly OutgoingRecord[],
  end: 'commit' | 'abort' = 'commit',
): Promise<void> {
  const transaction = await begun(producer);
  // The broker deletes a record whose own time is older than the retention of its topic.
  const now = Date.now();
  for (const record of records) {
    const { topic, partition, message } = encodeRecord(log, record, now, {});
    await transaction.send({
      topic,
      messages: [{ ...message, key: String(message.key), partition, timestamp: String(message.timestamp) }],
    });
  }
  await transaction[end]();
}

/** A broker that has just started does not know the coordinators of transactions yet. */
async function begun(producer: Producer): Promise<Transaction> {
  for (const giveUpAt = Date.now() + 30_000; ;)
    try {
      return await producer.transaction();
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await pause(200);
    }
}

/** The committed records of partition 0, in order. */
export async function storedRecords(log: EventLog, name: TopicName): Promise<RawRecord[]> {
  const { connect, wire } = log[internals];
  const topic = wire(name);
  const connection = connect();
  try {
    await connection.open([topic]);
    const end = await connection.offset(topic, 0, 'latest');
    const from = await connection.offset(topic, 0, 'earliest');
    const found: RawRecord[] = [];
    if (end === from) return found;
    const fetches = readUntil(
      connection,
      { topic, partition: 0, from },
      ({ nextOffset }) => nextOffset >= end,
      { maxBytes: 1_000_000 },
    );
    for await (const { records } of fetches) found.push(...records);
    return found;
  } finally {
    connection.close();
  }
}
