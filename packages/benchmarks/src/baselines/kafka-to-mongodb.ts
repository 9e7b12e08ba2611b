// Baseline: the naive consumer. For each batch of kafkajs: insertMany of the events, then one bulkWrite of guarded updateOne (upsert,
// $inc), one per lead of the batch. Points are fixed by event type; it evaluates no rules and records no decisions.
// GET /progress answers with the offsets up to which it has written.
import { createServer } from 'node:http';
import { Kafka, logLevel } from 'kafkajs';
import { MongoBulkWriteError, MongoClient, type AnyBulkWriteOperation } from 'mongodb';
import type { Progress } from '../load/readable.js';
import { fixedPoints } from '../workload.js';
import { baselineSettings, type SentEvent } from './settings.js';

interface EventDocument {
  _id: string;
  lead_id: string;
  event_type: string;
  timestamp: Date;
  metadata: Record<string, unknown>;
}

interface LeadDocument {
  _id: string;
  score: number;
  event_count: number;
  last_activity_at: Date;
  /** The offset of the last record counted, so that a repeated record is not counted again. */
  offset: number;
}

/** The additions of one batch to a lead. */
interface LeadGain {
  alias: string;
  points: number;
  events: number;
  lastActivityAt: string;
  offset: number;
}

const { port, brokers, topic, mongodbUri, database } = baselineSettings(process.env);
const mongo = await MongoClient.connect(mongodbUri);
const events = mongo.db(database).collection<EventDocument>('events');
const leads = mongo.db(database).collection<LeadDocument>('leads');
await events.createIndexes([{ key: { lead_id: 1, timestamp: -1 } }]);
await leads.createIndexes([{ key: { score: -1 } }]);

const progress = { events: 0, offsets: new Map<number, number>() };
const consumer = new Kafka({ brokers, clientId: 'baseline', logLevel: logLevel.ERROR }).consumer({
  groupId: topic,
});
await consumer.connect();
await consumer.subscribe({ topic, fromBeginning: true });
let joined = false;
consumer.on(consumer.events.GROUP_JOIN, () => {
  joined = true;
});
await consumer.run({
  eachBatch: async (handed) => {
    const { batch } = handed;
    const received = batch.messages.map((message) => ({
      offset: Number(message.offset),
      event: JSON.parse(message.value?.toString() ?? '') as SentEvent,
    }));
    await ignoreRepeats(
      events.insertMany(
        received.map(({ event, offset }) => ({
          _id: `${batch.partition}:${offset}`,
          lead_id: event.alias,
          event_type: event.event_type,
          timestamp: new Date(event.timestamp),
          metadata: event.metadata,
        })),
        { ordered: false },
      ),
    );
    await handed.heartbeat();
    await ignoreRepeats(leads.bulkWrite(gainsOf(received).map(guardedUpdate), { ordered: false }));
    progress.events += received.length;
    progress.offsets.set(batch.partition, Number(batch.lastOffset()) + 1);
  },
});

function gainsOf(received: readonly { event: SentEvent; offset: number }[]): LeadGain[] {
  const gains = new Map<string, LeadGain>();
  for (const { event, offset } of received) {
    const gain = gains.get(event.alias) ?? {
      alias: event.alias,
      points: 0,
      events: 0,
      lastActivityAt: '',
      offset: 0,
    };
    gain.points += fixedPoints[event.event_type] ?? 0;
    gain.events += 1;
    gain.offset = offset;
    if (event.timestamp > gain.lastActivityAt) gain.lastActivityAt = event.timestamp;
    gains.set(event.alias, gain);
  }
  return [...gains.values()];
}

function guardedUpdate({
  alias,
  points,
  events: count,
  lastActivityAt,
  offset,
}: LeadGain): AnyBulkWriteOperation<LeadDocument> {
  return {
    updateOne: {
      filter: { _id: alias, offset: { $lt: offset } },
      update: {
        $inc: { score: points, event_count: count },
        $set: { offset, last_activity_at: new Date(lastActivityAt) },
      },
      upsert: true,
    },
  };
}

/** Ignores duplicate keys, which mean that the record was written before. */
async function ignoreRepeats(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError && error.code === 11_000)) throw error;
  }
}

const server = createServer((req, res) => {
  if (req.url === '/healthz') res.statusCode = joined ? 200 : 503;
  res.end(JSON.stringify({ events: progress.events, offsets: [...progress.offsets] } satisfies Progress));
}).listen(port, '127.0.0.1');

process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
  void consumer.disconnect().then(() => mongo.close());
});
