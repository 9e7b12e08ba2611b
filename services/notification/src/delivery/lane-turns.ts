// Gives lanes their turns: one at a time for each lane, another one when something has changed meanwhile, and one at the moment
// that the lane has asked for.
import type { Logger } from '@lead-scoring/service';
import type { Clock } from './clock.js';
import type { Lane } from './lane.js';

/** Until a lane whose turn has failed has another. */
const retryAfterMs = 1_000;

export class LaneTurns {
  readonly #working = new Set<Lane>();
  /** Lanes that get another turn after the one under way. */
  readonly #again = new Set<Lane>();
  /** Cancels what wakes the lane; called when the lane gets its next turn. */
  readonly #alarms = new Map<Lane, () => void>();
  #hasBegun = false;
  #isStopped = false;

  constructor(
    private readonly take: (lane: Lane) => Promise<void>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Lanes get no turns before. */
  begin(): void {
    this.#hasBegun = true;
  }

  run(lane: Lane): void {
    if (this.#isStopped || !this.#hasBegun) return;
    if (this.#working.has(lane)) {
      this.#again.add(lane);
      return;
    }
    this.#working.add(lane);
    this.#cancelAlarm(lane);
    this.take(lane)
      .catch((error: unknown) => {
        this.logger.warn({ err: error, channel_id: lane.channel_id }, 'a channel cannot be looked after yet');
        this.wakeAt(lane, this.clock.now() + retryAfterMs);
      })
      .finally(() => {
        this.#working.delete(lane);
        if (this.#again.delete(lane)) this.run(lane);
      });
  }

  /** @param cancelToo cancels what else may wake the lane; called when the lane is woken, and when it gets a turn before */
  wakeAt(lane: Lane, moment: number, cancelToo?: () => void): void {
    this.#alarms.get(lane)?.();
    if (this.#isStopped) {
      cancelToo?.();
      return;
    }
    const cancel = this.clock.at(moment, () => {
      this.#alarms.delete(lane);
      cancelToo?.();
      this.run(lane);
    });
    this.#alarms.set(lane, () => {
      cancelToo?.();
      cancel();
    });
  }

  #cancelAlarm(lane: Lane): void {
    this.#alarms.get(lane)?.();
    this.#alarms.delete(lane);
  }

  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#alarms.values()) cancel();
    this.#alarms.clear();
  }
}
