// For this package's tests: a log whose brokers' answers a test can replace.
import { internals, type EventLog } from '../event-log.js';
import type { Broker } from '../kafka/broker.js';
import type { KafkaConnection } from '../kafka/kafka-connection.js';

/** The same log with every broker request passed through `answer`. */
export function disturbed(
  log: EventLog,
  answer: (request: string, run: () => Promise<unknown>, sent: unknown) => Promise<unknown>,
): EventLog {
  const inner = log[internals];
  const through = (broker: Broker): Broker =>
    new Proxy(broker, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) =>
          answer(String(name), () => value.apply(target, args) as Promise<unknown>, args[0]);
      },
    });
  return {
    ...log,
    [internals]: {
      ...inner,
      connect() {
        const connection = inner.connect();
        const disturbing: Partial<KafkaConnection> = {
          broker: async (id) => through(await connection.broker(id)),
          leader: async (topic, partition) => through(await connection.leader(topic, partition)),
          groupCoordinator: async (id) => through(await connection.groupCoordinator(id)),
          transactionCoordinator: async (id) => through(await connection.transactionCoordinator(id)),
        };
        return new Proxy(connection, {
          get(target, name) {
            const value: unknown = Reflect.get(disturbing, name) ?? Reflect.get(target, name);
            return typeof value === 'function' ? (value.bind(target) as unknown) : value;
          },
        });
      },
    },
  };
}
