// Waits until a reader of the log, which is a processor or a projector, has come to a position.
import type { TopicName } from '@lead-scoring/contracts';
import { unlessAborted } from './timing.js';

/** How far a reader has come in one partition number: the next offset of each topic. */
export interface ReaderPositions {
  readonly positions: Readonly<Partial<Record<TopicName, bigint>>>;
}

/** The next offset to be reached: n + 1 for the record at n. */
export interface PositionToReach {
  readonly partition: number;
  readonly offset: bigint;
}

export interface PositionWatch<Reached extends ReaderPositions> {
  /**
   * Waits until the reader has come to all of these positions of a topic.
   * @returns how far it has come in these partitions; null after the time limit, or when the signal is aborted
   */
  until(
    topic: TopicName,
    wanted: readonly PositionToReach[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<number, Reached> | null>;
}

/** Readers in this process, which need not be looked for. */
export interface OwnReaders<Reached extends ReaderPositions> {
  /** How far they have come in these partitions; null where some of these have readers in other processes. */
  positions(partitions: readonly number[]): ReadonlyMap<number, Reached> | null;
  /** Resolves when one of them next comes further. */
  moved(): Promise<void>;
}

export interface PositionWatchOptions<Reached extends ReaderPositions> {
  /** The time limit of each wait. */
  readonly timeoutMs: number;
  /** The pause before the second look, in milliseconds. Default 10. */
  readonly shortestPauseMs?: number;
  readonly own?: OwnReaders<Reached>;
}

const longestPauseMs = 100;
/** Each pause is a twentieth of the time waited so far, so that long waits do not load a busy server. */
const pauseAfterWaiting = 1 / 20;

/**
 * All who wait share each look: a thousand of them load the server like one.
 * @param look reads how far the reader has come, by partition
 */
export function createPositionWatch<Reached extends ReaderPositions>(
  look: () => Promise<ReadonlyMap<number, Reached>>,
  { timeoutMs, shortestPauseMs = 10, own }: PositionWatchOptions<Reached>,
): PositionWatch<Reached> {
  const looks = new SharedLooks(look);
  return {
    async until(topic, wanted, signal) {
      if (wanted.length === 0) return new Map();
      const began = performance.now();
      const waitedMs = () => performance.now() - began;
      const pauseMs = () =>
        Math.min(longestPauseMs, Math.max(shortestPauseMs, waitedMs() * pauseAfterWaiting));
      const partitions = wanted.map(({ partition }) => partition);
      const known = () => own?.positions(partitions) ?? null;
      let lookedAt = began;
      const next = async () => {
        // Another process may have taken a partition over: only a look can tell.
        const untilLookMs = lookedAt + longestPauseMs - performance.now();
        const moved = own && known() && (await movesWithin(own, untilLookMs)) ? known() : null;
        if (moved) return moved;
        lookedAt = performance.now();
        return looks.next(pauseMs());
      };
      for (let all = known() ?? (await look()); ; all = await next()) {
        if (wanted.every(({ partition, offset }) => (all.get(partition)?.positions[topic] ?? 0n) >= offset))
          return new Map([...all].filter(([partition]) => wanted.some((one) => one.partition === partition)));
        if (waitedMs() >= timeoutMs || signal?.aborted) return null;
      }
    },
  };
}

/** Whether one of the readers comes further in this time. */
async function movesWithin<Reached extends ReaderPositions>(
  own: OwnReaders<Reached>,
  ms: number,
): Promise<boolean> {
  if (ms <= 0) return false;
  const moved = own.moved().then(() => true);
  return (await unlessAborted(moved, AbortSignal.timeout(Math.ceil(ms)))) ?? false;
}

class SharedLooks<Seen> {
  #next: { at: number; timer: NodeJS.Timeout; begin: () => void; seen: Promise<Seen> } | undefined;

  constructor(private readonly look: () => Promise<Seen>) {}

  /** What is seen by a look that begins after this call, within the pause. */
  next(pauseMs: number): Promise<Seen> {
    const at = performance.now() + pauseMs;
    if (!this.#next) {
      let begin: () => void = () => undefined;
      const seen = new Promise<void>((resolve) => {
        begin = resolve;
      }).then(() => {
        this.#next = undefined;
        return this.look();
      });
      this.#next = { at, timer: setTimeout(begin, pauseMs), begin, seen };
    } else if (at < this.#next.at) {
      clearTimeout(this.#next.timer);
      this.#next.at = at;
      this.#next.timer = setTimeout(this.#next.begin, pauseMs);
    }
    return this.#next.seen;
  }
}
