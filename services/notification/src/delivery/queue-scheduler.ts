// Runs channel queues: one run at a time per queue, another run when a change came during it, and a run at a requested moment.
import type { Logger } from '@lead-scoring/service';
import type { Clock } from './clock.js';
import type { ChannelQueue } from './channel-queue.js';

/** Delay before a queue whose run has failed is run again. */
const retryAfterMs = 1_000;

export class QueueScheduler {
  readonly #running = new Set<ChannelQueue>();
  /** Queues that are run again after the run under way. */
  readonly #again = new Set<ChannelQueue>();
  /** Cancels the queue's timer; called before each run. */
  readonly #alarms = new Map<ChannelQueue, () => void>();
  #hasBegun = false;
  #isStopped = false;

  constructor(
    private readonly serve: (queue: ChannelQueue) => Promise<void>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Before this call no queue is run. */
  begin(): void {
    this.#hasBegun = true;
  }

  run(queue: ChannelQueue): void {
    if (this.#isStopped || !this.#hasBegun) return;
    if (this.#running.has(queue)) {
      this.#again.add(queue);
      return;
    }
    this.#running.add(queue);
    this.#cancelAlarm(queue);
    this.serve(queue)
      .catch((error: unknown) => {
        this.logger.warn(
          { err: error, channel_id: queue.channel_id },
          'the queue of a channel cannot be run yet; the run is repeated',
        );
        this.wakeAt(queue, this.clock.now() + retryAfterMs);
      })
      .finally(() => {
        this.#running.delete(queue);
        if (this.#again.delete(queue)) this.run(queue);
      });
  }

  /** @param cancelToo cancels another wake-up of the queue; called when the queue is run, by the timer or before it */
  wakeAt(queue: ChannelQueue, moment: number, cancelToo?: () => void): void {
    this.#alarms.get(queue)?.();
    if (this.#isStopped) {
      cancelToo?.();
      return;
    }
    const cancel = this.clock.at(moment, () => {
      this.#alarms.delete(queue);
      cancelToo?.();
      this.run(queue);
    });
    this.#alarms.set(queue, () => {
      cancelToo?.();
      cancel();
    });
  }

  #cancelAlarm(queue: ChannelQueue): void {
    this.#alarms.get(queue)?.();
    this.#alarms.delete(queue);
  }

  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#alarms.values()) cancel();
    this.#alarms.clear();
  }
}
