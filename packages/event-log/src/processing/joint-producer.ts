// The one transactional producer of a process. What its partitions have decided in one round is committed in one transaction.
//
// A producer's id is used once. When a transaction's outcome is unknown the producer is given up, every session that works
// with it ends, and the next owner of each partition fences the id before it reads: docs/decisions/0027-one-transaction-for-a-process.md
import { randomUUID } from 'node:crypto';
import { asError, EventLogError } from '../errors.js';
import { internals, type EventLog } from '../event-log.js';
import {
  createTransactionalProducer,
  type Participants,
  type TransactionalProducer,
  type TransactionContents,
} from '../kafka/transactional-producer.js';

/** Milliseconds for which a partition that has decided waits for the others of the round. */
const patienceMs = 500;

interface Commit {
  contents: TransactionContents;
  resolve: (firstOffsets: bigint[]) => void;
  reject: (error: Error) => void;
}

export class JointProducer {
  /** Partitions of the round that have not decided yet, or that wait for the others. */
  #inRound = 0;
  /** What partitions of the round have decided. */
  #decided: Commit[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** What the next transaction commits. */
  #ready: Commit[] = [];
  #isBusy = false;
  #failure: Error | undefined;

  constructor(
    /** The transactional id, by which others fence it. */
    readonly id: string,
    private readonly producer: TransactionalProducer,
    private readonly onFailure: () => void,
  ) {}

  /** A partition begins a round; it calls `leaveRound` at its end. */
  enterRound(): void {
    this.#inRound += 1;
  }

  leaveRound(): void {
    this.#inRound -= 1;
    this.#endRoundIfComplete();
  }

  /** Opens the transaction ahead for these, to overlap with other work. */
  begin(participants: Participants): void {
    if (!this.#failure) this.producer.begin(participants).catch(() => undefined);
  }

  /**
   * Appends and commits together with what the other partitions of the round have decided; whoever takes half a second longer
   * is committed later. @returns the first offset of each batch
   */
  commitInRound(contents: TransactionContents): Promise<bigint[]> {
    return new Promise((resolve, reject) => {
      this.#decided.push({ contents, resolve, reject });
      this.#timer ??= setTimeout(() => this.#endRound(), patienceMs);
      this.#endRoundIfComplete();
    });
  }

  /** Appends and commits with the next transaction. @returns the first offset of each batch */
  commit(contents: TransactionContents): Promise<bigint[]> {
    return new Promise((resolve, reject) => {
      this.#ready.push({ contents, resolve, reject });
      void this.#commitReady();
    });
  }

  /** Ends a transaction that is open, so that the brokers do not end it while a long decision is made. */
  async endOpen(): Promise<void> {
    await this.commit({ batches: [], offsets: [] });
  }

  #endRoundIfComplete(): void {
    if (this.#decided.length > 0 && this.#decided.length >= this.#inRound) this.#endRound();
  }

  #endRound(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#ready.push(...this.#decided.splice(0));
    void this.#commitReady();
  }

  /** Commits all that is ready in one transaction, and what becomes ready meanwhile in the next one. */
  async #commitReady(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    while (this.#ready.length > 0) await this.#commitTogether(this.#ready.splice(0));
    this.#isBusy = false;
  }

  async #commitTogether(commits: readonly Commit[]): Promise<void> {
    try {
      const first = await this.#transaction({
        batches: commits.flatMap(({ contents }) => contents.batches),
        offsets: commits.flatMap(({ contents }) => contents.offsets),
      });
      let at = 0;
      for (const { contents, resolve } of commits) resolve(first.slice(at, (at += contents.batches.length)));
    } catch (error) {
      for (const { reject } of commits) reject(asError(error));
    }
  }

  /** Whatever fails leaves the outcome unknown: the producer is given up. */
  async #transaction(contents: TransactionContents): Promise<bigint[]> {
    if (this.#failure) throw this.#failure;
    try {
      if (contents.batches.length + contents.offsets.length > 0) return await this.producer.commit(contents);
      await this.producer.endOpen();
      return [];
    } catch (error) {
      this.#failure = new EventLogError('closed', 'the process has given up the producer of this session', {
        retriable: true,
        cause: error,
      });
      this.onFailure();
      throw error;
    }
  }
}

export interface ProducersOptions {
  log: EventLog;
  groupId: string;
  /** Every topic that is written, as named on the wire. */
  topics: readonly string[];
  timeoutMs: number;
}

/** The producers of a process, one after the other. */
export class JointProducers {
  #current: Promise<JointProducer> | undefined;
  #close: () => void = () => undefined;
  readonly #fenced = new Map<string, Promise<void>>();
  readonly #formerIds = new Set<string>();

  constructor(private readonly options: ProducersOptions) {}

  /** The producer for sessions that are opened now. */
  async current(): Promise<JointProducer> {
    this.#current ??= this.#make();
    try {
      return await this.#current;
    } catch (error) {
      this.#current = undefined;
      throw error;
    }
  }

  /** Whether this process has given up, and fenced, the producer with this id before it made the current one. */
  isFormer(id: string): boolean {
    return this.#formerIds.has(id);
  }

  /** Ends what the producer with this id has left open, and makes every later write of it fail. */
  fence(id: string): Promise<void> {
    let fenced = this.#fenced.get(id);
    if (!fenced) {
      fenced = this.#fence(id);
      this.#fenced.set(id, fenced);
      fenced.catch(() => this.#fenced.delete(id));
    }
    return fenced;
  }

  close(): void {
    this.#close();
  }

  async #make(): Promise<JointProducer> {
    const { log, groupId, topics, timeoutMs } = this.options;
    for (const former of this.#formerIds) await this.fence(former);
    const id = `${groupId}.${randomUUID()}`;
    const connection = log[internals].connect();
    try {
      await connection.open(topics);
      const producer = createTransactionalProducer(connection, { transactionalId: id, groupId, timeoutMs });
      await producer.fence();
      this.#close = () => connection.close();
      return new JointProducer(id, producer, () => {
        this.#formerIds.add(id);
        this.#current = undefined;
        connection.close();
      });
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  async #fence(transactionalId: string): Promise<void> {
    const { log, groupId, topics, timeoutMs } = this.options;
    const connection = log[internals].connect();
    try {
      await connection.open(topics.slice(0, 1));
      await createTransactionalProducer(connection, { transactionalId, groupId, timeoutMs }).fence();
    } finally {
      connection.close();
    }
  }
}
