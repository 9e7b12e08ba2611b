// Requests to a coordinator, repeated while its answer says that the request was not executed.
import { EventLogUnavailable } from '../errors.js';
import { pause } from '../timing.js';
import type { Broker } from './broker.js';
import type { KafkaConnection } from './kafka-connection.js';
import { protocolErrorType } from './kafka-errors.js';

/** Time limit of each step of a transaction, in milliseconds. */
export const stepTimeoutMs = 10_000;
/** Milliseconds before a coordinator that has moved or cannot be reached is searched again. */
const moveMs = 100;

const coordinatorMoved = new Set([
  'NOT_COORDINATOR_FOR_GROUP',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'GROUP_LOAD_IN_PROGRESS',
  'NOT_COORDINATOR',
  'COORDINATOR_NOT_AVAILABLE',
  'COORDINATOR_LOAD_IN_PROGRESS',
]);

export class CoordinatorRequests {
  /** @param name the coordinator's name in errors */
  constructor(
    private readonly connection: KafkaConnection,
    private readonly name: string,
    private readonly find: () => Promise<Broker>,
  ) {}

  /**
   * Sends a request, and repeats it while the coordinator answers that the previous transaction is still ending, or
   * that it is no longer the coordinator. A request without an answer is not repeated: it may have been executed.
   * @param options.again further errors after which the request may be repeated
   */
  async ask<Answer>(
    request: (broker: Broker) => Promise<Answer>,
    { again = () => false }: { again?: (error: unknown) => boolean } = {},
  ): Promise<Answer> {
    const giveUpAt = Date.now() + stepTimeoutMs;
    for (let attempt = 0; ; attempt++) {
      try {
        return await request(await this.find());
      } catch (error) {
        if (Date.now() > giveUpAt)
          throw new EventLogUnavailable(
            `${this.name} did not accept the request within ${stepTimeoutMs} ms`,
            error,
          );
        await this.#prepareAgain(error, attempt, again);
      }
    }
  }

  /** @throws the error, when the request must not be repeated */
  async #prepareAgain(error: unknown, attempt: number, again: (error: unknown) => boolean): Promise<void> {
    const type = protocolErrorType(error);
    if (type === 'CONCURRENT_TRANSACTIONS') {
      await pause(Math.min(2 + attempt * 2, 20));
      return;
    }
    const hasMoved = type !== undefined && coordinatorMoved.has(type);
    if (!hasMoved && !again(error)) throw error;
    this.connection.forgetCoordinators();
    await this.connection.refresh().catch(() => undefined);
    await pause(moveMs);
  }
}
