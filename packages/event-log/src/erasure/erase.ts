// Erases from the log what is about deleted leads and ended organizational units, while the services are stopped:
// docs/runbooks/erasure.md, docs/decisions/0057-a-deletion-is-erased-from-the-log.md
//
// A topic is copied without these records to a topic beside it, the copy is checked, and the topic is deleted, made again, and filled from
// the copy. Topics that exist only meanwhile say how far this has come (lock.ts), so that a killed erasure is finished by the next one.
import {
  records as declarations,
  serviceNames,
  type PayloadOf,
  type TopicName,
} from '@lead-scoring/contracts';
import type { Admin } from 'kafkajs';
import { listPositions } from '../accept-positions.js';
import { headerText } from '../codec.js';
import { EventLogError } from '../errors.js';
import { internals, type EventLog } from '../event-log.js';
import type { KafkaConnection } from '../kafka/kafka-connection.js';
import type { RawRecord } from '../kafka/partition-reader.js';
import { copyGroupOffsets } from './group-offsets.js';
import { assertUnlocked, copiedMark, copyTopic, lockTopic } from './lock.js';
import { ErasureMarks, payloadOf } from './marks.js';
import {
  appendCopied,
  assertCopied,
  copiedRecords,
  newIdentity,
  recordsBefore,
  type Rewriting,
} from './partition-copy.js';
import { unitTopics, type ErasedTopic } from './record-groups.js';
import { PartitionRewriting } from './rewriting.js';
import { assertNobodyReads, groupIds } from './stopped-readers.js';
import { makeLike, makeMark, removeTopic } from './topic-admin.js';
import { takeTurn, type ErasureTurn } from './turn.js';

export interface ErasureOptions {
  /** Only counts; the services may run. */
  isDryRun?: boolean;
  /** Also deletes every dead letter, read or not. */
  includesDeadLetters?: boolean;
  /** How long to wait for services, consumers and another erasure to leave; default: a killed process is a member of its group for ten seconds. */
  patienceMs?: number;
  /** Called with each step, and with how many of its records are done. */
  onProgress?(step: ErasureStep): void;
}

export interface ErasureStep {
  topic: TopicName;
  work: 'reading' | 'copying' | 'checking the copy' | 'writing back' | 'checking';
  /** Records done since the last call. */
  records: number;
}

export interface ErasedRecords {
  topic: TopicName;
  /** Offsets of the topic. */
  records: number;
  /** Records that were replaced; of a dry run: that would be. */
  erased: number;
  /** An interrupted erasure of the topic was finished; what it had erased is not known any more. */
  isFinished?: true;
}

export interface ErasureReport {
  events: ErasedRecords[];
  /** Commands that were decided, replies, and dead letters: deleted, whatever they were about. */
  deleted: { topic: TopicName; records: number }[];
  /** Organizational units that have ended. */
  endedUnits: string[];
}

/** Partitions that are copied at the same time. */
const parallel = 4;

/**
 * Erases. Call it again after it was interrupted: no service starts before it has ended.
 * @throws EventLogError `log_in_use` while services, consumers of the topics or another erasure run, `restore_unfinished`
 */
export async function eraseLog(log: EventLog, options: ErasureOptions = {}): Promise<ErasureReport> {
  const { kafka } = log[internals];
  const admin = kafka.admin();
  await log.prepareSchemas();
  try {
    await admin.connect();
    return await new Erasure(log, admin, options).run();
  } finally {
    admin.disconnect().catch(() => undefined);
  }
}

/** What is to be erased from a topic: the marks and the end of each partition. */
interface TopicPlan {
  topic: ErasedTopic;
  marks: readonly ErasureMarks[];
  ends: readonly bigint[];
  erased: number;
}

class Erasure {
  readonly #partitions: readonly number[];
  readonly #wire;
  #endedUnits: ReadonlySet<string> = new Set();
  #turn: ErasureTurn | undefined;

  constructor(
    private readonly log: EventLog,
    private readonly admin: Admin,
    private readonly options: ErasureOptions,
  ) {
    this.#partitions = Array.from({ length: log.config.partitions }, (_, partition) => partition);
    this.#wire = log[internals].wire;
  }

  async run(): Promise<ErasureReport> {
    const there = new Set(await this.admin.listTopics());
    assertUnlocked(there, this.log.config.namespace, 'erasure');
    if (!unitTopics.every((topic) => there.has(this.#wire(topic))) && !there.has(this.#lock()))
      throw new EventLogError(
        'topic_mismatch',
        `Kafka has no topics of the namespace "${this.log.config.namespace}"`,
      );
    if (this.options.isDryRun === true) return this.#look();
    this.#turn = await takeTurn(this.log, this.admin, this.#patienceMs());
    try {
      return await this.#erase();
    } finally {
      await this.#turn.end();
    }
  }

  async #erase(): Promise<ErasureReport> {
    // Another erasure may have ended since, or a restoration begun.
    const there = new Set(await this.admin.listTopics());
    assertUnlocked(there, this.log.config.namespace, 'erasure');
    if (!there.has(this.#lock())) await makeMark(this.admin, this.#lock(), this.#wire('gateway.events'));
    const interrupted = unitTopics.filter((topic) => there.has(this.#mark(topic)));
    await this.#assertStopped(interrupted.length === 0);
    this.#endedUnits = await this.#findEndedUnits();
    const events: ErasedRecords[] = [];
    for (const topic of unitTopics)
      events.push(interrupted.includes(topic) ? await this.#finish(topic) : await this.#rewrite(topic));
    const deleted = await this.#deleteOthers();
    await removeTopic(this.admin, this.#lock(), true);
    return { events, deleted, endedUnits: [...this.#endedUnits] };
  }

  async #look(): Promise<ErasureReport> {
    this.#endedUnits = await this.#findEndedUnits();
    const events: ErasedRecords[] = [];
    for (const topic of unitTopics) events.push(reportOf(await this.#planOf(topic)));
    return { events, deleted: [], endedUnits: [...this.#endedUnits] };
  }

  /** @param mayGiveUp whether every topic is whole, so that the services may start again when somebody reads */
  async #assertStopped(mayGiveUp: boolean): Promise<void> {
    const { namespace } = this.log.config;
    try {
      await assertNobodyReads(
        this.admin,
        namespace,
        unitTopics.map((topic) => this.#wire(topic)),
        this.#patienceMs(),
      );
    } catch (error) {
      if (mayGiveUp) await removeTopic(this.admin, this.#lock(), true);
      throw error;
    }
  }

  #patienceMs(): number {
    return this.options.patienceMs ?? 15_000;
  }

  async #findEndedUnits(): Promise<ReadonlySet<string>> {
    const ended = new Set<string>();
    await this.#inPartitions(['gateway.events'], async (connection, partition) => {
      for await (const record of this.#read(connection, 'gateway.events', partition)) {
        if (headerText(record.headers, 'type') !== declarations.orgUnitEnded.type) continue;
        const payload = payloadOf(record) as PayloadOf<typeof declarations.orgUnitEnded> | null;
        if (payload) ended.add(payload.ou_id);
      }
    });
    return ended;
  }

  async *#read(
    connection: KafkaConnection,
    topic: TopicName,
    partition: number,
    end?: bigint,
  ): AsyncGenerator<RawRecord, void> {
    const wire = this.#wire(topic);
    const until = end ?? (await connection.offset(wire, partition, 'latest'));
    for await (const records of recordsBefore(connection, { topic: wire, partition, end: until }))
      yield* records;
  }

  /** Reads a topic twice: first what is deleted, then, if anything is, the records about it. */
  async #planOf(topic: ErasedTopic): Promise<TopicPlan> {
    const marks = this.#partitions.map(() => new ErasureMarks());
    const ends = this.#partitions.map(() => 0n);
    let erased = 0;
    await this.#inPartitions([topic], async (connection, partition) => {
      const end = await connection.offset(this.#wire(topic), partition, 'latest');
      ends[partition] = end;
      const ofPartition = marks[partition] ?? new ErasureMarks();
      for await (const record of this.#read(connection, topic, partition, end)) ofPartition.take(record);
      this.#progress(topic, 'reading', Number(end));
      if (ofPartition.areNone() && this.#endedUnits.size === 0) return;
      const rewriting = this.#rewritingOf(topic, partition, ofPartition);
      for await (const record of this.#read(connection, topic, partition, end)) rewriting.of(record);
      erased += rewriting.erased;
    });
    return { topic, marks, ends, erased };
  }

  #rewritingOf(topic: ErasedTopic, partition: number, marks: ErasureMarks): PartitionRewriting {
    const { codec } = this.log[internals];
    return new PartitionRewriting({
      topic,
      partition,
      marks,
      endedUnits: this.#endedUnits,
      encode: (declaration, payload) => codec.encode(declaration, payload),
    });
  }

  async #rewrite(topic: ErasedTopic): Promise<ErasedRecords> {
    const plan = await this.#planOf(topic);
    if (plan.erased > 0) {
      await this.#makeCopy(plan);
      // Whatever an interrupted erasure finds from here on, the copy is the topic.
      await makeMark(this.admin, this.#mark(topic), this.#copy(topic));
      await this.#finish(topic);
    } else await removeTopic(this.admin, this.#copy(topic));
    return reportOf(plan);
  }

  async #makeCopy({ topic, marks, ends }: TopicPlan): Promise<void> {
    const [from, to] = [this.#wire(topic), this.#copy(topic)];
    this.#turn?.check();
    await removeTopic(this.admin, to);
    await makeLike(this.admin, to, from);
    const rewriting = (partition: number) =>
      this.#rewritingOf(topic, partition, marks[partition] ?? new ErasureMarks());
    await this.#copyAll({ topic, from, to, ends, rewriting, works: ['copying', 'checking the copy'] });
    await this.#copyGroupOffsets(from, to);
    await this.#assertStopped(true);
    await this.#inTopics([from], async (connection) => {
      for (const [partition, end] of ends.entries())
        if ((await connection.offset(from, partition, 'latest')) !== end)
          throw new EventLogError(
            'log_in_use',
            `${topic} was written to meanwhile. Stop the services, and run the command again`,
          );
    });
  }

  /** Makes the topic anew from its copy, which is whole. */
  async #finish(topic: ErasedTopic): Promise<ErasedRecords> {
    const [from, to] = [this.#copy(topic), this.#wire(topic)];
    this.#turn?.check();
    await removeTopic(this.admin, to);
    await makeLike(this.admin, to, from);
    const ends = await this.#inTopics([from], (connection) =>
      Promise.all(this.#partitions.map((partition) => connection.offset(from, partition, 'latest'))),
    );
    const unchanged: Rewriting = {
      of: (record) => record,
      filler: () => {
        throw new EventLogError('erasure_failed', `the copy ${from} lacks an offset`);
      },
    };
    const rewriting = () => unchanged;
    await this.#copyAll({ topic, from, to, ends, rewriting, works: ['writing back', 'checking'] });
    await this.#copyGroupOffsets(from, to);
    // In this order: without its mark, a copy is one that was not finished.
    await removeTopic(this.admin, this.#mark(topic));
    await removeTopic(this.admin, from);
    return { topic, records: Number(sumOf(ends)), erased: 0, isFinished: true };
  }

  async #copyAll(copy: {
    topic: ErasedTopic;
    from: string;
    to: string;
    ends: readonly bigint[];
    rewriting: (partition: number) => Rewriting;
    works: readonly [ErasureStep['work'], ErasureStep['work']];
  }): Promise<void> {
    const { topic, from, to, ends, rewriting, works } = copy;
    await this.#inWireTopics([from, to], async (connection, partition) => {
      const source = { topic: from, partition, end: ends[partition] ?? 0n };
      const target = { topic: to, partition, end: source.end };
      const records = () => copiedRecords(connection, source, rewriting(partition));
      const identity = await newIdentity(connection);
      await appendCopied(connection, identity, target, records(), (count) => {
        this.#progress(topic, works[0], count);
      });
      await assertCopied(connection, target, records());
      this.#progress(topic, works[1], Number(source.end));
    });
  }

  async #copyGroupOffsets(from: string, to: string): Promise<void> {
    const groups = await groupIds(this.admin);
    await this.#inTopics([from], (connection) =>
      copyGroupOffsets(connection, groups, { from, to, partitions: this.#partitions.length }),
    );
  }

  /** Nothing reads commands again that were decided, nor replies that nobody waits for. */
  async #deleteOthers(): Promise<ErasureReport['deleted']> {
    const deleted: ErasureReport['deleted'] = [];
    for (const service of serviceNames) {
      const topic: TopicName = `${service}.commands`;
      const positions = await listPositions(this.log, service);
      const decided = positions.map(
        ({ inputs }) => inputs.find((input) => input.topic === topic)?.position ?? 0n,
      );
      deleted.push({ topic, records: await this.#deleteBefore(topic, decided) });
    }
    const wholly: TopicName[] = ['replies'];
    if (this.options.includesDeadLetters === true)
      wholly.push(...serviceNames.map((service): TopicName => `${service}.dead-letters`));
    for (const topic of wholly) deleted.push({ topic, records: await this.#deleteBefore(topic) });
    return deleted;
  }

  /** Deletes the records before an offset of each partition; default: all. */
  async #deleteBefore(topic: TopicName, before?: readonly bigint[]): Promise<number> {
    const wire = this.#wire(topic);
    const there = await this.admin.fetchTopicOffsets(wire);
    const partitions = there.flatMap(({ partition, low, high }) => {
      const offset = before ? (before[partition] ?? 0n) : BigInt(high);
      return offset > BigInt(low) && offset <= BigInt(high) ? [{ partition, offset, low: BigInt(low) }] : [];
    });
    if (partitions.length === 0) return 0;
    await this.admin.deleteTopicRecords({
      topic: wire,
      partitions: partitions.map(({ partition, offset }) => ({ partition, offset: offset.toString() })),
    });
    return Number(sumOf(partitions.map(({ offset, low }) => offset - low)));
  }

  /** Does the work for each partition, a few at a time, each with a connection of its own. */
  #inPartitions(
    topics: readonly TopicName[],
    work: (connection: KafkaConnection, partition: number) => Promise<void>,
  ): Promise<void> {
    return this.#inWireTopics(topics.map(this.#wire), work);
  }

  async #inWireTopics(
    topics: readonly string[],
    work: (connection: KafkaConnection, partition: number) => Promise<void>,
  ): Promise<void> {
    const waiting = [...this.#partitions];
    await Promise.all(
      Array.from({ length: parallel }, () =>
        this.#inTopics(topics, async (connection) => {
          for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
            await work(connection, next);
        }),
      ),
    );
  }

  async #inTopics<Result>(
    topics: readonly string[],
    use: (connection: KafkaConnection) => Promise<Result>,
  ): Promise<Result> {
    const connection = this.log[internals].connect();
    try {
      await connection.open(topics);
      return await use(connection);
    } finally {
      connection.close();
    }
  }

  #progress(topic: TopicName, work: ErasureStep['work'], records: number): void {
    this.options.onProgress?.({ topic, work, records });
  }

  #lock(): string {
    return lockTopic(this.log.config.namespace);
  }

  #copy(topic: TopicName): string {
    return copyTopic(this.log.config.namespace, topic);
  }

  #mark(topic: TopicName): string {
    return copiedMark(this.log.config.namespace, topic);
  }
}

function reportOf({ topic, ends, erased }: TopicPlan): ErasedRecords {
  return { topic, records: Number(sumOf(ends)), erased };
}

function sumOf(numbers: readonly bigint[]): bigint {
  return numbers.reduce((sum, one) => sum + one, 0n);
}
