// The transactional producer of a process. One transaction commits the decisions of all partitions in a round.
//
// A transactional id is used by one producer only. When the outcome of a transaction is unknown, the producer is
// discarded, every session that uses it ends, and the next owner of each partition fences its id before it reads:
// docs/decisions/0027-one-transaction-for-a-process.md
import { asError, EventLogError } from '../errors.js';
import { internals, type EventLog } from '../event-log.js';
import {
  createTransactionalProducer,
  type Participants,
  type TransactionalProducer,
  type TransactionContents,
} from '../kafka/transactional-producer.js';
import { newTransactionalId } from './transactional-id.js';

/** Maximum time that a partition's decision waits for the other partitions of the round. */
const patienceMs = 500;

interface Commit {
  contents: TransactionContents;
  resolve: (firstOffsets: bigint[]) => void;
  reject: (error: Error) => void;
}

export class JointProducer {
  /** Partitions that have begun the round and not left it. */
  #inRound = 0;
  /** The decisions that wait for the end of the round. */
  #decided: Commit[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The contents of the next transaction. */
  #ready: Commit[] = [];
  #isBusy = false;
  #failure: Error | undefined;

  constructor(
    /** The transactional id by which other processes fence this producer. */
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

  /** Opens the transaction early, so that it overlaps with other work. */
  begin(participants: Participants): void {
    if (!this.#failure) this.producer.begin(participants).catch(() => undefined);
  }

  /**
   * Commits together with the other partitions of the round. Contents that arrive more than 500 ms after the first
   * decision are committed in a later transaction.
   * @returns the first offset of each batch
   */
  commitInRound(contents: TransactionContents): Promise<bigint[]> {
    return new Promise((resolve, reject) => {
      this.#decided.push({ contents, resolve, reject });
      this.#timer ??= setTimeout(() => this.#endRound(), patienceMs);
      this.#endRoundIfComplete();
    });
  }

  /** Commits in the next transaction. @returns the first offset of each batch */
  commit(contents: TransactionContents): Promise<bigint[]> {
    return new Promise((resolve, reject) => {
      this.#ready.push({ contents, resolve, reject });
      void this.#commitReady();
    });
  }

  /** Ends an open transaction, so that the brokers do not abort it during a long decision. */
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

  /** Commits all ready contents in one transaction, and contents that become ready meanwhile in the next one. */
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

  /** Any failure leaves the outcome unknown, so the producer is discarded. */
  async #transaction(contents: TransactionContents): Promise<bigint[]> {
    if (this.#failure) throw this.#failure;
    try {
      if (contents.batches.length + contents.offsets.length > 0) return await this.producer.commit(contents);
      await this.producer.endOpen();
      return [];
    } catch (error) {
      this.#failure = new EventLogError(
        'closed',
        'the process has discarded the producer of this session after a failed transaction',
        {
          retriable: true,
          cause: error,
        },
      );
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

/** The producers of a process; one is current at a time. */
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

  /** Whether the id belongs to an earlier producer of this process, which is fenced before the current one is made. */
  isFormer(id: string): boolean {
    return this.#formerIds.has(id);
  }

  /** Ends the open transaction of the producer with this id, and makes all its later writes fail. */
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
    const id = newTransactionalId(groupId);
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
