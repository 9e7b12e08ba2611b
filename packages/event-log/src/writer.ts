// Writes records from outside of a processor, many callers' records in one request.
import type { TopicName } from '@lead-scoring/contracts';
import type { Component } from './component.js';
import { EventLogError, EventLogUnavailable } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import {
  byLeader,
  mayAppendAgain,
  partitionName,
  produce,
  takeSequence,
  type ProducerIdentity,
} from './idempotent-appender.js';
import type { KafkaConnection } from './kafka-connection.js';
import { encodeRecord, traceHeaders, type EncodedRecord } from './outgoing.js';
import type { RecordToWrite } from './record-batch.js';
import type { OutgoingRecord } from './records.js';
import { pause, within } from './timing.js';

/** Where a record was written. */
export interface RecordPosition {
  topic: TopicName;
  partition: number;
  offset: bigint;
}

export interface RecordWriter {
  /**
   * Writes records and resolves with their positions, in the order given, once all in-sync replicas have every one.
   * @throws EventLogError `log_overloaded` at once when too much is waiting; EventLogUnavailable within about 5 s when
   * the brokers do not answer (the records may have been written: send them again with the same ids);
   * `invalid_record` and `record_too_large` for a record that can never be written.
   */
  write(records: readonly OutgoingRecord[]): Promise<RecordPosition[]>;
}

export interface RecordWriterOptions {
  /** Bytes that may wait for the request in flight; beyond, write() rejects. Default 32 MiB. */
  maxBufferedBytes?: number;
  /** Milliseconds until a write is given up. Default 5,000. */
  timeoutMs?: number;
}

/** Bytes of one partition in one request; a larger batch would be refused by the brokers. */
const maxBatchBytes = 4 * 1024 * 1024;
/** Milliseconds between looks for a leader that is away. */
const retryPauseMs = 50;

/** A call of write() that waits for its records. */
interface Write {
  positions: RecordPosition[];
  missing: number;
  settled: boolean;
  resolve(positions: RecordPosition[]): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

interface Entry {
  write: Write;
  /** Index in the call. */
  index: number;
  name: TopicName;
  message: RecordToWrite;
  bytes: number;
}

/** What waits for one partition, and the one batch of it that is on its way. */
interface Lane {
  topic: string;
  partition: number;
  waiting: Entry[];
  flight?: { entries: Entry[]; identity: ProducerIdentity; firstSequence: number; busy: boolean };
}

/**
 * A writer with natural batching: each broker has one request in flight, and what arrives meanwhile is its next. A batch
 * that fails in passing (a leader moved, a connection broke) is sent again to whoever leads its partition then, with the
 * same sequence number, so it is written once; while one partition waits for its leader, the others go on.
 */
export function createRecordWriter(
  log: EventLog,
  options: RecordWriterOptions = {},
): Component<RecordWriter> {
  const { logger, connect } = log[internals];
  const maxBufferedBytes = options.maxBufferedBytes ?? 32 * 1024 * 1024;
  const timeoutMs = options.timeoutMs ?? 5_000;
  const lanes = new Map<string, Lane>();
  const busyLeaders = new Set<number>();
  let connection: KafkaConnection | undefined;
  let identity: ProducerIdentity | undefined;
  let renewal: Promise<void> | undefined;
  let bufferedBytes = 0;
  let pumpScheduled = false;
  let stopped = false;

  /** A new producer id: after a batch was given up whose outcome is unknown, its sequence numbers are unusable. */
  function renew(reason: string): void {
    identity = undefined;
    renewal ??= (async () => {
      while (!stopped && !identity) {
        try {
          const fresh = connect();
          connection?.close();
          connection = fresh;
          const { producerId, producerEpoch } = await within(
            (async () => {
              await fresh.open([...new Set([...lanes.values()].map(({ topic }) => topic))]);
              return (await fresh.anyBroker()).initProducerId({ transactionTimeout: 60_000 });
            })(),
            timeoutMs,
            () => new EventLogUnavailable('no producer id came in time'),
          );
          identity = { producerId, producerEpoch, sequences: new Map() };
        } catch (error) {
          logger.warn({ err: error, reason }, 'the record writer has no connection to the log; trying again');
          await pause(500);
        }
      }
      renewal = undefined;
      schedulePump();
    })();
  }

  function schedulePump(): void {
    if (pumpScheduled) return;
    pumpScheduled = true;
    // After this turn of the event loop, so that all that arrived in it goes together.
    setImmediate(() => {
      pumpScheduled = false;
      pump();
    });
  }

  function pump(): void {
    if (!identity || !connection) return;
    const from = connection;
    const ready: Lane[] = [];
    for (const lane of lanes.values()) {
      if (lane.flight ? !lane.flight.busy : lane.waiting.length > 0) ready.push(lane);
    }
    if (ready.length === 0) return;
    let groups: Map<number | undefined, Lane[]>;
    try {
      groups = byLeader(from, ready);
    } catch {
      groups = new Map([[undefined, ready]]);
    }
    for (const [leader, group] of groups) {
      if (leader === undefined) void findLeaders(from, group);
      else if (!busyLeaders.has(leader)) void send(from, leader, group, identity);
    }
  }

  let findingLeaders = false;
  async function findLeaders(from: KafkaConnection, group: Lane[]): Promise<void> {
    if (findingLeaders) return;
    findingLeaders = true;
    try {
      await within(
        from.open(group.map(({ topic }) => topic)),
        timeoutMs,
        () => new Error('no metadata in time'),
      );
      if (group.some(({ topic, partition }) => leaderOrNone(from, topic, partition) === undefined)) {
        await pause(retryPauseMs);
        await refresh(from);
      }
    } catch (error) {
      logger.debug({ err: error }, 'leaders are not known');
      if (from === connection) renew('leaders are not known');
    }
    findingLeaders = false;
    schedulePump();
  }

  /** Sends each lane's batch to their common leader. One request is of one producer id: lanes of another wait their turn. */
  async function send(
    from: KafkaConnection,
    leader: number,
    group: Lane[],
    current: ProducerIdentity,
  ): Promise<void> {
    const sender = group[0]?.flight?.identity ?? current;
    const now = group.filter(({ flight }) => (flight?.identity ?? current) === sender);
    busyLeaders.add(leader);
    const batches = now.map((lane) => {
      const { entries, firstSequence } = takeOff(lane, current);
      return {
        topic: lane.topic,
        partition: lane.partition,
        firstSequence,
        messages: entries.map(({ message }) => message),
      };
    });
    try {
      const offsets = await within(
        from.broker(leader).then((broker) => produce(broker, sender, batches, timeoutMs)),
        timeoutMs,
        () =>
          Object.assign(new Error('the broker did not acknowledge in time'), { type: 'REQUEST_TIMED_OUT' }),
      );
      now.forEach((lane, at) => {
        land(lane, offsets[at] ?? -1n);
      });
    } catch (error) {
      await fail(from, now, error);
    } finally {
      busyLeaders.delete(leader);
      schedulePump();
    }
  }

  async function refresh(from: KafkaConnection): Promise<void> {
    await within(from.refresh(), timeoutMs, () => new Error('no metadata in time')).catch(
      (error: unknown) => {
        logger.debug({ err: error }, 'leaders are not known');
      },
    );
  }

  /** The batch of a lane that is to be sent now: the one that failed before, or all that waits, up to the limit. */
  function takeOff(lane: Lane, current: ProducerIdentity): NonNullable<Lane['flight']> {
    if (lane.flight) {
      lane.flight.busy = true;
      return lane.flight;
    }
    let bytes = 0;
    let count = 0;
    for (const entry of lane.waiting) {
      if (count > 0 && bytes + entry.bytes > maxBatchBytes) break;
      bytes += entry.bytes;
      count++;
    }
    const entries = lane.waiting.splice(0, count);
    const firstSequence = takeSequence(current, {
      topic: lane.topic,
      partition: lane.partition,
      messages: entries.map(({ message }) => message),
    });
    lane.flight = { entries, identity: current, firstSequence, busy: true };
    return lane.flight;
  }

  function land(lane: Lane, firstOffset: bigint): void {
    const entries = lane.flight?.entries ?? [];
    delete lane.flight;
    entries.forEach(({ write, index, name, bytes }, at) => {
      bufferedBytes -= bytes;
      write.positions[index] = { topic: name, partition: lane.partition, offset: firstOffset + BigInt(at) };
      write.missing--;
      if (write.missing === 0 && !write.settled) {
        write.settled = true;
        clearTimeout(write.timer);
        write.resolve(write.positions);
      }
    });
  }

  async function fail(from: KafkaConnection, group: Lane[], error: unknown): Promise<void> {
    if (mayAppendAgain(error)) {
      logger.debug({ err: error }, 'records are sent again');
      await pause(retryPauseMs);
      await refresh(from);
      for (const lane of group) {
        if (lane.flight) lane.flight.busy = false;
        dropIfGivenUp(lane);
      }
      return;
    }
    logger.error({ err: error }, 'records could not be written');
    for (const lane of group) giveUp(lane, new EventLogUnavailable('the brokers refused the records', error));
    renew('records could not be written');
  }

  function giveUp(lane: Lane, error: Error): void {
    const entries = lane.flight?.entries ?? [];
    delete lane.flight;
    for (const { write, bytes } of entries) {
      bufferedBytes -= bytes;
      reject(write, error);
    }
  }

  function reject(write: Write, error: Error): void {
    if (write.settled) return;
    write.settled = true;
    clearTimeout(write.timer);
    write.reject(error);
  }

  /** Nobody waits for this batch any more, and whether it was written is unknown: its producer id goes with it. */
  function dropIfGivenUp(lane: Lane): void {
    if (!lane.flight?.entries.every(({ write }) => write.settled)) return;
    giveUp(lane, new EventLogUnavailable('given up'));
    renew('a write was given up');
  }

  function expire(write: Write): void {
    reject(write, new EventLogUnavailable(`the brokers did not acknowledge within ${timeoutMs} ms`));
    for (const lane of lanes.values()) {
      lane.waiting = lane.waiting.filter((entry) => {
        if (!entry.write.settled) return true;
        bufferedBytes -= entry.bytes;
        return false;
      });
      if (lane.flight && !lane.flight.busy) dropIfGivenUp(lane);
    }
  }

  /**
   * A function of its own, so that nothing that lives until the brokers answer refers to the records: what is in flight
   * would be copied by every collection.
   */
  function enqueue(encoded: readonly (EncodedRecord & { name: TopicName })[]): Promise<RecordPosition[]> {
    const bytes = encoded.reduce((sum, one) => sum + one.bytes, 0);
    if (bufferedBytes + bytes > maxBufferedBytes && bufferedBytes > 0) {
      throw new EventLogError(
        'log_overloaded',
        'too many records are waiting to be written: try again later',
        {
          retriable: true,
        },
      );
    }
    return new Promise<RecordPosition[]>((resolve, reject) => {
      const write: Write = {
        positions: [],
        missing: encoded.length,
        settled: false,
        resolve,
        reject,
        timer: setTimeout(() => {
          expire(write);
        }, timeoutMs),
      };
      encoded.forEach(({ topic, partition, name, message, bytes: size }, index) => {
        const key = partitionName({ topic, partition });
        let lane = lanes.get(key);
        if (!lane) lanes.set(key, (lane = { topic, partition, waiting: [] }));
        lane.waiting.push({ write, index, name, message, bytes: size });
        bufferedBytes += size;
      });
      schedulePump();
    });
  }

  const writer: RecordWriter = {
    async write(records) {
      if (stopped) throw new EventLogError('closed', 'the record writer is stopped');
      if (records.length === 0) return [];
      const now = Date.now();
      const trace = traceHeaders();
      return enqueue(
        records.map((record) => ({
          ...encodeRecord(log, record, now, trace),
          name: record.declaration.topic,
        })),
      );
    },
  };

  return {
    name: 'record writer',
    start() {
      // Writes wait for the connection; a broker that is away at the start is not a reason to fail.
      renew('start');
      return Promise.resolve({
        value: writer,
        async stop() {
          const giveUpAt = Date.now() + timeoutMs;
          while (bufferedBytes > 0 && Date.now() < giveUpAt) await pause(10);
          stopped = true;
          for (const lane of lanes.values()) {
            for (const { write } of [...lane.waiting, ...(lane.flight?.entries ?? [])]) {
              reject(write, new EventLogError('closed', 'the record writer is stopped', { retriable: true }));
            }
          }
          lanes.clear();
          connection?.close();
        },
      });
    },
  };
}

function leaderOrNone(connection: KafkaConnection, topic: string, partition: number): number | undefined {
  try {
    return connection.leaderId(topic, partition);
  } catch {
    return undefined;
  }
}
